//! A file as lines: decodes its bytes, and removes the prefixes that containers and CI systems add
//! to each line.

use dyno_files::Limited;
use std::io::{self, Read};
use std::path::Path;

/// Largest file that is read, bytes: a log of about 25 million transactions.
const FILE_MAX: u64 = 1 << 30;
/// Name of standard input.
const STANDARD_INPUT: &str = "-";

/// A line and its number in the file, from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line<'t> {
    pub(super) number: usize,
    pub(super) text: &'t str,
}

/// Reads the bytes of a file, or of standard input for `-`.
pub(super) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new(STANDARD_INPUT) {
        return dyno_files::read(path, FILE_MAX);
    }
    let mut bytes = Vec::new();
    Limited::new(io::stdin(), FILE_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Decodes text: UTF-8, or UTF-16 as Windows shells write it, with or without a byte order mark.
/// Other encodings occur in names only.
///
/// # Errors
/// When this is not text; the message includes a remedy.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, String> {
    let is_zero = |odd: usize| {
        bytes.chunks_exact(2).take(64).all(|pair| pair[odd] == 0 && pair[1 - odd] != 0)
    };
    let text = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        [0x1f, 0x8b, ..] => return Err("it is compressed with gzip; unpack it first".to_owned()),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            return Err("it is compressed with zstd; unpack it first".to_owned());
        }
        [_, _, ..] if is_zero(1) => utf16(&bytes, u16::from_le_bytes)?,
        [_, _, ..] if is_zero(0) => utf16(&bytes, u16::from_be_bytes)?,
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    };
    if let Some(at) = text.find('\0') {
        let line = 1 + text[..at].matches('\n').count();
        return Err(format!("line {line}: a NUL byte; this is not a text file"));
    }
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => without_colours(rest),
        None if text.contains('\u{1b}') => without_colours(&text),
        None => text,
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    text.map_err(|error| format!("not UTF-16: {error}"))
}

/// Removes control sequences of terminals (ECMA-48, `ESC [ ... letter`).
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(
            piece
                .trim_start_matches(|c: char| ('\u{20}'..='\u{3f}').contains(&c))
                .get(1..)
                .unwrap_or_default(),
        );
    }
    plain
}

/// The lines of one container or step, without its name before each.
#[derive(Debug)]
pub(super) struct Source<'t> {
    name: String,
    pub(super) lines: Vec<Line<'t>>,
}

/// Groups the lines of a text by the container or step that wrote them, and removes quotation
/// marks, timestamps and names before them.
pub(super) fn sources(text: &str) -> Vec<Source<'_>> {
    let mut sources: Vec<Source<'_>> = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        // A carriage return: a later progress line overwrote the text before it.
        let text = text.trim_end_matches('\r');
        let (name, text) = content(text.rsplit('\r').next().unwrap_or_default());
        let line = Line { number, text };
        match sources.iter_mut().find(|source| source.name == name) {
            Some(source) => source.lines.push(line),
            None => sources.push(Source { name, lines: vec![line] }),
        }
    }
    for source in &mut sources {
        let blanks = |line: &Line<'_>| line.text.len() - line.text.trim_start_matches(' ').len();
        let filled = source.lines.iter().filter(|line| !line.text.trim().is_empty());
        let indent = filled.map(blanks).min().unwrap_or_default();
        source
            .lines
            .iter_mut()
            .for_each(|line| line.text = line.text.get(indent..).unwrap_or_default());
    }
    sources
}

/// Removes the prefix of a line; also returns the name of its source.
fn content(line: &str) -> (String, &str) {
    let mut name = String::new();
    let mut rest = line;
    loop {
        let text = rest.trim_start_matches('\u{feff}');
        rest = if let Some((source, text)) = named(text) {
            name.push_str(source);
            text
        } else if let Some(text) = stamped(text).or_else(|| quoted(text)) {
            text
        } else {
            return (name, text);
        };
    }
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('>').map(|text| text.strip_prefix(' ').unwrap_or(text))
}

/// Splits `bench-1  | text` (docker compose), `[pod/bench/sysbench] text` (kubectl), and job, step
/// and a timestamp separated by tabs (gh).
fn named(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix("[pod/") {
        return inner.split_once("] ");
    }
    if let Some((before, rest)) = text.split_once('|') {
        let name = before.trim_end_matches(' ');
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.is_empty() && name.len() < before.len() && name.chars().all(is_name) {
            return Some((name, rest.strip_prefix(' ').unwrap_or(rest)));
        }
    }
    let (job, rest) = text.split_once('\t')?;
    let (_step, rest) = rest.split_once('\t')?;
    let steps = &text[..text.len() - rest.len()];
    let is_followed = stamped(rest.trim_start_matches('\u{feff}')).is_some();
    (is_followed && !job.is_empty()).then_some((steps, rest))
}

/// The text after a timestamp: RFC 3339 (docker, GitHub Actions, kubectl; GitLab adds its stream
/// marker), syslog, or a time of day.
fn stamped(text: &str) -> Option<&str> {
    let open = text.strip_prefix('[');
    let rest = open.unwrap_or(text);
    let rest = match_shape(rest, "0000-00-00")
        .and_then(|rest| rest.strip_prefix(['T', ' ', 't']))
        .or_else(|| month(rest))
        .unwrap_or(rest);
    let rest = match_shape(rest, "00:00:00")?;
    let fraction = rest.strip_prefix(['.', ',']);
    let rest =
        fraction.map_or(rest, |digits| digits.trim_start_matches(|c: char| c.is_ascii_digit()));
    let rest = zone(rest);
    let rest = if open.is_some() { rest.strip_prefix(']')? } else { rest };
    if rest.is_empty() {
        return Some(rest);
    }
    let rest = rest.strip_prefix([' ', '\t'])?;
    Some(stream(rest).or_else(|| process(rest)).unwrap_or(rest))
}

