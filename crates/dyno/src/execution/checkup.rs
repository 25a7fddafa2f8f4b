//! Observations about this machine: `dyno doctor` shows all of them, preflight only the warnings.

use dyno_drivers::open_files;
use dyno_host::checkup;
use dyno_model::observation::Observation;
use dyno_store::environment::Environment;

/// Observations that need no waiting: processors, clock, memory, limits.
pub(crate) fn machine(environment: &Environment) -> Vec<Observation> {
    let setting = |name: &str| environment.kernel_settings.get(name).map(String::as_str);
    let source = setting("clocksource").unwrap_or("unknown").to_owned();
    let mut seen = vec![
        Observation::Processors {
            usable: environment.cpu_usable,
            model: environment.cpu_model.clone(),
        },
        Observation::Clock { nanos: checkup::clock_cost(), source },
    ];
    seen.extend(
        setting("scaling_governor").map(|name| Observation::Governor { name: name.to_owned() }),
    );
    seen.extend(checkup::memory());
    seen.push(Observation::OpenFiles { limit: open_files::raise_limit() });
    seen.extend(setting("net.ipv4.ip_local_port_range").and_then(ports));
    seen
}

fn ports(range: &str) -> Option<Observation> {
    let (first, last) = range.split_once(char::is_whitespace)?;
    let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    Some(Observation::Ports { ports: last.checked_sub(first)? + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_bound_the_clients() {
        assert_eq!(ports("32768\t60999"), Some(Observation::Ports { ports: 28_232 }));
        assert_eq!(ports("none"), None);
    }
}
