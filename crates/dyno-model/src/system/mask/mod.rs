//! Masking of passwords in text for people, whatever its source: addresses, valid or mistyped,
//! parameters, statements, commands. One function finds the passwords. The printer applies it to
//! all terminal output, the store to everything that it writes and reads. It prefers false
//! positives: masking a text that merely looks like a password does no harm.

use crate::engine::Engine;
use std::borrow::Cow;
use std::ops::Range;

/// Replacement for a password.
pub const MASK: &str = "***";
/// Maximum number of passes over a text.
const PASSES_MAX: usize = 8;

/// The text with every password replaced by [`MASK`]; masking it again does not change it.
#[must_use]
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    // Text after a password may look like a password only after that one is masked.
    for _ in 0..PASSES_MAX {
        let found = passwords(&clean);
        if found.iter().all(|range| &clean[range.clone()] == MASK) {
            break;
        }
        let text = clean.to_mut();
        found.into_iter().rev().for_each(|range| text.replace_range(range, MASK));
    }
    clean
}

/// True when a password was removed from the text, so that it is no longer the original command or
/// address.
#[must_use]
pub fn is_masked(text: &str) -> bool {
    passwords(text).into_iter().any(|range| &text[range] == MASK)
}

/// Positions of passwords in a text, valid or mistyped, in order and without overlap. Masked
/// passwords are included.
#[must_use]
pub fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    in_addresses(text, &mut ranges);
    in_parameters(text, &mut ranges);
    in_connection_strings(text, &mut ranges);
    in_statements(text, &mut ranges);
    in_commands(text, &mut ranges);
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|later, earlier| {
        let is_part = later.start <= earlier.end;
        if is_part {
            earlier.end = earlier.end.max(later.end);
        }
        is_part
    });
    ranges
}

/// Characters that end a word that may contain an address.
fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`')
}

/// Passwords of accounts: `postgres://u:PW@h/d`, including mistyped forms.
fn in_addresses(text: &str, ranges: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].find(is_delimiter).unwrap_or(text.len() - at);
        let end = at + length;
        let found =
            in_word(&text[at..end], &text[end..]).map(|range| at + range.start..at + range.end);
        // The next word begins after this one, or after the password that extends beyond it.
        let next = found.as_ref().map_or(end, |range| range.end.max(end));
        at = next + text[next..].chars().next().map_or(0, char::len_utf8);
        ranges.extend(found);
    }
}

/// The password in a word without blanks, and in the text that `follows` it if the word is
/// certainly an address that continues there.
fn in_word(word: &str, follows: &str) -> Option<Range<usize>> {
    let (start, is_address) = authority(word);
    let rest = &word[start..];
    if rest.starts_with('[') {
        return None;
    }
    let colon = colon(rest)?;
    if let Some(sign) = rest.rfind('@') {
        let value = rest.get(colon + 1..sign)?;
        return (!is_placeholder(value)).then_some(start + colon + 1..start + sign);
    }
    // Without a terminator, only text that cannot be a port is taken for a password.
    let value = &rest[colon + 1..];
    let host_ends = value.find(['/', '?']).unwrap_or(value.len());
    if !is_address || is_port(value) || is_placeholder(&value[..host_ends]) {
        return None;
    }
    if is_mask(value) {
        return Some(start + colon + 1..start + colon + 1 + MASK.len());
    }
    let line = follows.find('\n').unwrap_or(follows.len());
    let end = follows[..line].rfind('@').map_or(word.len(), |sign| word.len() + sign);
    Some(start + colon + 1..end)
}

