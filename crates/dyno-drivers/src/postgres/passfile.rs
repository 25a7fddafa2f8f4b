//! PostgreSQL's password file: lines of `host:port:database:user:password`, `*` for anything.

use dyno_model::secret::Secret;

/// What a connection is for; the fields that lines are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Host as it was given; `localhost` for a socket in its usual folder.
    pub host: &'a str,
    /// Port.
    pub port: &'a str,
    /// Database.
    pub database: &'a str,
    /// User.
    pub user: &'a str,
}

/// The password of the first line that fits.
#[must_use]
pub fn find(file: &str, wanted: &Wanted<'_>) -> Option<Secret> {
    let wanted = [wanted.host, wanted.port, wanted.database, wanted.user];
    file.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let (password, patterns) = fields.split_last()?;
        let fits = |(pattern, value): (&String, &&str)| pattern == "*" || pattern == value;
        (patterns.len() == wanted.len() && patterns.iter().zip(&wanted).all(fits))
            .then(|| Secret::new(password.clone()))
    })
}

/// The fields of a line; a backslash takes a colon or a backslash into its field.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.last_mut().expect("there is always a field");
        match character {
            '\\' => last.extend(characters.next()),
            ':' => fields.push(String::new()),
            other => last.push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# comment:*:*:*:x\nother:5432:*:*:wrong\n*:5432:db:me:se\\:cr\\\\et\n*:*:*:*:last\n";
        let password = |host, user| {
            let wanted = Wanted { host, port: "5432", database: "db", user };
            find(file, &wanted).map(|secret| secret.reveal().to_owned())
        };
        assert_eq!(password("localhost", "me"), Some("se:cr\\et".to_owned()));
        assert_eq!(password("other", "me"), Some("wrong".to_owned()));
        assert_eq!(password("localhost", "you"), Some("last".to_owned()));
    }
}
