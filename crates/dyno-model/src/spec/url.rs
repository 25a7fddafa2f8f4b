//! Addresses of systems: `mysql://user@host:port/database?tls=required`, `postgres://...`, `sqlite:file`, `null:`.

use super::reader::{list, nearest};
use crate::target::{Endpoint, Engine, Tls};
use std::ops::Range;
use std::path::PathBuf;

/// A system's address, without its password.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Url {
    pub engine: Engine,
    pub endpoint: Endpoint,
    pub user: String,
    pub database: String,
    pub tls: Tls,
}

/// Why an address is not one. Its text never holds any part of a password.
#[derive(Debug, PartialEq)]
pub(super) struct UrlError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where in the address.
    pub range: Range<usize>,
    /// True when the range is a password.
    pub is_password: bool,
}

impl UrlError {
    fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into(), range, is_password: false }
    }
}

/// A piece of the address that knows where it stands.
#[derive(Debug, Clone, Copy)]
struct Piece<'u> {
    text: &'u str,
    start: usize,
}

impl<'u> Piece<'u> {
    fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn split_once(self, separator: char) -> Option<(Self, Self)> {
        let at = self.text.find(separator)?;
        Some((self.before(at), self.after(at + separator.len_utf8())))
    }

    fn rsplit_once(self, separator: char) -> Option<(Self, Self)> {
        let at = self.text.rfind(separator)?;
        Some((self.before(at), self.after(at + separator.len_utf8())))
    }

    fn before(self, at: usize) -> Self {
        Self { text: &self.text[..at], start: self.start }
    }

    fn after(self, at: usize) -> Self {
        Self { text: &self.text[at..], start: self.start + at }
    }

    /// The text with `%41` and the like replaced.
    fn decoded(self) -> Result<String, UrlError> {
        let bad = || {
            let help = "write `%25` for a percent sign, and two hexadecimal digits after any other";
            UrlError::new(self.range(), "the percent-encoding is broken", help)
        };
        let mut bytes = Vec::with_capacity(self.text.len());
        let mut rest = self.text.as_bytes().iter();
        while let Some(&byte) = rest.next() {
            if byte != b'%' {
                bytes.push(byte);
                continue;
            }
            let mut digit = || rest.next().and_then(|&c| char::from(c).to_digit(16)).ok_or_else(bad);
            let value = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(value).expect("two hexadecimal digits fit into a byte"));
        }
        String::from_utf8(bytes).map_err(|_| bad())
    }
}

const SCHEMES: [&str; 6] = ["mysql", "mariadb", "postgres", "postgresql", "sqlite", "null"];

