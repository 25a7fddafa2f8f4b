//! Wall-clock time for folder names and event lines. Measurements never use it.

use jiff::Timestamp;

/// Returns the current time. Tests pass a counter.
pub(crate) type Clock = Box<dyn FnMut() -> Timestamp + Send>;

/// The current UTC time in the format of records, e.g. `2026-11-21T08:45:00.123Z`.
#[must_use]
pub fn utc_now() -> String {
    rfc3339(Timestamp::now())
}

/// A time in milliseconds since 1970 in the same format; empty when it is out of range.
#[must_use]
pub fn utc(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map(rfc3339).unwrap_or_default()
}

/// RFC 3339 with milliseconds: `2026-11-21T08:45:00.123Z`.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Sortable and valid in a folder name: `20261121T084500Z`.
pub(crate) fn folder_time(time: Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Seconds from one RFC 3339 time to another, negative when the second is earlier; `None` when
/// either cannot be parsed.
#[must_use]
pub fn seconds_between(from: &str, to: &str) -> Option<f64> {
    let (from, to) = (from.parse::<Timestamp>().ok()?, to.parse::<Timestamp>().ok()?);
    Some(to.duration_since(from).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_times_is_counted_in_seconds() {
        let (first, second) = ("2026-11-20T23:59:59.500Z", "2026-11-21T00:00:01.000Z");
        assert_eq!(seconds_between(first, second), Some(1.5));
        assert_eq!(seconds_between(second, first), Some(-1.5));
        assert_eq!(seconds_between("", second), None);
    }

    #[test]
    fn times_are_utc_in_both_forms() {
        let time = Timestamp::from_millisecond(1_795_250_700_123).expect("in range");
        assert_eq!(rfc3339(time), "2026-11-21T08:45:00.123Z");
        assert_eq!(folder_time(time), "20261121T084500Z");
    }
}
