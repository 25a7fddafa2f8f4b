//! URLs of systems: `mysql://user:password@host:port/database?sslmode=require`, `postgres://...`,
//! `sqlite:file`, `null:`, and the same after `jdbc:`.

use super::conninfo::is_conninfo;
use super::keys::{AddressError, Key, Keys, Value, noted};
use super::parameter;
use crate::engine::{Engine, Execution, ServerKind, database_file_url};
use crate::words::{list, nearest};
use percent_encoding::percent_decode_str;
use std::net::Ipv6Addr;
use std::ops::Range;

/// A piece of the address with its position.
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

    fn end(self) -> Self {
        self.after(self.text.len())
    }

    /// The text with percent-encoding (`%41`) decoded.
    fn decoded(self) -> Result<String, AddressError> {
        let is_code = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
        let decoded = percent_decode_str(self.text).decode_utf8();
        match decoded {
            Ok(decoded) if self.text.split('%').skip(1).all(is_code) => Ok(decoded.into_owned()),
            _ => {
                let help =
                    "write `%25` for a percent sign, and two hexadecimal digits after any other";
                Err(AddressError::new(self.range(), "invalid percent-encoding", help))
            }
        }
    }
}

/// Prefix of the URLs of Java's drivers.
pub(super) const JDBC: &str = "jdbc:";

pub(super) fn engine(scheme: &str) -> Option<Engine> {
    Engine::ALL.into_iter().find(|engine| engine.traits().schemes.contains(&scheme))
}

/// Help for an invalid address.
pub(super) fn example(scheme: &str) -> String {
    format!("write `{scheme}://USER@HOST:PORT/DATABASE`")
}

/// Help for a missing part, by the scheme of the URL or the parameter of the connection string.
pub(super) fn remedy(name: &str) -> String {
    match engine(name) {
        Some(_) => example(name),
        None => format!("add `{name}=NAME`"),
    }
}

/// Placeholder for a part that cannot be parsed; an error is recorded for it.
const BROKEN: &str = "-";

/// Engine and parts of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// From the scheme.
    pub engine: Engine,
    pub(super) keys: Keys,
    pub(super) errors: Vec<AddressError>,
}

impl Address {
    /// Parses `mysql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require`, `postgres://...`,
    /// `sqlite:FILE`, `null:`. Errors are recorded along with the parts that could be parsed.
    #[must_use]
    pub fn of_url(text: &str) -> Self {
        if is_conninfo(text) {
            return Self::of_conninfo(text);
        }
        let whole = Piece { text, start: 0 };
        let whole = if text.starts_with(JDBC) { whole.after(JDBC.len()) } else { whole };
        let (mut keys, mut errors) = (Keys::default(), Vec::new());
        let Some((scheme, rest)) = whole.split_once(':') else {
            let help = match Self::meant_by(text) {
                Some(url) => format!("write `{url}`"),
                None => "write for example `mysql://bench@localhost:3306/bench`, \
                         `postgres://bench@localhost/bench` or `sqlite:bench.db`"
                    .to_owned(),
            };
            let error = AddressError::new(
                whole.range(),
                "this is not an address: the scheme is missing",
                help,
            );
            return Self { engine: Engine::UNKNOWN, keys, errors: vec![error] };
        };
        let known = engine(scheme.text);
        if known.is_none() {
            let schemes: Vec<&str> =
                Engine::ALL.iter().flat_map(|engine| engine.traits().schemes).copied().collect();
            let help = match nearest(scheme.text, schemes.iter().copied()) {
                Some(candidate) => format!("did you mean `{candidate}`?"),
                None => format!("known schemes: {}", list(&schemes)),
            };
            errors.push(AddressError::new(
                scheme.range(),
                format!("unknown scheme `{}`", scheme.text),
                help,
            ));
        }
        // The text after an unknown scheme is most likely a server's address, whose errors do not
        // depend on the scheme.
        let is_server = rest.text.starts_with("//");
        let any = || Engine::ALL.into_iter().find(|engine| is_server && engine.is_server());
        let engine = known.or_else(any).unwrap_or(Engine::UNKNOWN);
        match engine.traits().execution {
            Execution::Thread | Execution::Process if is_server => {
                server(engine, scheme.text, rest.after(2), &mut keys, &mut errors);
            }
            Execution::Thread | Execution::Process => {
                let message = "`//` is missing after the scheme";
                errors.push(AddressError::new(rest.range(), message, example(scheme.text)));
                return Self { engine: Engine::UNKNOWN, keys, errors };
            }
            Execution::Service => {
                service(engine, scheme, rest, &mut keys, &mut errors);
            }
            Execution::Client => {
                put(&mut keys, Key::File, file(rest, &mut errors), rest, "", &mut errors);
            }
            // The rest is the script of the null driver, in the position of a database.
            Execution::Nowhere if known.is_some() => {
                put(&mut keys, Key::Database, rest, rest, "", &mut errors);
            }
            Execution::Nowhere => {}
        }
        Self { engine, keys, errors }
    }