/// Start of the account, after the scheme if there is one, and whether there is a scheme.
fn authority(word: &str) -> (usize, bool) {
    if let Some(at) = word.find("://") {
        let slashes = word[at + 1..].bytes().take_while(|byte| *byte == b'/').count();
        return (at + 1 + slashes, true);
    }
    let mut start = 0;
    while let Some(length) = word[start..].find(':') {
        let scheme =
            word[start..start + length].rsplit(['=', '(', '<', ',']).next().unwrap_or_default();
        let behind = start + length + 1;
        let slashes = word[behind..].bytes().take_while(|byte| *byte == b'/').count();
        let is_scheme = |known: &&str| scheme.eq_ignore_ascii_case(known);
        let mut schemes = Engine::ALL.iter().flat_map(|engine| engine.traits().schemes);
        let is_known = scheme == "jdbc" || schemes.any(is_scheme);
        if !is_known && (slashes == 0 || start > 0 || word[..behind].contains('@')) {
            break;
        }
        start = behind + slashes;
    }
    (start, false)
}

/// The first colon that is not part of a `${env:VARIABLE}`.
fn colon(text: &str) -> Option<usize> {
    let mut open = 0_u32;
    let found = text.bytes().enumerate().find(|(_, byte)| {
        match byte {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        *byte == b':' && open == 0
    });
    found.map(|(at, _)| at)
}

/// True for text that may follow the colon after a host: a number, and what may follow a port.
fn is_port(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.chars().next().is_none_or(|c| "/?#,;:)]}>.|…\\".contains(c))
}

/// True for placeholders used in documents and scripts.
fn is_placeholder(text: &str) -> bool {
    const STAND_INS: [&str; 10] =
        ["PASSWORD", "PORT", "VALUE", "STRING", "NAME", "TEXT", "TIME", "FILE", "?", "%s"];
    let text = text.trim_end_matches(['.', ',', ';', ')']);
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let is_within = |begin: &str, end: char| text.starts_with(begin) && text.ends_with(end);
    STAND_INS.contains(&text)
        || text.strip_prefix('$').is_some_and(is_name)
        || is_within("${", '}')
        || is_within("{", '}')
        || is_within("<", '>')
        || text.is_empty()
}

/// Values of parameters whose names indicate a password: `password=PW`, `&passwd=PW`,
/// `PGPASSWORD='PW'`, `--mysql-password=PW`.
fn in_parameters(text: &str, ranges: &mut Vec<Range<usize>>) {
    for (sign, _) in text.match_indices('=') {
        let before = text[..sign].trim_end_matches([' ', '\t']).trim_end_matches(['"', '\'']);
        let length = before.bytes().rev().take_while(|byte| is_in_name(*byte)).count();
        let (lead, name) = before.split_at(before.len() - length);
        if !is_of_password(name) {
            continue;
        }
        let behind = &text[sign + 1..];
        let start = text.len() - behind.trim_start_matches([' ', '\t', '=']).len();
        if let Some(range) = literal(text, start) {
            ranges.push(range);
            continue;
        }
        let value = &text[start..];
        let is_end = |c: char| {
            is_delimiter(c)
                || matches!(
                    (lead.chars().next_back(), c),
                    (Some('?' | '&'), '&') | (Some(';'), ';')
                )
        };
        let mut is_escaped = false;
        let length = value.find(|c| {
            let ends = !is_escaped && is_end(c);
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let end = start + length.unwrap_or(value.len());
        let value = &text[start..end];
        if is_mask(value) {
            ranges.push(start..start + MASK.len());
        } else if !is_placeholder(value) {
            ranges.push(start..end);
        }
    }
}

/// True where a password is already masked.
fn is_mask(value: &str) -> bool {
    let rest = value.strip_prefix(MASK);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c == '*' || c.is_alphanumeric()))
}

/// In a connection string, the word after a password, or after the name of its parameter.
fn in_connection_strings(text: &str, ranges: &mut Vec<Range<usize>>) {
    for (start, line) in text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at - line.len(), line))
    }) {
        let is_one = ["host=", "user=", "dbname=", "port="].iter().any(|name| line.contains(name));
        let words = line.split_whitespace().filter(|_| is_one);
        let offset = |word: &str| start + (word.as_ptr() as usize - line.as_ptr() as usize);
        for (name, value) in words.clone().zip(words.skip(1)) {
            // Its `=` may be missing, or the quotes around a value that contains a blank.
            let (name, begin) = name.split_once('=').unwrap_or((name, ""));
            let is_open = !begin.starts_with('\'') && !begin.contains('&');
            let is_name = name.bytes().all(is_in_name) && is_of_password(name);
            if is_name && is_open && !value.contains('=') && value != "authentication" {
                let length = value.find(is_delimiter).unwrap_or(value.len());
                ranges.push(offset(value)..offset(value) + length);
            }
        }
    }
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// True for the name of a parameter that holds a password, spelled correctly or mistyped: its last
/// part decides, so `password_file` does not match.
#[must_use]
pub fn is_of_password(name: &str) -> bool {
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default().to_ascii_lowercase();
    let is_near = last.rfind("pas").is_some_and(|at| last[at..].contains('w'));
    is_near
        || ["pwd", "pw", "pass", "psw", "pword", "passphrase"].contains(&last.as_str())
        || last.ends_with("pwd")
}

