//! Parses the counters of servers.

/// The counter of the server's uptime in seconds, by its name in the MySQL family.
pub(crate) const UPTIME: &str = "Uptime";

/// Keeps the counters that are whole numbers.
pub(crate) fn whole_numbers(pairs: Vec<(String, String)>) -> impl Iterator<Item = (String, i64)> {
    pairs.into_iter().filter_map(|(name, value)| Some((name, value.trim().parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_counters() {
        let pairs =
            [("a", "12"), ("b", "0.5"), ("c", "ON"), ("d", ""), ("e", "18446744073709551615")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(whole_numbers(pairs).collect::<Vec<_>>(), [("a".to_owned(), 12)]);
    }
}
