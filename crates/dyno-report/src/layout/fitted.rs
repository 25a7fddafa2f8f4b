//! Layout of plain text for a terminal: lines break between words, and continuation lines are
//! indented below their text.

use crate::table::wrapped;
use unicode_width::UnicodeWidthStr;

/// Width of the narrowest supported terminal, in columns.
const WIDTH: usize = 80;
/// Maximum indent of continuation lines, in columns.
const INDENT_MAX: usize = 40;

/// Wraps the text at 80 columns, where words allow it. Lines that point into source code stay as
/// they are.
#[must_use]
pub fn fitted(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

fn line(text: &str) -> String {
    let (bare, sizes) = without_colours(text);
    let Some(start) = (bare.width() > WIDTH).then(|| text_begins(&bare)).flatten() else {
        return text.to_owned();
    };
    // The same position in the coloured line.
    let at = sizes[start];
    if text[at..].contains('\u{1b}') {
        return text.to_owned();
    }
    let column = bare[..start].width();
    let indented = wrapped(&bare[start..], &" ".repeat(column), WIDTH);
    format!("{}{}", &text[..at], indented.trim_end().get(column..).unwrap_or_default())
}

/// Returns the line without its colour sequences and, for each byte of it, the position in the
/// original line.
fn without_colours(text: &str) -> (String, Vec<usize>) {
    let (mut bare, mut positions, mut is_colour) = (String::new(), Vec::new(), false);
    for (at, c) in text.char_indices() {
        match (is_colour, c) {
            (false, '\u{1b}') => is_colour = true,
            (true, c) => is_colour = !c.is_ascii_alphabetic(),
            (false, c) => {
                bare.push(c);
                positions.extend((0..c.len_utf8()).map(|byte| at + byte));
            }
        }
    }
    positions.push(text.len());
    (bare, positions)
}

/// The indent of a line's continuation lines: after its spaces, its label or its first columns.
/// `None` for lines that point into source code.
fn text_begins(line: &str) -> Option<usize> {
    let blanks = line.len() - line.trim_start().len();
    let rest = &line[blanks..];
    if let Some((gutter, code)) = rest.split_once('|')
        && gutter.trim_end().chars().all(|c| c.is_ascii_digit())
    {
        // Messages of a server follow such a prefix, too.
        let is_reported = gutter.is_empty() && code.starts_with(' ');
        let word = code.trim_start().chars().next()?;
        return (is_reported
            && code.len() - code.trim_start().len() == 1
            && !"^-_|".contains(word))
        .then_some(blanks + 2);
    }
    let label = rest.find(": ").filter(|end| !rest[..*end].trim_start_matches("= ").contains(' '));
    let gap = line
        .match_indices("  ")
        .map(|(at, _)| at)
        .filter(|at| *at < INDENT_MAX && *at > blanks)
        .last();
    let behind_gap = gap.map(|at| at + line[at..].len() - line[at..].trim_start().len());
    Some(
        behind_gap
            .filter(|at| *at <= INDENT_MAX)
            .or(label.map(|end| blanks + end + 2))
            .unwrap_or(blanks),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_go_on_below_their_text() {
        let long = "every word of this sentence is whole, however narrow the terminal may be that shows it here";
        for (first, indent) in [
            ("error: ", 7),
            ("  help: ", 8),
            ("  system    shop: ", 12),
            ("  doubt  neighbours              ", 33),
            ("  = help: ", 10),
            ("  | ", 4),
            ("", 0),
        ] {
            let text = fitted(&format!("short\n{first}{long}"));
            let lines: Vec<&str> = text.lines().skip(1).collect();
            assert!(lines.len() > 1 && lines.iter().all(|line| line.width() <= WIDTH), "{text}");
            assert!(
                lines[0].starts_with(first) && lines[1].starts_with(&" ".repeat(indent)),
                "{text}"
            );
            assert!(!lines[1][indent..].starts_with(' '), "{text}");
            let words: Vec<&str> = text.split_whitespace().skip(1).collect();
            assert_eq!(words, format!("{first}{long}").split_whitespace().collect::<Vec<_>>());
        }
    }

    #[test]
    fn colours_take_no_room_and_what_points_into_a_text_stays() {
        let coloured = format!("\u{1b}[1;31merror:\u{1b}[0m {}", "word ".repeat(20));
        let lines: Vec<String> = fitted(&coloured).lines().map(str::to_owned).collect();
        assert!(
            lines[0].starts_with("\u{1b}[1;31merror:\u{1b}[0m word")
                && lines[1].starts_with("       word")
        );
        for unchanged in [
            format!("12 | url = \"{}\"", "x ".repeat(50)),
            format!(
                "   | {} ^^^ not a key, and much more is said of it than there is room for",
                " ".repeat(50)
            ),
            format!("  {}", "x".repeat(100)),
        ] {
            assert_eq!(fitted(&unchanged), unchanged);
        }
    }
}
