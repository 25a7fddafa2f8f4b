//! Repeated runs of a sysbench or pgbench command line with one or several numbers of clients: each
//! number once in each block, in random order.

use std::path::PathBuf;

/// Maximum length of the list of numbers of clients.
pub const LIST_MAX: usize = 1000;
/// Maximum number of repeats.
pub const BLOCKS_MAX: u32 = 1000;

/// The numbers of clients and the number of repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve<A> {
    /// Numbers of clients, without duplicates.
    pub clients: Vec<u32>,
    /// Number of runs of each.
    pub blocks: u32,
    /// Folder for the results, if the user named one.
    pub results: Option<PathBuf>,
    /// The command line of one run, without these options.
    pub arguments: Vec<A>,
}

/// Parses `1,8,64`, or one number. The error describes the mistake in the text.
///
/// # Errors
/// When a part is not a whole number of 1 or more, or occurs twice.
pub fn clients(text: &str) -> Result<Vec<u32>, String> {
    let mut found = Vec::new();
    for part in text.split(',').map(str::trim) {
        let clients: u32 = match part.parse() {
            Ok(number) if number > 0 => number,
            _ => return Err(format!("`{part}` is not a number of 1 or more")),
        };
        if found.contains(&clients) {
            return Err(format!("{clients} occurs twice; use --blocks for repeats"));
        }
        found.push(clients);
    }
    if found.len() > LIST_MAX {
        return Err(format!("it names {} numbers; the maximum is {LIST_MAX}", found.len()));
    }
    Ok(found)
}

/// Parses a number of repeats. The error describes the mistake in the text.
///
/// # Errors
/// When it is not a number from 1 to [`BLOCKS_MAX`].
pub fn blocks(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| (1..=BLOCKS_MAX).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 1 to {BLOCKS_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_number_once() {
        assert_eq!(clients("1,8, 64"), Ok(vec![1, 8, 64]));
        assert_eq!(clients("8"), Ok(vec![8]));
        for (text, reason) in [
            ("1,,8", "`` is not a number"),
            ("0,1", "`0` is not a number"),
            ("1,x", "`x`"),
            ("8,8", "8 occurs twice"),
        ] {
            assert!(clients(text).is_err_and(|found| found.contains(reason)), "{text}");
        }
        let many: Vec<String> = (1..=1001).map(|number| number.to_string()).collect();
        assert!(clients(&many.join(",")).is_err_and(|found| found.contains("1001 numbers")));
    }

    #[test]
    fn blocks_are_counted_from_one() {
        assert_eq!((blocks("3"), blocks("1000")), (Ok(3), Ok(1000)));
        assert!(["0", "1001", "", "x"].iter().all(|text| blocks(text).is_err()));
    }
}
