//! Sanitising of external text for printing. Titles, names and server messages may contain control
//! characters that a terminal interprets: they could colour, move or erase dyno's output, and a
//! line end could start a forged line. This file alone decides which characters are printed
//! unchanged.

use std::borrow::Cow;

/// As one line: line ends and tabs become blanks, and control characters are shown as `\u{1b}`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    safe(text, |c| if matches!(c, '\n' | '\r' | '\t') { Some(' ') } else { None })
}

/// As several lines: line ends are kept, and control characters are shown as `\u{1b}`.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    safe(text, |c| if matches!(c, '\n' | '\t') { Some(c) } else { None })
}

/// Prefixes that CI services interpret anywhere in a line: older commands of GitHub and Azure, and
/// those of TeamCity.
const CI_COMMANDS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Lines that contain no command to the CI service that captures the log, such as `::error::text`,
/// which GitHub's runner executes whatever its source.
#[must_use]
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let is_command = |line: &str| {
        line.trim_start().starts_with("::")
            || CI_COMMANDS.iter().any(|command| line.contains(command))
    };
    if !text.lines().any(is_command) {
        return Cow::Borrowed(text);
    }
    let safe = text.split_inclusive('\n').map(|line| match line.trim_start().strip_prefix("::") {
        Some(rest) => {
            let blank = &line[..line.len() - rest.len() - 2];
            format!("{blank}\\u{{3a}}:{rest}")
        }
        None => line.to_owned(),
    });
    let safe: String = safe.collect();
    Cow::Owned(
        CI_COMMANDS.iter().fold(safe, |safe, command| {
            safe.replace(command, &format!("\\u{{23}}{}", &command[1..]))
        }),
    )
}

/// At most the first `max` characters; `…` replaces the rest.
#[must_use]
pub fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// As part of a file name: every character other than letters, digits, `-` and `_` becomes `-`.
#[must_use]
pub fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '-' }).collect()
}

fn safe(text: &str, instead: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(|c| is_obeyed(c) && instead(c) != Some(c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match instead(c) {
            Some(other) => safe.push(other),
            None if is_obeyed(c) => safe.extend(c.escape_unicode()),
            None => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Control characters of both sets, and characters that change the direction of writing.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_other_text_is_unchanged() {
        let rows = [
            ("plain, ü, 데이터 %", "plain, ü, 데이터 %"),
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("\u{9b}2J\u{7}\u{8}\u{7f}\0", "\\u{9b}2J\\u{7}\\u{8}\\u{7f}\\u{0}"),
            ("left\u{202e}right", "left\\u{202e}right"),
            ("one\ntwo\r\tthree", "one two  three"),
        ];
        for (text, safe) in rows {
            assert_eq!(line(text), safe);
            assert_eq!(line(&line(text)), safe, "made safe twice");
        }
        assert_eq!(lines("one\n\ttwo\r\u{1b}[2J"), "one\n\ttwo\\u{d}\\u{1b}[2J");
        assert!(matches!(lines("one\ntwo"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_line_is_a_command_to_a_ci_service() {
        let rows = [
            ("error: a::b\n  because: 2 :: 3", "error: a::b\n  because: 2 :: 3"),
            ("a\n::error::b\nc", "a\n\\u{3a}:error::b\nc"),
            (
                "::add-mask::x\n \t::stop-commands::y\n",
                "\\u{3a}:add-mask::x\n \t\\u{3a}:stop-commands::y\n",
            ),
            ("x ##[error]y ##vso[task]z", "x \\u{23}#[error]y \\u{23}#vso[task]z"),
        ];
        for (text, safe) in rows {
            assert_eq!(without_commands(text), safe);
        }
    }
}