/// Takes what is right of a part and notes what is wrong with it, so that the other parts are looked at too.
fn noted<T>(result: Result<T, UrlError>, errors: &mut Vec<UrlError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// Reads an address.
///
/// # Errors
/// Everything that is wrong with it, in the order of its parts.
pub(super) fn parse(text: &str) -> Result<Url, Vec<UrlError>> {
    let whole = Piece { text, start: 0 };
    let Some((scheme, rest)) = whole.split_once(':') else {
        let help = "write for example `mysql://bench@localhost:3306/bench`, `postgres://bench@localhost/bench` or \
                    `sqlite:bench.db`";
        return Err(vec![UrlError::new(whole.range(), "this is not an address: it has no scheme", help)]);
    };
    match scheme.text {
        "mysql" | "mariadb" => server(Engine::Mysql, 3306, scheme, rest),
        "postgres" | "postgresql" => server(Engine::Postgres, 5432, scheme, rest),
        "sqlite" => sqlite(rest),
        // What follows is the script of the null driver, which stands where others name a database.
        "null" => match rest.decoded() {
            Ok(database) => Ok(Url { database, ..bare(Engine::Null, Endpoint::InProcess) }),
            Err(error) => Err(vec![error]),
        },
        other => {
            let help = match nearest(other, SCHEMES) {
                Some(candidate) => format!("did you mean `{candidate}`?"),
                None => format!("known schemes: {}", list(&SCHEMES)),
            };
            let unknown = UrlError::new(scheme.range(), format!("unknown scheme `{other}`"), help);
            // The rest is most likely that of a server's address, and what is wrong with it is wrong with any scheme's.
            let others = if rest.text.starts_with("//") {
                server(Engine::Mysql, 3306, scheme, rest).err()
            } else {
                None
            };
            Err(std::iter::once(unknown).chain(others.unwrap_or_default()).collect())
        }
    }
}

fn bare(engine: Engine, endpoint: Endpoint) -> Url {
    Url { engine, endpoint, user: String::new(), database: String::new(), tls: Tls::Off }
}

fn sqlite(rest: Piece<'_>) -> Result<Url, Vec<UrlError>> {
    let help = "write `sqlite:FILE`, relative to the working directory, or `sqlite:///absolute/file`";
    let mut errors = Vec::new();
    let (path, query) = rest.split_once('?').unwrap_or((rest, rest.after(rest.text.len())));
    let path = match path.text.strip_prefix("//") {
        None => path,
        Some(absolute) => {
            if !absolute.starts_with('/') {
                errors.push(UrlError::new(path.range(), "`sqlite://` needs an absolute path", help));
            }
            path.after(2)
        }
    };
    if path.text.is_empty() && errors.is_empty() {
        errors.push(UrlError::new(path.range(), "the address names no file", help));
    }
    if path.text.starts_with(":memory:") {
        let help =
            "each client would have a database of its own; name a file, on a memory file system if need be";
        errors.push(UrlError::new(path.range(), "a database in memory cannot be shared by clients", help));
    }
    if rest.text.contains('?') {
        let help = "write `%3F` for a question mark";
        errors.push(UrlError::new(query.range(), "`sqlite:` takes no parameters", help));
    }
    match noted(path.decoded(), &mut errors) {
        Some(file) if errors.is_empty() => Ok(bare(Engine::Sqlite, Endpoint::File(PathBuf::from(file)))),
        _ => Err(errors),
    }
}

fn server(
    engine: Engine,
    port_default: u16,
    scheme: Piece<'_>,
    rest: Piece<'_>,
) -> Result<Url, Vec<UrlError>> {
    let example = format!("write `{}://USER@HOST:PORT/DATABASE`", scheme.text);
    if !rest.text.starts_with("//") {
        return Err(vec![UrlError::new(rest.range(), "`//` is missing after the scheme", example)]);
    }
    let whole = rest.after(2);
    let mut errors = Vec::new();
    if let Some(password) = password(whole) {
        let help = "the spec is stored with the results and must hold no password: take it out and name its source with \
                    `password_env = \"VARIABLE\"` or `password_file = \"FILE\"`";
        let mut error = UrlError::new(password.range(), "an address must not hold a password", help);
        error.is_password = true;
        errors.push(error);
    }
    let has_password = !errors.is_empty();
    // A password may hold signs that should have been encoded. It must not be shown in parts by what is said of the rest.
    let (rest, query) = match whole.split_once('?') {
        Some((_, query)) if has_password && query.text.contains('@') => return Err(errors),
        Some(parts) => parts,
        None => (whole, whole.after(whole.text.len())),
    };
    let (credentials, location) = rest.rsplit_once('@').unwrap_or((rest.before(0), rest));
    let user = match credentials.split_once(':') {
        Some((user, _)) => user,
        None => credentials,
    };
    let user = noted(user.decoded(), &mut errors);
    if user.as_ref().is_some_and(String::is_empty) {
        errors.push(UrlError::new(location.range(), "the address names no user", &example));
    }
    let (authority, database) =
        location.split_once('/').unwrap_or((location, location.after(location.text.len())));
    let name = noted(database.decoded(), &mut errors);
    if name.as_ref().is_some_and(String::is_empty) {
        errors.push(UrlError::new(location.range(), "the address names no database", &example));
    }
    if let Some(at) = database.text.find('/') {
        let help = "write `%2F` if it does";
        errors.push(UrlError::new(database.after(at).range(), "a database's name holds no `/`", help));
    }
    let parameters = Parameters::parse(query, &mut errors);
    let endpoint = endpoint(engine, authority, port_default, &parameters, &example, &mut errors);
    match (user, name, endpoint) {
        (Some(user), Some(database), Some(endpoint)) if errors.is_empty() => {
            Ok(Url { engine, endpoint, user, database, tls: parameters.tls })
        }
        _ => Err(errors),
    }
}

/// The password of an address, if it has one: from the first colon, when that stands before the first `@`, to the last `@`.
fn password(address: Piece<'_>) -> Option<Piece<'_>> {
    let (colon, first) = (address.text.find(':')?, address.text.find('@')?);
    let is_host = address.text.starts_with('[');
    let last = address.text.rfind('@')?;
    (colon < first && !is_host).then(|| address.before(last).after(colon + 1))
}

/// Where the server is.
fn endpoint(
    engine: Engine,
    authority: Piece<'_>,
    port_default: u16,
    parameters: &Parameters,
    example: &str,
    errors: &mut Vec<UrlError>,
) -> Option<Endpoint> {
    let (host, port) = noted(host_and_port(authority, port_default), errors)?;
    match (&parameters.socket, host.text) {
        (Some((socket, _)), "" | "localhost") => Some(Endpoint::Unix(socket_file(engine, socket, port))),
        (Some((_, range)), _) => {
            let message = "host and `socket` cannot both be given";
            errors.push(UrlError::new(range.clone(), message, "remove one of them"));
            None
        }
        (None, "") => {
            errors.push(UrlError::new(authority.range(), "the address names no host", example));
            None
        }
        (None, _) => Some(Endpoint::Tcp { host: noted(host.decoded(), errors)?, port }),
    }
}

/// PostgreSQL users name the folder; the driver wants the file.
fn socket_file(engine: Engine, socket: &str, port: u16) -> PathBuf {
    let path = PathBuf::from(socket);
    let is_file = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".s.PGSQL."));
    if engine == Engine::Postgres && !is_file { path.join(format!(".s.PGSQL.{port}")) } else { path }
}

