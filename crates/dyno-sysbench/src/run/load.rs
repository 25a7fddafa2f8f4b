//! Converts the options to the engine's load plan.

use crate::options::database::DatabaseOptions;
use crate::options::general::General;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::retry::RetryPolicy;
use dyno_model::target::Engine;
use dyno_model::units::Nanos;
use std::time::Duration;

/// Longer than any run, without overflowing sums of times.
const ENDLESS: Nanos = Nanos(u64::MAX / 8);

/// Shortest interval of the engine; report times are rounded up to multiples of it.
const BASE_MIN: Duration = Duration::from_millis(10);

/// Length of an interval by default.
const BASE_DEFAULT: Duration = Duration::from_secs(1);

/// The load plan. Events and time can both limit a run: the first limit reached ends it.
pub(crate) fn plan(general: &General) -> LoadPlan {
    let time = general.time.map_or(ENDLESS, Nanos::from);
    let stop = match general.events {
        Some(events) => StopRule::Transactions(events),
        None => StopRule::Duration(time),
    };
    LoadPlan {
        warmup: Nanos::from(general.warmup),
        grace: grace(general).map_or(ENDLESS, Nanos::from),
        time_limit: time,
        attempts_max: general.retries_max.map_or(u32::MAX, |retries| {
            u32::try_from(retries.saturating_add(1)).unwrap_or(u32::MAX)
        }),
        rate: general.rate,
        generators: general.generators,
        ..LoadPlan::new(stop)
    }
}

/// Errors after which a native transaction is retried: those that the options list for the driver,
/// otherwise dyno's default.
pub(crate) fn retry_policy(database: &DatabaseOptions, driver: Engine) -> RetryPolicy {
    match driver.sysbench().has_error_list {
        true => RetryPolicy::Listed(database.databases.access(driver).ignored.clone()),
        false => RetryPolicy::Kind,
    }
}

/// How long events may continue after the time limit.
fn grace(general: &General) -> Option<Duration> {
    let forced = general
        .forced_shutdown
        .map(|shutdown| shutdown.saturating_sub(general.time.unwrap_or_default()));
    match (forced, general.hang_timeout) {
        (Some(forced), Some(hang)) => Some(forced.min(hang)),
        (forced, hang) => forced.or(hang),
    }
}

/// Length of the engine's intervals: the largest that divides all report times.
pub(crate) fn base_interval(general: &General) -> Duration {
    let times = general.interval.iter().chain(&general.checkpoints);
    let millis = times.map(|time| time.as_millis() as u64).fold(0, greatest_common_divisor);
    if millis == 0 { BASE_DEFAULT } else { Duration::from_millis(millis).max(BASE_MIN) }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use dyno_model::retry::RetriedErrors;
    use std::ffi::OsString;

    fn general(line: &str) -> General {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Options::parse(&arguments).unwrap().general
    }

    #[test]
    fn events_and_time_can_both_limit_a_run() {
        let plan = plan(&general("--events=100 --time=5"));
        assert_eq!(
            (plan.stop, plan.time_limit),
            (StopRule::Transactions(100), Nanos::from_secs(5))
        );
        let plan = super::plan(&general("--time=0"));
        assert_eq!(plan.stop, StopRule::Duration(ENDLESS));
        assert_eq!(super::plan(&general("")).stop, StopRule::Duration(Nanos::from_secs(10)));
    }

    #[test]
    fn the_lists_of_the_options_determine_what_is_retried() {
        let policy = |line: &str, driver| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            retry_policy(&Options::parse(&arguments).unwrap().database, driver)
        };
        let RetryPolicy::Listed(errors) = policy("", Engine::Mysql) else { panic!("a list") };
        assert_eq!(errors.codes.into_iter().collect::<Vec<_>>(), [1020, 1205, 1213]);
        let RetryPolicy::Listed(errors) = policy("--pgsql-ignore-errors=all", Engine::Postgres)
        else {
            panic!("a list")
        };
        assert!(errors.all);
        let RetryPolicy::Listed(errors) = policy("--mysql-ignore-errors=", Engine::Mysql) else {
            panic!("a list")
        };
        assert_eq!(errors, RetriedErrors::default());
        assert_eq!(policy("", Engine::Sqlite), RetryPolicy::Kind);
    }

    #[test]
    fn the_grace_period_is_the_forced_shutdown_or_the_limit_for_hangs() {
        for (line, seconds) in [
            ("", 30),
            ("--hang-timeout=3", 3),
            ("--forced-shutdown=2", 2),
            ("--forced-shutdown", 0),
        ] {
            assert_eq!(plan(&general(line)).grace, Nanos::from_secs(seconds), "{line}");
        }
        assert_eq!(plan(&general("--hang-timeout=0")).grace, ENDLESS);
    }

    #[test]
    fn the_base_interval_divides_all_report_times() {
        for (line, millis) in [
            ("", 1_000),
            ("--report-interval=10", 10_000),
            ("--report-interval=0.5", 500),
            ("--report-interval=3 --report-checkpoints=5", 1_000),
            ("--report-interval=10 --report-checkpoints=30,60", 10_000),
            ("--report-checkpoints=0.001", 10),
        ] {
            assert_eq!(base_interval(&general(line)), Duration::from_millis(millis), "{line}");
        }
    }
}
