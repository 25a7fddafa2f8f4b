//! Reads passwords from the files of the databases' client programs: `~/.pgpass` and `~/.my.cnf`.
//! From text to password; only an entry for the system is used, and only its password.

use super::surroundings::Surroundings;
use dyno_model::engine::PasswordForm;
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Engine, Target};
use std::path::{Path, PathBuf};

/// The password file of an engine's client programs.
#[must_use]
pub fn path(engine: Engine, world: &Surroundings<'_>) -> Option<PathBuf> {
    let file = engine.traits().password_file.as_ref()?;
    let named = file.variable.and_then(world.variable).map(PathBuf::from);
    named.or_else(|| Some(Path::new(&(world.variable)("HOME")?).join(file.name)))
}

/// The password for a target in a file's text.
#[must_use]
pub fn find(text: &str, target: &Target) -> Option<Secret> {
    match target.engine.traits().password_file.as_ref()?.form {
        PasswordForm::Lines => pgpass(text, target),
        PasswordForm::Groups => my_cnf(text, target),
    }
}

/// The password in a `.pgpass`: that of the first line whose fields equal those of the target or
/// `*`. PostgreSQL manual, "The Password File": `hostname:port:database:username:password`, with
/// `\:` and `\\` in fields. The password, too, ends at a colon.
fn pgpass(text: &str, target: &Target) -> Option<Secret> {
    let (host, port) = match &target.endpoint {
        Endpoint::Tcp { host, port } => (host.clone(), port.to_string()),
        // Sockets in the default folder are `localhost`, others are given by their folder.
        Endpoint::Unix(socket) => {
            let folder = socket.parent()?;
            let usual = target.engine.traits().client_defaults.socket_folder;
            let is_usual = usual.is_some_and(|usual| folder == Path::new(usual));
            let host = if is_usual { "localhost".to_owned() } else { folder.display().to_string() };
            (host, socket.extension()?.to_str()?.to_owned())
        }
        Endpoint::File(_) | Endpoint::InProcess => return None,
    };
    let wanted = [&host, &port, &target.database, &target.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        let is_meant = wanted.into_iter().all(|wanted| {
            let field;
            (field, rest) = field_of(rest).unwrap_or((rest, ""));
            !rest.is_empty() && (field == "*" || unescaped(field) == *wanted)
        });
        let password = field_of(rest).map_or(rest, |(password, _)| password);
        is_meant.then(|| Secret::new(unescaped(password)))
    })
}

