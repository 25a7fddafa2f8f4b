//! Addresses as URLs: `postgresql://user:password@host:port/database?sslmode=require`, the same with `mysql`, `sqlite:file`.

use super::UsageError;
use dyno_model::secret::Secret;
use dyno_model::target::Engine;

/// The parts of a URL; empty where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// From the scheme.
    pub engine: Engine,
    /// User.
    pub user: String,
    /// Password.
    pub password: Secret,
    /// Host name, address, or folder of a socket.
    pub host: String,
    /// Port.
    pub port: String,
    /// Database, or the file of an SQLite database.
    pub database: String,
    /// What follows the question mark.
    pub parameters: Vec<(String, String)>,
}

/// The engine that a text's scheme names, if it is a URL.
#[must_use]
pub fn engine(text: &str) -> Option<Engine> {
    match text.split_once(':')?.0 {
        "postgres" | "postgresql" => Some(Engine::Postgres),
        "mysql" | "mariadb" => Some(Engine::Mysql),
        "sqlite" => Some(Engine::Sqlite),
        _ => None,
    }
}

/// Reads a URL.
///
/// # Errors
/// When it is none. The message never holds a part that may be a password.
pub fn parse(text: &str) -> Result<Url, UsageError> {
    let Some(engine) = engine(text) else {
        let known = "mysql://, mariadb://, postgres:// and sqlite:";
        return Err(UsageError::new(format!("this is no address of a database; {known} are")));
    };
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    let mut url = Url {
        engine,
        user: String::new(),
        password: Secret::default(),
        host: String::new(),
        port: String::new(),
        database: String::new(),
        parameters: Vec::new(),
    };
    if engine == Engine::Sqlite {
        url.database = decoded(rest.strip_prefix("//").unwrap_or(rest))?;
        return Ok(url);
    }
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(UsageError::new("an address of a server has // after its scheme"));
    };
    let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (account, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = account.split_once(':').unwrap_or((account, ""));
    url.user = decoded(user)?;
    url.password = Secret::new(decoded(password)?);
    url.database = decoded(database)?;
    let (host, port) = match place.strip_prefix('[').and_then(|place| place.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => place.rsplit_once(':').unwrap_or((place, "")),
    };
    url.host = decoded(host)?;
    url.port = port.to_owned();
    for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        url.parameters.push((decoded(key)?, decoded(value)?));
    }
    Ok(url)
}

/// The text with `%41` and the like replaced.
fn decoded(text: &str) -> Result<String, UsageError> {
    let broken = || UsageError::new("the percent-encoding of the address is broken");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16)).ok_or_else(broken);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).expect("two hexadecimal digits fit into a byte"));
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_address_is_found() {
        let url =
            parse("postgresql://a%40b:p%3Aw@[::1]:5433/my%20db?sslmode=require&application_name=x").unwrap();
        assert_eq!((url.user.as_str(), url.password.reveal()), ("a@b", "p:w"));
        assert_eq!((url.host.as_str(), url.port.as_str(), url.database.as_str()), ("::1", "5433", "my db"));
        assert_eq!(url.parameters[0], ("sslmode".to_owned(), "require".to_owned()));
        let url = parse("mysql://localhost/test").unwrap();
        assert_eq!((url.engine, url.host.as_str(), url.port.as_str()), (Engine::Mysql, "localhost", ""));
        assert_eq!(parse("postgres:///db?host=/tmp").unwrap().database, "db");
        assert_eq!(parse("sqlite:bench.db").unwrap().database, "bench.db");
        assert_eq!(parse("sqlite:///a/b.db").unwrap().database, "/a/b.db");
    }

    #[test]
    fn errors_never_quote_a_password() {
        for text in ["mysql:u:secret@h/d", "mysql://u:secret%zz@h/d", "oracle://u:secret@h"] {
            assert!(!parse(text).unwrap_err().0.contains("secret"), "{text}");
        }
    }
}