/// The text after a prefix of this shape, in which `0` is any digit.
fn match_shape<'t>(text: &'t str, shape: &str) -> Option<&'t str> {
    let head = text.get(..shape.len())?;
    let fits =
        head.chars().zip(shape.chars()).all(|(c, of)| c == of || of == '0' && c.is_ascii_digit());
    fits.then(|| &text[shape.len()..])
}

fn month(text: &str) -> Option<&str> {
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let rest = months.iter().find_map(|month| text.strip_prefix(month))?;
    let rest = rest.strip_prefix(' ')?;
    match_shape(rest, "00 ").or_else(|| match_shape(rest, " 0 "))
}

fn zone(text: &str) -> &str {
    let signed = || {
        let rest = text.strip_prefix(['+', '-'])?;
        match_shape(rest, "00:00").or_else(|| match_shape(rest, "0000"))
    };
    text.strip_prefix('Z').or_else(|| text.strip_prefix(" UTC")).or_else(signed).unwrap_or(text)
}

/// GitLab's stream marker: two hexadecimal digits, `O` or `E`, and a blank, or `+` for a continued
/// line.
fn stream(text: &str) -> Option<&str> {
    let mark = text.get(..4)?.as_bytes();
    let is_mark = mark[..2].iter().all(u8::is_ascii_hexdigit)
        && matches!(mark[2], b'O' | b'E')
        && matches!(mark[3], b' ' | b'+');
    is_mark.then(|| &text[4..])
}

/// `host program[number]: ` after a syslog timestamp.
fn process(text: &str) -> Option<&str> {
    let (head, rest) = text.split_once("]: ")?;
    let (_host, program) = head.split_once(' ')?;
    let (name, number) = program.split_once('[')?;
    let is_format = !name.contains(' ')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit());
    is_format.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_and_what_is_none_is_refused() {
        let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| {
            text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()
        };
        let line = "tps = 1\n";
        for bytes in [
            line.as_bytes().to_vec(),
            format!("\u{feff}{line}").into_bytes(),
            utf16(line, u16::to_le_bytes),
            utf16(line, u16::to_be_bytes),
            utf16(&format!("\u{feff}{line}"), u16::to_le_bytes),
            utf16(&format!("\u{feff}{line}"), u16::to_be_bytes),
            b"\x1b[32mtps\x1b[0;1m = 1\n".to_vec(),
            "\u{feff}\x1b[32mtps\x1b[0;1m = 1\n".as_bytes().to_vec(),
        ] {
            assert_eq!(decode(bytes.clone()).as_deref(), Ok(line), "{bytes:?}");
        }
        assert_eq!(
            decode(b"a\nb\0".to_vec()),
            Err("line 2: a NUL byte; this is not a text file".to_owned())
        );
        assert!(decode(vec![0x1f, 0x8b, 8, 0]).unwrap_err().contains("gzip; unpack it first"));
        assert!(
            decode(vec![0x28, 0xb5, 0x2f, 0xfd]).unwrap_err().contains("zstd; unpack it first")
        );
    }

    #[test]
    fn log_prefixes_before_a_line_are_removed() {
        for before in [
            "",
            "> ",
            "bench-1  | ",
            "bench-1  | 2026-11-26T16:00:00.123456789Z ",
            "2026-11-26T16:00:00.1234567Z ",
            "\u{feff}2026-11-26T16:00:00.1234567Z ",
            "load\tRun sysbench\t2026-11-26T16:00:00.1234567Z ",
            "2026-11-26T16:00:00.123456Z 00O ",
            "2026-11-26T16:00:00.123456Z 01E+",
            "2026-11-26 16:00:00,123 ",
            "2026-11-26 16:00:00.123 UTC ",
            "[2026-11-26T16:00:00+09:00] ",
            "[16:00:00] ",
            "Nov 26 16:00:00 ",
            "Nov  6 16:00:00 host bench[77]: ",
            "[pod/bench/sysbench] 2026-11-26T16:00:00Z ",
        ] {
            let text = format!("{before}transaction type: x\n{before}tps = 1 | 2\n");
            let found = sources(&text);
            let lines: Vec<_> =
                found.iter().flat_map(|source| &source.lines).map(|line| line.text).collect();
            assert_eq!(lines, ["transaction type: x", "tps = 1 | 2"], "{before:?}");
        }
    }

    #[test]
    fn text_that_only_resembles_what_others_write_before_a_line_stays() {
        for (text, line) in [
            ("a|1", "a|1"),
            ("job\tstep\ttext", "job\tstep\ttext"),
            // A later progress line overwrote the first one.
            ("1 %\r2 %", "2 %"),
        ] {
            assert_eq!(sources(text)[0].lines, [Line { number: 1, text: line }], "{text:?}");
        }
    }

    #[test]
    fn container_log_lines_are_separated_and_keep_line_numbers() {
        let found = sources("a  | 1\nb  | 2\na  |   3\n\na exited\n");
        let found: Vec<_> =
            found.iter().map(|source| (source.name.as_str(), source.lines.as_slice())).collect();
        let line = |number, text| Line { number, text };
        assert_eq!(found[0], ("a", &[line(1, "1"), line(3, "  3")][..]));
        assert_eq!(found[1], ("b", &[line(2, "2")][..]));
        assert_eq!(found[2].1, [line(4, ""), line(5, "a exited")]);
        let indented = sources("    tps = 1\n      x\n");
        assert_eq!(indented[0].lines, [line(1, "tps = 1"), line(2, "  x")]);
    }
}
