//! Messages about the state of a machine, for `dyno doctor` and the warnings of preflight.

use crate::figures;
use crate::messages::{Lang, Message, checkup as words, fill, names, warning};
use dyno_model::observation::Observation;
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Command that sets the processors to full speed.
const FULL_SPEED: &str = "cpupower frequency-set -g performance";

/// One check as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked.
    pub subject: String,
    /// The result, with its values.
    pub message: String,
    /// True when it may distort a measurement.
    pub is_warning: bool,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// Results of `dyno doctor`, grouped by subject.
#[derive(Debug, Default, Serialize)]
pub struct Checkup<T = Observation> {
    /// Processors, clock, memory, limits, other processes.
    pub machine: Vec<T>,
    /// Disks.
    pub disks: Vec<T>,
    /// Servers that dyno can start.
    pub servers: Vec<T>,
    /// Performance of the load generator on this machine.
    pub generator: Vec<T>,
}

impl Checkup {
    fn checks(&self, lang: Lang) -> Checkup<Check> {
        let of = |seen: &[Observation]| seen.iter().map(|it| check(it, lang)).collect();
        Checkup {
            machine: of(&self.machine),
            disks: of(&self.disks),
            servers: of(&self.servers),
            generator: of(&self.generator),
        }
    }

    /// Formats the results as JSON.
    ///
    /// # Panics
    /// Never: texts are JSON.
    #[must_use]
    pub fn to_json(&self, lang: Lang) -> String {
        serde_json::to_string_pretty(&self.checks(lang)).expect("texts are JSON")
    }

    /// Formats the results for a terminal, in columns, with warnings marked and counted.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let checks = self.checks(lang);
        let parts = [
            (words::THIS_MACHINE, &checks.machine),
            (words::DISKS, &checks.disks),
            (words::SERVERS, &checks.servers),
            (words::GENERATOR, &checks.generator),
        ];
        let all = || parts.iter().flat_map(|(_, checks)| checks.iter());
        let (warning, width) =
            (words::WARNING.text(lang), all().map(|it| it.subject.width()).max().unwrap_or(0));
        let mark = warning.width();
        let mut text = String::new();
        for (title, checks) in &parts {
            let _ = writeln!(text, "{}", title.text(lang));
            for Check { subject, message, is_warning, remedy } in *checks {
                let word = if *is_warning { warning } else { "" };
                let _ = writeln!(
                    text,
                    "  {}  {}  {message}",
                    filled(word, mark),
                    filled(subject, width)
                );
                if let Some(remedy) = remedy {
                    let remedy = fill!(words::REMEDY, lang, remedy);
                    let _ =
                        writeln!(text, "  {}  {}  {remedy}", filled("", mark), filled("", width));
                }
            }
            text.push('\n');
        }
        let warnings = all().filter(|it| it.is_warning).count();
        let message = if warnings == 0 { words::NOTHING_SPOILS } else { words::SPOILS };
        text.push_str(&fill!(message, lang, warnings));
        text
    }
}

/// Pads the text with spaces to a width in terminal columns.
pub(crate) fn filled(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The line that `dyno doctor` prints before it starts.
#[must_use]
pub fn looking(lang: Lang) -> &'static str {
    words::LOOKING.text(lang)
}

/// Describes one observation.
#[must_use]
pub fn check(seen: &Observation, lang: Lang) -> Check {
    let (subject, message) = (subject(seen, lang), message(seen, lang));
    let is_warning = seen.is_warning();
    Check {
        subject,
        message,
        is_warning,
        remedy: if is_warning { remedy(seen, lang) } else { None },
    }
}

fn subject(seen: &Observation, lang: Lang) -> String {
    let message = match seen {
        Observation::Processors { .. } => words::PROCESSORS,
        Observation::Clock { .. } => words::CLOCK,
        Observation::Governor { .. } => words::SPEED,
        Observation::Memory { .. } => words::MEMORY,
        Observation::OpenFiles { .. } => words::OPEN_FILES,
        Observation::Ports { .. } => words::PORTS,
        Observation::Disk { folder, .. } | Observation::DiskUntimed { folder, .. } => {
            return fill!(words::DISK, lang, folder);
        }
        Observation::Neighbours { .. } => words::NEIGHBOURS,
        Observation::Server { kind, .. } => return kind.to_string(),
        Observation::Generator { clients, .. } => return names::clients(&[*clients], lang),
    };
    message.text(lang).to_owned()
}