/// The contents of the quotes that begin at a position, with or without a prefix letter of SQL
/// (`E'...'`); up to the end of the line if they are not closed.
fn literal(text: &str, start: usize) -> Option<Range<usize>> {
    let value = &text[start..];
    let prefix =
        usize::from(value.starts_with(['e', 'E', 'n', 'N']) && value[1..].starts_with('\''));
    let quote = value[prefix..].chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = start + prefix + 1;
    let (mut is_escaped, mut end) = (false, text.len());
    for (at, c) in text[inner..].char_indices() {
        if !is_escaped && c == quote || c == '\n' {
            end = inner + at;
            break;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    let value = &text[inner..end];
    Some(if is_placeholder(value) { inner..inner } else { inner..end })
}

/// Literals of statements: `PASSWORD 'PW'`, `SET PASSWORD = PASSWORD('PW')`,
/// `IDENTIFIED WITH ... BY 'PW'`.
fn in_statements(text: &str, ranges: &mut Vec<Range<usize>>) {
    let lower = text.to_ascii_lowercase();
    for word in ["password", "identified"] {
        for (at, _) in lower.match_indices(word) {
            let end = at + word.len();
            let is_between = |c: char| c.is_whitespace() || "(=".contains(c);
            let between = text[end..].len() - text[end..].trim_start_matches(is_between).len();
            let start = match word {
                "password" => (between > 0).then_some(end + between),
                // The first literal of the clause, optionally preceded by its plug-in.
                _ => clause_length(&lower[end..]).map(|length| end + length),
            };
            ranges.extend(start.and_then(|start| literal(text, start)));
        }
    }
}

/// Number of bytes from IDENTIFIED to the literal of its clause: `IDENTIFIED BY '...'`, `IDENTIFIED
/// WITH plugin AS '...'`.
fn clause_length(rest: &str) -> Option<usize> {
    let length = rest.find(['\'', '"'])?;
    let mut words = rest[..length]
        .split(|c: char| c.is_whitespace() || c == '(')
        .filter(|word| !word.is_empty());
    let begins = words.next().is_some_and(|word| ["by", "with", "via"].contains(&word));
    let is_word =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (begins && words.all(is_word)).then_some(length)
}

/// MySQL's own option: `mysql -uroot -pPW`.
fn in_commands(text: &str, ranges: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices(" -p") {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let program = &text[line..at];
        if !program.contains("mysql") && !program.contains("mariadb") {
            continue;
        }
        let start = at + " -p".len();
        ranges.push(literal(text, start).unwrap_or_else(|| {
            let length = text[start..].find(is_delimiter).unwrap_or(text.len() - start);
            if is_placeholder(&text[start..start + length]) {
                start..start
            } else {
                start..start + length
            }
        }));
    }
}

#[cfg(test)]
mod tests;
