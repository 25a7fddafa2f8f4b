//! A command line of sysbench or pgbench that names several numbers of clients, or is to be
//! repeated: each number once in each block, in random order.

use std::path::PathBuf;

/// Longest list of numbers of clients.
pub const LIST_MAX: usize = 1000;
/// Most repeats.
pub const BLOCKS_MAX: u32 = 1000;

/// What is run, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve<A> {
    /// Numbers of clients, none twice.
    pub clients: Vec<u32>,
    /// How often each is run.
    pub blocks: u32,
    /// Folder in which the results are to lie, where the user has named one.
    pub results: Option<PathBuf>,
    /// The command line of one run, without all that.
    pub arguments: Vec<A>,
}

/// Reads `1,8,64`, or one number. The error says what is wrong with the text.
///
/// # Errors
/// When a part is no number of 1 or more, or stands there twice.
pub fn clients(text: &str) -> Result<Vec<u32>, String> {
    let mut found = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number: u32 = match part.parse() {
            Ok(number) if number > 0 => number,
            _ => return Err(format!("`{part}` is no number of 1 or more")),
        };
        if found.contains(&number) {
            return Err(format!("{number} stands there twice; --blocks repeats all of them"));
        }
        found.push(number);
    }
    if found.len() > LIST_MAX {
        return Err(format!("it names {} numbers, at most {LIST_MAX} make sense", found.len()));
    }
    Ok(found)
}

/// Reads a number of repeats. The error says what is wrong with the text.
///
/// # Errors
/// When it is none from 1 to [`BLOCKS_MAX`].
pub fn blocks(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| (1..=BLOCKS_MAX).contains(number));
    number.ok_or_else(|| format!("`{text}` is no number from 1 to {BLOCKS_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_number_once() {
        assert_eq!(clients("1,8, 64"), Ok(vec![1, 8, 64]));
        assert_eq!(clients("8"), Ok(vec![8]));
        for (text, reason) in [
            ("1,,8", "`` is no number"),
            ("0,1", "`0` is no number"),
            ("1,x", "`x`"),
            ("8,8", "8 stands there twice"),
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