    /// The URL that was probably meant by the name of a database file, or of a kind of server.
    #[must_use]
    pub fn meant_by(text: &str) -> Option<String> {
        if let Some(url) = database_file_url(text) {
            return Some(url);
        }
        let word = text.to_lowercase();
        let has_scheme =
            |kind: &ServerKind| kind.engine().traits().schemes.contains(&word.as_str());
        let kind =
            ServerKind::named(&word).or_else(|| ServerKind::ALL.into_iter().find(has_scheme))?;
        let scheme = kind.product().name();
        Some(match kind.engine().traits().execution {
            Execution::Client => format!("{scheme}:FILE"),
            Execution::Nowhere => format!("{scheme}:"),
            _ => format!("{scheme}://USER@HOST:PORT/DATABASE"),
        })
    }

    /// Parses a connection string of PostgreSQL, which must contain everything that a URL must.
    fn of_conninfo(text: &str) -> Self {
        let engine = Engine::OF_CONNECTION_STRINGS;
        let (mut keys, errors) = Keys::in_conninfo(text);
        for (key, name) in [(Key::Host, "host"), (Key::User, "user"), (Key::Database, "dbname")] {
            let missing =
                || Value { name: name.to_owned(), text: String::new(), range: 0..text.len() };
            keys.0.entry(key).or_insert_with(missing);
        }
        Self { engine, keys, errors }
    }
}

/// Stores a decoded piece under its key; for an empty one, with the position where it is missing.
fn put(
    keys: &mut Keys,
    key: Key,
    piece: Piece<'_>,
    location: Piece<'_>,
    scheme: &str,
    errors: &mut Vec<AddressError>,
) {
    // A malformed part is not missing.
    let text = noted(piece.decoded(), errors).unwrap_or_else(|| BROKEN.to_owned());
    let (name, range) = if text.is_empty() {
        (scheme.to_owned(), location.range())
    } else {
        (String::new(), piece.range())
    };
    keys.0.insert(key, Value { name, text, range });
}

/// The path of a database file.
fn file<'u>(rest: Piece<'u>, errors: &mut Vec<AddressError>) -> Piece<'u> {
    let help = "write `sqlite:FILE` or `sqlite:///absolute/file`";
    let before = errors.len();
    let (path, query) = rest.split_once('?').unwrap_or((rest, rest.end()));
    let path = match path.text.strip_prefix("//") {
        None => path,
        Some(absolute) => {
            if !absolute.starts_with('/') {
                errors.push(AddressError::new(
                    path.range(),
                    "`sqlite://` needs an absolute path",
                    help,
                ));
            }
            path.after(2)
        }
    };
    if path.text.is_empty() && errors.len() == before {
        errors.push(AddressError::new(path.range(), "the address names no file", help));
    }
    if path.text.starts_with(":memory:") {
        let message = "clients cannot share an in-memory database";
        let help = "each client would have a separate database; use a file, on a memory file \
                    system if necessary";
        errors.push(AddressError::new(path.range(), message, help));
    }
    if rest.text.contains('?') {
        let help = "write `%3F` for a question mark";
        errors.push(AddressError::new(query.range(), "`sqlite:` takes no parameters", help));
    }
    path
}