fn host_and_port(authority: Piece<'_>, port_default: u16) -> Result<(Piece<'_>, u16), UrlError> {
    let brackets = "write an IPv6 address in brackets: `[::1]:3306`";
    let (host, port) = if authority.text.starts_with('[') {
        let Some(close) = authority.text.find(']') else {
            return Err(UrlError::new(authority.range(), "the bracket is not closed", brackets));
        };
        let host = authority.before(close).after(1);
        if host.text.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(UrlError::new(
                host.range(),
                format!("`{}` is not an IPv6 address", host.text),
                brackets,
            ));
        }
        let tail = authority.after(close + 1);
        match tail.text.strip_prefix(':') {
            Some(_) => (host, Some(tail.after(1))),
            None if tail.text.is_empty() => (host, None),
            None => return Err(UrlError::new(tail.range(), "only a port may follow the bracket", brackets)),
        }
    } else {
        match authority.split_once(':') {
            Some((_, port)) if port.text.contains(':') => {
                return Err(UrlError::new(authority.range(), "this host has more than one colon", brackets));
            }
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    let Some(port) = port else { return Ok((host, port_default)) };
    match port.text.parse::<u16>() {
        Ok(number) if number > 0 => Ok((host, number)),
        _ => {
            let message = format!("`{}` is not a port", port.text);
            Err(UrlError::new(port.range(), message, "a port is a number between 1 and 65535"))
        }
    }
}

/// What stands after the question mark.
struct Parameters {
    socket: Option<(String, Range<usize>)>,
    tls: Tls,
}

impl Parameters {
    fn parse(query: Piece<'_>, errors: &mut Vec<UrlError>) -> Self {
        const NAMES: [&str; 3] = ["socket", "tls", "ca"];
        let mut values: [Option<(String, Range<usize>)>; 3] = [None, None, None];
        let before = errors.len();
        let mut rest = query;
        while !rest.text.is_empty() {
            let (pair, tail) = rest.split_once('&').unwrap_or((rest, rest.after(rest.text.len())));
            rest = tail;
            let (name, value) = pair.split_once('=').unwrap_or((pair, pair.after(pair.text.len())));
            let Some(i) = NAMES.iter().position(|known| *known == name.text) else {
                let help = match nearest(name.text, NAMES) {
                    Some(candidate) => format!("did you mean `{candidate}`?"),
                    None => format!("known parameters: {}", list(&NAMES)),
                };
                errors.push(UrlError::new(name.range(), format!("unknown parameter `{}`", name.text), help));
                continue;
            };
            if value.text.is_empty() {
                let message = format!("parameter `{}` has no value", name.text);
                errors.push(UrlError::new(pair.range(), message, format!("write `{}=VALUE`", name.text)));
            } else if values[i].is_some() {
                let message = format!("parameter `{}` is given twice", name.text);
                errors.push(UrlError::new(pair.range(), message, "remove one of them"));
            } else {
                values[i] = noted(value.decoded(), errors).map(|value| (value, pair.range()));
            }
        }
        let [socket, tls, ca] = values;
        // What a broken parameter leaves out is not missing.
        let is_whole = errors.len() == before;
        let tls = Self::tls(tls, ca);
        let tls = if is_whole { noted(tls, errors) } else { tls.ok() };
        Self { socket, tls: tls.unwrap_or(Tls::Off) }
    }

    fn tls(tls: Option<(String, Range<usize>)>, ca: Option<(String, Range<usize>)>) -> Result<Tls, UrlError> {
        let help = "`tls=off`, `tls=required` or `tls=verify&ca=FILE`";
        match (tls, ca) {
            (Some((mode, _)), Some((ca, _))) if mode == "verify" => Ok(Tls::Verify { ca: PathBuf::from(ca) }),
            (Some((mode, range)), None) if mode == "verify" => Err(UrlError::new(
                range,
                "`tls=verify` needs the file of the certificate authorities",
                "add `&ca=FILE`",
            )),
            (_, Some((_, range))) => Err(UrlError::new(range, "`ca` belongs to `tls=verify`", help)),
            (None, None) => Ok(Tls::Off),
            (Some((mode, range)), None) => match mode.as_str() {
                "off" => Ok(Tls::Off),
                "required" => Ok(Tls::Required),
                other => Err(UrlError::new(range, format!("`tls` cannot be `{other}`"), help)),
            },
        }
    }
}

#[cfg(test)]
mod tests;
