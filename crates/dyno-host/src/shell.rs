//! What can be said of a shell command without running it.

use std::process::{Command, Stdio};

/// Words after which a line is no simple command any more.
const KEYWORDS: [&str; 9] = ["if", "for", "while", "until", "case", "function", "{", "(", "!"];

/// The first program that a command line names and that the shell does not find here. Only lines that begin with a plain word are
/// looked at, and none after the first that is not as simple: a command that is missing on purpose (`a || b`) is no mistake.
#[must_use]
pub fn missing_command(text: &str) -> Option<&str> {
    if ["||", "()", "<<"].iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let words = lines.map_while(|line| {
        let word = line.split_whitespace().next()?;
        let is_simple = !line.ends_with('\\') && line.matches(['"', '\'']).count() % 2 == 0;
        (is_simple && !KEYWORDS.contains(&word)).then_some(word)
    });
    let is_plain = |word: &&str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./+".contains(&b));
    words.filter(is_plain).find(|word| !is_known(word))
}

/// Whether the shell knows a command: a program, or one of its own. A shell that cannot be asked knows everything.
fn is_known(word: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "command -v -- \"$1\"", "sh", word]);
    let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.map_or(true, |status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_here_is_found_before_it_is_run() {
        let rows = [
            ("no-such-program --now", Some("no-such-program")),
            ("/no/such/file x", Some("/no/such/file")),
            ("# comment\nset -e\nno-such-program", Some("no-such-program")),
            ("true; mkdir -p x", None),
            ("cd / && ls", None),
            ("no-such-program || true", None),
            ("prepare() { true; }\nprepare", None),
            ("if true; then no-such-program; fi", None),
            ("X=1 no-such-program", None),
            ("\"$TOOL\" --now", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(missing_command(text), expected, "{text:?}");
        }
    }
}