/// The texts before and after the first colon without a backslash.
fn field_of(line: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = line.find(|character| {
        let is_end = character == ':' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    Some((&line[..end], &line[end + 1..]))
}

/// Removes backslash escapes.
fn unescaped(field: &str) -> String {
    let mut text = String::new();
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        text.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    text
}

/// The password of the group `[client]` of a `.my.cnf`, if its user, and its host if it has one,
/// are those of the target. Of several, the last one applies, as in MySQL's clients. Manual, "Using
/// Option Files": values may be quoted.
fn my_cnf(text: &str, target: &Target) -> Option<Secret> {
    let (mut is_client, mut user, mut host, mut password) = (false, None, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[') {
            is_client = group.trim_end_matches(']') == "client";
            continue;
        }
        let Some((name, value)) =
            line.split_once('=').filter(|_| is_client && !line.starts_with(['#', ';']))
        else {
            continue;
        };
        let value = Some(unquoted(value.trim()));
        match name.trim() {
            "user" => user = value,
            "host" => host = value,
            "password" => password = value,
            _ => {}
        }
    }
    let is_host = |host: String| match &target.endpoint {
        Endpoint::Tcp { host: own, .. } => host == *own,
        _ => host == "localhost",
    };
    let is_meant = user.as_ref() == Some(&target.user) && host.is_none_or(is_host);
    password.filter(|_| is_meant).map(Secret::new)
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    // An unquoted value may be followed by a comment.
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16, user: &str) -> Target {
        let mut target =
            Target::new(Engine::Postgres, Endpoint::Tcp { host: host.to_owned(), port });
        (target.user, target.database) = (user.to_owned(), "shop".to_owned());
        target
    }

    /// Each row: a line, and the password in it. Those that psql 15 accepts were verified by a
    /// login.
    #[test]
    fn fields_of_pgpass_are_escaped_as_in_psql() {
        let rows = [
            ("db:5433:shop:bench:plain", Some("plain")),
            ("*:*:*:*:anybody", Some("anybody")),
            ("db:5433:shop:bench:a\\:b\\\\c", Some("a:b\\c")),
            ("db:5433:shop:bench:a:b", Some("a")),
            ("\\db:5433:shop:bench:escaped", Some("escaped")),
            ("\\*:5433:shop:bench:a star", None),
            ("db:5432:shop:bench:wrong port", None),
            ("# db:5433:shop:bench:comment", None),
            ("too:few", None),
            ("db:5433:shop:bench", None),
        ];
        for (line, password) in rows {
            let found = pgpass(line, &target("db", 5433, "bench"));
            assert_eq!(found.as_ref().map(Secret::reveal), password, "{line}");
        }
    }

    #[test]
    fn the_first_matching_line_of_pgpass_applies() {
        let text = "elsewhere:*:*:*:wrong host\nlocalhost:5433:*:*:usual folder\n/run/pg:5433:*:*:folder\n*:*:*:bench:late\n";
        let found =
            |target: &Target| pgpass(text, target).map(|password| password.reveal().to_owned());
        assert_eq!(found(&target("db", 1, "bench")).as_deref(), Some("late"));
        assert_eq!(found(&target("db", 1, "root")), None);
        let socket = |folder: &str| Target {
            endpoint: Endpoint::Unix(Path::new(folder).join(".s.PGSQL.5433")),
            ..target("", 0, "u")
        };
        assert_eq!(found(&socket("/run/pg")).as_deref(), Some("folder"));
        assert_eq!(found(&socket("/var/run/postgresql")).as_deref(), Some("usual folder"));
    }

    #[test]
    fn only_the_client_group_with_this_user_and_host_applies() {
        let text = "[mysqld]\npassword = no\n[client]\nuser=bench\n; password = old\npassword = \"s3 #cret\" \n[mysql]\npassword=x\n";
        let found = |text: &str, user: &str| {
            my_cnf(text, &target("db", 3306, user)).map(|password| password.reveal().to_owned())
        };
        assert_eq!(found(text, "bench").as_deref(), Some("s3 #cret"));
        assert_eq!(found(text, "root"), None);
        let elsewhere = text.replace("user=bench", "user=bench\nhost = other.example");
        assert_eq!(found(&elsewhere, "bench"), None);
        assert_eq!(found("[client]\npassword = x\n", "bench"), None, "nobody says whose it is");
        assert_eq!(
            found("[client]\nuser = bench\npassword = x # mine\n", "bench").as_deref(),
            Some("x")
        );
    }

    #[test]
    fn each_engine_has_its_own_password_file_or_none() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
        let world = Surroundings { variable: &variable, ..Surroundings::of_process() };
        let rows = [
            (Engine::Mysql, Some(("/home/me/.my.cnf", "of groups"))),
            (Engine::Postgres, Some(("/home/me/.pgpass", "of lines"))),
            (Engine::Sqlite, None),
            (Engine::Null, None),
        ];
        let text = "[client]\nuser=bench\npassword=of groups\n*:*:*:*:of lines\n";
        for (engine, expected) in rows {
            let file = path(engine, &world).map(|file| file.display().to_string());
            let password = find(text, &Target { engine, ..target("db", 1, "bench") });
            let found = file.as_deref().zip(password.as_ref().map(Secret::reveal));
            assert_eq!(found, expected, "{engine}");
        }
    }
}