fn server(
    engine: Engine,
    scheme: &str,
    whole: Piece<'_>,
    keys: &mut Keys,
    errors: &mut Vec<AddressError>,
) {
    if let Some(password) = spilled_password(whole) {
        let message = "the end of the password is ambiguous";
        let help = "percent-encode special characters in it and after it: `/` is `%2F`, `?` is \
                    `%3F`, `@` is `%40`, `:` is `%3A`, `%` is `%25`";
        errors.push(AddressError {
            is_password: true,
            ..AddressError::new(password.range(), message, help)
        });
        // No message about the rest may show a part of it.
        keys.give(Key::Host, "", BROKEN);
        return;
    }
    let (rest, query) = whole.split_once('?').unwrap_or((whole, whole.end()));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, rest.end()));
    let (credentials, hosts) =
        authority.rsplit_once('@').unwrap_or((authority.before(0), authority));
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, credentials.end()));
    let location =
        Piece { text: &whole.text[hosts.start - whole.start..rest.text.len()], start: hosts.start };
    put(keys, Key::User, user, location, scheme, errors);
    match password.decoded() {
        Ok(_) => put(keys, Key::Password, password, password, "", errors),
        Err(error) => errors.push(AddressError { is_password: true, ..error }),
    }
    put(keys, Key::Database, database, location, scheme, errors);
    if let Some(at) = database.text.find('/') {
        let help = "write `%2F` if the name contains one";
        errors.push(AddressError::new(
            database.after(at).range(),
            "a database name cannot contain `/`",
            help,
        ));
    }
    let several =
        hosts.text.find(',').filter(|_| engine.traits().client_defaults.has_lists_of_hosts);
    let first = several.map_or(hosts, |at| hosts.before(at));
    let account = credentials.text;
    put_host_and_port(first, scheme, account, keys, errors);
    let mut rest = several.map(|at| hosts.after(at + 1));
    while let Some(host) = rest {
        let next = host.split_once(',');
        rest = next.map(|(_, rest)| rest);
        let mut other = Keys::default();
        put_host_and_port(
            next.map_or(host, |(first, _)| first),
            scheme,
            account,
            &mut other,
            errors,
        );
        for key in [Key::Host, Key::Port] {
            let all = keys.0.entry(key).or_default();
            all.text = format!("{},{}", all.text, other.text(key).unwrap_or_default());
        }
    }
    parameters(engine, query, keys, errors);
}

/// Stores host and port under their keys. Text that cannot be a port may be the password of an
/// account whose `@` is missing. `None` when they cannot be parsed, else whether there is a port.
fn put_host_and_port(
    location: Piece<'_>,
    scheme: &str,
    account: &str,
    keys: &mut Keys,
    errors: &mut Vec<AddressError>,
) -> Option<bool> {
    let Some((host, port)) = noted(split_host_and_port(location), errors) else {
        keys.give(Key::Host, "", BROKEN);
        return None;
    };
    put(keys, Key::Host, host, location, scheme, errors);
    if let Some(piece) = port
        && noted(port_of(piece, account), errors).is_some()
    {
        put(keys, Key::Port, piece, piece, "", errors);
    }
    Some(port.is_some())
}

fn port_of(piece: Piece<'_>, account: &str) -> Result<u16, AddressError> {
    let may_be_password = account.is_empty()
        && (piece.text.len() > 5 || !piece.text.bytes().all(|c| c.is_ascii_digit()));
    if !may_be_password {
        return port(piece.text, piece.range());
    }
    let help = "a port is a number between 1 and 65535; a password is followed by `@` and the host";
    let error = AddressError::new(piece.range(), "the text after the colon is not a port", help);
    Err(AddressError { is_password: true, ..error })
}

/// A service's address: `http://HOST:PORT/PATH`. The path is stored unchanged as the database, and
/// `https` requests encryption like `sslmode=verify-full`.
fn service(
    engine: Engine,
    scheme: Piece<'_>,
    rest: Piece<'_>,
    keys: &mut Keys,
    errors: &mut Vec<AddressError>,
) {
    let help = format!(
        "write `{}://HOST:PORT`, followed by a path if all requests begin with it",
        scheme.text
    );
    let (location, query) = rest.split_once('?').unwrap_or((rest, rest.end()));
    let Some(whole) = location.text.starts_with("//").then(|| location.after(2)) else {
        errors.push(AddressError::new(location.range(), "`//` is missing after the scheme", help));
        keys.give(Key::Host, "", BROKEN);
        return;
    };
    if let Some(at) = rest.text.rfind('@') {
        let range = whole.start..rest.start + at;
        let message = "the address of a service cannot contain an account";
        let help =
            "remove it, and give requests a header: `Authorization = \"Basic ${env:VARIABLE}\"`";
        errors.push(AddressError { is_password: true, ..AddressError::new(range, message, help) });
        keys.give(Key::Host, "", BROKEN);
        return;
    }
    let at = whole.text.find('/').unwrap_or(whole.text.len());
    let (authority, path) = (whole.before(at), whole.after(at));
    let base = path.text.trim_end_matches('/').to_owned();
    if !base.bytes().all(|byte| byte.is_ascii_graphic()) {
        let help = "percent-encode special characters, such as `%20` for a blank";
        errors.push(AddressError::new(path.range(), "this is not a valid path", help));
    }
    keys.0.insert(Key::Database, Value { name: String::new(), text: base, range: path.range() });
    let Some(has_port) = put_host_and_port(authority, scheme.text, "", keys, errors) else {
        return;
    };
    let is_encrypted = scheme.text == "https";
    if is_encrypted && !has_port {
        keys.give(Key::Port, "", "443");
    }
    parameters(engine, query, keys, errors);
    let mode = keys.value(Key::Encryption).map(|value| (value.text.clone(), value.range.clone()));
    match mode {
        None if is_encrypted => keys.give(Key::Encryption, "sslmode", "verify-full"),
        Some((text, range)) if !is_encrypted => {
            let message = format!("`http` is not encrypted and cannot be combined with `{text}`");
            errors.push(AddressError::new(range, message, "write `https://`"));
        }
        Some((text, range)) if ["disable", "allow", "prefer"].contains(&text.as_str()) => {
            let message = format!("`https` is encrypted and cannot be combined with `{text}`");
            errors.push(AddressError::new(range, message, "write `http://`, or `sslmode=require`"));
        }
        _ => {}
    }
}