fn message(seen: &Observation, lang: Lang) -> String {
    let is_warning = seen.is_warning();
    let either = |warning: Message, fine: Message| if is_warning { warning } else { fine };
    match seen {
        Observation::Processors { usable, model } => {
            let message = if model.is_empty() { words::USABLE } else { words::USABLE_NAMED };
            fill!(message, lang, usable, model)
        }
        Observation::Clock { nanos, source } => {
            let message = either(words::CLOCK_SLOW, words::CLOCK_TAKES);
            fill!(message, lang, nanos = format!("{nanos:.0}"), source)
        }
        Observation::Governor { name } => {
            fill!(either(words::GOVERNOR_SAVES, words::GOVERNOR_IS), lang, governor = name)
        }
        Observation::Memory { total, available, swapped } => {
            let [total, available, swapped] =
                [total, available, swapped].map(|bytes| figures::count(bytes / 1_000_000));
            fill!(either(words::MEMORY_SHORT, words::MEMORY_IS), lang, total, available, swapped)
        }
        Observation::OpenFiles { limit } => fill!(words::OPEN_FILES_MOST, lang, limit),
        Observation::Ports { ports: number } => fill!(words::PORTS_MOST, lang, number),
        Observation::Disk { is_in_memory: true, .. } => words::DISK_IN_MEMORY.text(lang).to_owned(),
        Observation::Disk { p50, p95, .. } => {
            let [p50, p95] = [p50, p95].map(|time| format!("{:.2} ms", time.as_secs_f64() * 1e3));
            fill!(either(words::DISK_SCATTERS, words::DISK_TAKES), lang, p50, p95)
        }
        Observation::DiskUntimed { reason, .. } => fill!(words::DISK_UNTIMED, lang, reason),
        Observation::Neighbours { warnings } if warnings.is_empty() => {
            words::NOBODY.text(lang).to_owned()
        }
        Observation::Neighbours { warnings } => {
            let sentences: Vec<String> =
                warnings.iter().map(|it| warning::sentence(it, lang)).collect();
            sentences.join(lang.space)
        }
        Observation::Server { found: None, .. } => words::SERVER_MISSING.text(lang).to_owned(),
        Observation::Server { found: Some((version, program)), .. } => {
            fill!(words::SERVER_IS, lang, version, program)
        }
        Observation::Generator { cpu_us: None, .. } => {
            words::GENERATOR_SILENT.text(lang).to_owned()
        }
        Observation::Generator { per_second, cpu_us: Some(cpu), .. } => {
            let cpu = format!("{cpu:.1}");
            fill!(
                words::GENERATOR_DOES,
                lang,
                rate = figures::count(per_second.round() as u64),
                cpu
            )
        }
    }
}

/// How to fix the cause of a warning.
fn remedy(seen: &Observation, lang: Lang) -> Option<String> {
    let message = match seen {
        Observation::Clock { source, .. } if source == "tsc" => words::CLOCK_REMEDY_OWN,
        Observation::Clock { .. } => words::CLOCK_REMEDY,
        Observation::Governor { .. } => return Some(FULL_SPEED.to_owned()),
        Observation::Memory { .. } => words::MEMORY_REMEDY,
        Observation::Disk { is_in_memory: true, .. } => words::DISK_IN_MEMORY_REMEDY,
        Observation::Disk { .. } => words::DISK_SCATTERS_REMEDY,
        Observation::Neighbours { .. } => words::NEIGHBOURS_REMEDY,
        Observation::Generator { cpu_us: None, .. } => words::GENERATOR_SILENT_REMEDY,
        Observation::Generator { .. } => words::GENERATOR_DEBUG_REMEDY,
        _ => return None,
    };
    Some(message.text(lang).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{EN, LANGUAGES};
    use dyno_model::plan::ServerKind;
    use std::time::Duration;

    fn checkup() -> Checkup {
        let millisecond = Duration::from_millis(1);
        let folder = "/tmp".to_owned();
        Checkup {
            machine: vec![
                Observation::Processors { usable: 2, model: String::new() },
                Observation::Clock { nanos: 900.0, source: "hpet".to_owned() },
            ],
            disks: vec![Observation::Disk {
                folder,
                p50: millisecond,
                p95: millisecond,
                is_in_memory: false,
            }],
            servers: vec![Observation::Server { kind: ServerKind::Mysql, found: None }],
            generator: vec![Observation::Generator {
                clients: 1,
                per_second: 1e5,
                cpu_us: Some(4.0),
                is_debug_build: false,
            }],
        }
    }

    #[test]
    fn warnings_are_marked_counted_and_have_their_remedy_below() {
        insta::assert_snapshot!(checkup().to_text(EN), @r###"
        This machine
                   processors    2 usable
          warning  clock         900 ns per reading (source hpet); each statement takes two readings, so the load generator is slow
                                 remedy: use the processor's own clock if the kernel trusts it: clocksource=tsc (on a virtual machine, set it on the host)

        Disks
                   disk of /tmp  a 4 KB write with fsync takes 1.00 ms (p95 1.00 ms)

        Installed database servers
                   mysql         not found; set server.bin_dir in the spec if it is installed elsewhere

        Load generator
                   1 client      100,000 statements/s against a null server, 4.0 µs of CPU time per statement

        1 problem found that can distort measurements.
        "###);
    }

    #[test]
    fn memory_is_in_the_same_megabytes_as_in_reports() {
        let seen =
            Observation::Memory { total: 25_276_000_000, available: 4_000_500_000, swapped: 0 };
        assert_eq!(check(&seen, EN).message, "25,276 MB, 4,000 MB available");
        assert_eq!(figures::megabytes(25_276_000_000), "25,276 MB");
    }

    #[test]
    fn clock_source_remedy_does_not_suggest_tsc_when_it_is_in_use() {
        let remedy = |source: &str| {
            let seen = Observation::Clock { nanos: 900.0, source: source.to_owned() };
            check(&seen, EN).remedy.expect("it is slow")
        };
        assert!(remedy("hpet").contains("clocksource=tsc"));
        assert!(
            !remedy("tsc").contains("clocksource") && remedy("tsc").contains("run the check again")
        );
    }

    #[test]
    fn columns_stand_below_each_other_in_every_language() {
        for lang in LANGUAGES {
            let text = checkup().to_text(lang);
            let Checkup { machine, disks, servers, generator } = checkup().checks(lang);
            let checks = machine.into_iter().chain(disks).chain(servers).chain(generator);
            let reported = checks.flat_map(|it| {
                let remedy = it.remedy.map(|remedy| fill!(words::REMEDY, lang, remedy));
                [Some(it.message), remedy].into_iter().flatten()
            });
            let column = |reported: String| {
                let before = text.lines().find_map(|line| line.strip_suffix(reported.as_str()));
                before.unwrap_or_else(|| panic!("{reported:?} is missing: {text}")).width()
            };
            let columns: std::collections::BTreeSet<usize> = reported.map(column).collect();
            assert_eq!(columns.len(), 1, "{text}");
        }
    }
}
