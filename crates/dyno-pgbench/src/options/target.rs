//! Builds a target from options, environment and files, like libpq for PostgreSQL.

use super::{Address, UsageError};
use crate::own::OWN;
use dyno_drivers::address::{self, Surroundings};
use dyno_model::address::{Address as Url, AddressError, Key, Keys};
use dyno_model::engine::Execution;
use dyno_model::target::{Engine, QueryMode, Target};

/// Resolves the address.
///
/// # Errors
/// When a part of the address is invalid. Messages contain no passwords.
pub(crate) fn resolve(
    address: &Address,
    mode: QueryMode,
    world: &Surroundings<'_>,
) -> Result<Target, UsageError> {
    let mut options = Keys::default();
    for (key, name, value) in [
        (Key::Host, "-h", &address.host),
        (Key::Port, "-p", &address.port),
        (Key::User, "-U", &address.user),
    ] {
        options.give(key, name, value.clone().unwrap_or_default());
    }
    let text = address.url.as_deref().or(address.database.as_deref()).unwrap_or_default();
    let engine =
        if address.url.is_some() { Some(Url::scheme(text)) } else { Url::scheme(text).map(Some) };
    let no_database = || {
        let known = "mysql://, mariadb://, postgres:// and sqlite:";
        UsageError::new(format!("this is not the address of a database; supported are {known}"))
    };
    let target = match engine {
        Some(engine) => {
            let url = || Url::of_url(text).into_keys();
            let engine = engine.ok_or_else(no_database)?;
            match engine.traits().execution {
                Execution::Thread | Execution::Process => {
                    url().and_then(|url| of_server(engine, url, options, address, world))
                }
                Execution::Client => url().and_then(|url| of_file(engine, &url)),
                Execution::Nowhere | Execution::Service => return Err(no_database()),
            }
        }
        None => of_name(text, options, world),
    };
    let mut target = target.map_err(|errors| refused(&errors))?;
    let is_known = mode != QueryMode::Extended || target.engine.traits().has_extended_queries;
    target.query_mode =
        if is_known && !target.engine.is_embedded() { mode } else { QueryMode::Prepared };
    Ok(target)
}

/// The URL comes before options, as in libpq; with other servers, behind them.
fn of_server(
    engine: Engine,
    mut url: Keys,
    mut options: Keys,
    address: &Address,
    world: &Surroundings<'_>,
) -> Result<Target, Vec<AddressError>> {
    if engine == OWN {
        options.lay(url);
        return address::resolve(engine, options, world);
    }
    if address.url.is_some() {
        options.give(Key::Database, "-d", address.database.clone().unwrap_or_default());
    }
    url.lay(options);
    address::resolve(engine, url, world)
}

/// A file, of which no option says anything.
fn of_file(engine: Engine, url: &Keys) -> Result<Target, Vec<AddressError>> {
    let mut target = url.target(engine)?;
    target.session_setup = engine.traits().sharing.iter().map(|sql| (*sql).to_owned()).collect();
    Ok(target)
}

/// A database's name or a connection string.
fn of_name(
    text: &str,
    mut options: Keys,
    world: &Surroundings<'_>,
) -> Result<Target, Vec<AddressError>> {
    if text.contains('=') {
        options.lay(Keys::of_conninfo(text)?);
    } else {
        options.give(Key::Database, "-d", text);
    }
    address::resolve(OWN, options, world)
}

/// The errors of an address in pgbench's format.
fn refused(errors: &[AddressError]) -> UsageError {
    let lines = errors
        .iter()
        .map(|error| format!("pgbench: error: {}\npgbench: hint: {}", error.message, error.help));
    UsageError(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::{Endpoint, Tls};
    use std::path::Path;

    fn resolve_in(variables: &[(&str, &str)], address: &Address) -> Target {
        let world = Surroundings {
            variable: &|name| {
                variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            },
            secrets: &|path| match path == Path::new("/home/me/.pgpass") {
                true => Ok("h:5433:db:you:from file\n".to_owned()),
                false => Err(std::io::ErrorKind::NotFound.into()),
            },
            exists: &|_| false,
            user: &|| "me".to_owned(),
        };
        resolve(address, QueryMode::Simple, &world).expect("the address is one")
    }

    fn tcp(target: &Target) -> String {
        format!(
            "{} {} {} {}",
            target.endpoint,
            target.user,
            target.database,
            target.password.reveal()
        )
    }

    #[test]
    fn target_precedence_is_connection_string_options_environment() {
        let environment =
            [("PGHOST", "h"), ("PGPORT", "5433"), ("PGDATABASE", "db"), ("PGPASSWORD", "secret")];
        assert_eq!(tcp(&resolve_in(&environment, &Address::default())), "h:5433 me db secret");
        let address = Address {
            host: Some("other".into()),
            database: Some("x".into()),
            ..Address::default()
        };
        assert_eq!(tcp(&resolve_in(&environment, &address)), "other:5433 me x secret");
        let database = Some("host=third user=you password=p".into());
        let address = Address { database, ..address };
        assert_eq!(tcp(&resolve_in(&environment, &address)), "third:5433 you db p");
        let address =
            Address { database: Some("postgresql://u:p@u:1/d".into()), ..Address::default() };
        assert_eq!(tcp(&resolve_in(&environment, &address)), "u:1 u d p");
        assert_eq!(tcp(&resolve_in(&[], &Address::default())), "localhost:5432 me me ");
    }

    #[test]
    fn a_host_that_is_a_folder_contains_the_socket() {
        let address = Address { host: Some("/tmp".into()), ..Address::default() };
        let target = resolve_in(&[("PGPORT", "99"), ("PGSSLMODE", "require")], &address);
        assert_eq!(target.endpoint, Endpoint::Unix("/tmp/.s.PGSQL.99".into()));
        assert_eq!(target.tls, Tls::Off);
    }

    #[test]
    fn the_password_file_is_read_when_no_password_is_given() {
        let environment =
            [("HOME", "/home/me"), ("PGHOST", "h"), ("PGPORT", "5433"), ("PGUSER", "you")];
        let address = Address { database: Some("db".into()), ..Address::default() };
        assert_eq!(resolve_in(&environment, &address).password.reveal(), "from file");
    }

    #[test]
    fn session_settings_are_taken_from_the_options() {
        let options =
            "-c default_transaction_isolation=repeatable\\ read --lock-timeout=5s -cwork_mem=1MB";
        let target = resolve_in(&[("PGOPTIONS", options)], &Address::default());
        let expected = [
            "SET default_transaction_isolation = 'repeatable read'",
            "SET lock_timeout = '5s'",
            "SET work_mem = '1MB'",
        ];
        assert_eq!(target.session_setup, expected);
    }

    #[test]
    fn other_engines_are_reached_by_url() {
        let address = Address { url: Some("mysql://u:p@h:3307/d".into()), ..Address::default() };
        let target = resolve_in(&[], &address);
        assert_eq!((target.engine, tcp(&target).as_str()), (Engine::Mysql, "h:3307 u d p"));
        let address = Address { database: Some("sqlite:x.db".into()), ..Address::default() };
        assert_eq!(resolve_in(&[], &address).endpoint, Endpoint::File("x.db".into()));
    }
}