/// A password with characters that end the account or the address, as far as it can be recognised.
/// RFC 3986, section 3.2 requires that they are encoded. The rest of the password must not be
/// mistaken for a host, a database or a parameter, which messages show; so no other `@` may follow
/// a password, not even in a parameter.
fn spilled_password(address: Piece<'_>) -> Option<Piece<'_>> {
    let end = address.text.find(['/', '?']).unwrap_or(address.text.len());
    let (authority, last) = (&address.text[..end], address.text.rfind('@')?);
    let colon = authority.find(':').filter(|_| !authority.starts_with('['))?;
    let is_account = authority.rfind('@').is_none_or(|at| colon < at);
    (is_account && last > end).then(|| address.before(last).after(colon + 1))
}

/// The query string after the question mark.
fn parameters(engine: Engine, query: Piece<'_>, keys: &mut Keys, errors: &mut Vec<AddressError>) {
    let mut rest = query;
    while !rest.text.is_empty() {
        let (pair, tail) = rest.split_once('&').unwrap_or((rest, rest.end()));
        rest = tail;
        let (name, value) = pair.split_once('=').unwrap_or((pair, pair.end()));
        let (Some(decoded), Some(text)) =
            (noted(name.decoded(), errors), noted(value.decoded(), errors))
        else {
            continue;
        };
        if text.is_empty() && parameter::find(engine, &decoded, "", 0..0, 0..0).is_ok() {
            let message = format!("parameter `{decoded}` has no value");
            errors.push(AddressError::new(
                pair.range(),
                message,
                format!("write `{decoded}=VALUE`"),
            ));
            continue;
        }
        let value = Value { name: decoded, text, range: pair.range() };
        parameter::take(keys, engine, value, pair.range(), errors);
    }
}

/// The host and the optional port of `HOST`, `HOST:PORT`, `[::1]` or `[::1]:PORT`.
///
/// # Errors
/// When it is not in one of these forms.
pub fn host_and_port(text: &str) -> Result<(String, Option<u16>), AddressError> {
    let (host, number) = split_host_and_port(Piece { text, start: 0 })?;
    let number = number.map(|piece| port(piece.text, piece.range())).transpose()?;
    Ok((host.text.to_owned(), number))
}

fn split_host_and_port(
    location: Piece<'_>,
) -> Result<(Piece<'_>, Option<Piece<'_>>), AddressError> {
    let brackets = "write an IPv6 address in brackets: `[::1]:3306`";
    if !location.text.starts_with('[') {
        return match location.split_once(':') {
            Some((_, port)) if port.text.contains(':') => Err(AddressError::new(
                location.range(),
                "the host contains more than one colon",
                brackets,
            )),
            Some((host, port)) => Ok((host, Some(port))),
            None => Ok((location, None)),
        };
    }
    let Some(close) = location.text.find(']') else {
        return Err(AddressError::new(location.range(), "the bracket is not closed", brackets));
    };
    let host = location.before(close).after(1);
    if host.text.parse::<Ipv6Addr>().is_err() {
        let message = format!("`{}` is not an IPv6 address", host.text);
        return Err(AddressError::new(host.range(), message, brackets));
    }
    let tail = location.after(close + 1);
    match tail.text.chars().next() {
        Some(':') => Ok((host, Some(tail.after(1)))),
        None => Ok((host, None)),
        Some(_) => {
            Err(AddressError::new(tail.range(), "only a port may follow the bracket", brackets))
        }
    }
}

/// A port's number.
pub(super) fn port(text: &str, range: Range<usize>) -> Result<u16, AddressError> {
    match text.parse::<u16>() {
        Ok(number) if number > 0 => Ok(number),
        _ => {
            let message = format!("`{text}` is not a port");
            Err(AddressError::new(range, message, "a port is a number between 1 and 65535"))
        }
    }
}
