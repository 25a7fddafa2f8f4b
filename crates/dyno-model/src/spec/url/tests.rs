use super::*;

fn tcp(host: &str, port: u16) -> Endpoint {
    Endpoint::Tcp { host: host.to_owned(), port }
}

fn unix(path: &str) -> Endpoint {
    Endpoint::Unix(PathBuf::from(path))
}

#[test]
fn addresses_are_read() {
    let rows = [
        ("mysql://bench@db.example:3307/bench", Engine::Mysql, tcp("db.example", 3307), "bench", "bench"),
        ("mariadb://bench@db/b", Engine::Mysql, tcp("db", 3306), "bench", "b"),
        ("postgres://bench@db/b", Engine::Postgres, tcp("db", 5432), "bench", "b"),
        ("postgresql://a%40b@db/b%2Fc", Engine::Postgres, tcp("db", 5432), "a@b", "b/c"),
        ("mysql://bench@[::1]:3307/b", Engine::Mysql, tcp("::1", 3307), "bench", "b"),
        ("mysql://bench@[fe80::1]/b", Engine::Mysql, tcp("fe80::1", 3306), "bench", "b"),
        ("mysql://root@/b?socket=/run/my%20sql.sock", Engine::Mysql, unix("/run/my sql.sock"), "root", "b"),
        ("mysql://root@localhost/b?socket=/run/s", Engine::Mysql, unix("/run/s"), "root", "b"),
        ("postgres://p@/b?socket=/run/pg", Engine::Postgres, unix("/run/pg/.s.PGSQL.5432"), "p", "b"),
        ("postgres://p@:5433/b?socket=/run/pg", Engine::Postgres, unix("/run/pg/.s.PGSQL.5433"), "p", "b"),
        ("postgres://p@/b?socket=/r/.s.PGSQL.1", Engine::Postgres, unix("/r/.s.PGSQL.1"), "p", "b"),
        ("sqlite:bench.db", Engine::Sqlite, Endpoint::File(PathBuf::from("bench.db")), "", ""),
        ("sqlite:///tmp/b.db", Engine::Sqlite, Endpoint::File(PathBuf::from("/tmp/b.db")), "", ""),
        ("null:", Engine::Null, Endpoint::InProcess, "", ""),
        (
            "null:rows=10,fail=deadlock:0.1",
            Engine::Null,
            Endpoint::InProcess,
            "",
            "rows=10,fail=deadlock:0.1",
        ),
        ("mysql://데이터@호스트/비", Engine::Mysql, tcp("호스트", 3306), "데이터", "비"),
    ];
    for (text, engine, endpoint, user, database) in rows {
        let url = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!((url.engine, &url.endpoint), (engine, &endpoint), "{text}");
        assert_eq!((url.user.as_str(), url.database.as_str()), (user, database), "{text}");
        assert_eq!(url.tls, Tls::Off, "{text}");
    }
}

#[test]
fn encryption_is_a_parameter() {
    let tls = |query: &str| parse(&format!("mysql://u@h/d?{query}")).map(|url| url.tls);
    assert_eq!(tls("tls=off"), Ok(Tls::Off));
    assert_eq!(tls("tls=required"), Ok(Tls::Required));
    assert_eq!(tls("tls=verify&ca=/etc/ca.pem"), Ok(Tls::Verify { ca: PathBuf::from("/etc/ca.pem") }));
    assert_eq!(tls("ca=ca.pem&tls=verify"), Ok(Tls::Verify { ca: PathBuf::from("ca.pem") }));
}

/// Each row: address, part that is pointed at, message.
#[test]
fn what_is_wrong_with_an_address_is_pointed_at() {
    let rows = [
        ("db.example", "db.example", "this is not an address: it has no scheme"),
        ("mysqll://u@h/d", "mysqll", "unknown scheme `mysqll`"),
        ("mysql:u@h/d", "u@h/d", "`//` is missing after the scheme"),
        ("mysql://h/d", "h/d", "the address names no user"),
        ("mysql://u@h", "h", "the address names no database"),
        ("mysql://u@h/", "h/", "the address names no database"),
        ("mysql://u@/d", "", "the address names no host"),
        ("mysql://u@h/a/b", "/b", "a database's name holds no `/`"),
        ("mysql://u@h:0/d", "0", "`0` is not a port"),
        ("mysql://u@h:99999/d", "99999", "`99999` is not a port"),
        ("mysql://u@h:/d", "", "`` is not a port"),
        ("mysql://u@::1/d", "::1", "this host has more than one colon"),
        ("mysql://u@[::1/d", "[::1", "the bracket is not closed"),
        ("mysql://u@[::x]/d", "::x", "`::x` is not an IPv6 address"),
        ("mysql://u@[::1]3306/d", "3306", "only a port may follow the bracket"),
        ("mysql://u@h/d?tsl=off", "tsl", "unknown parameter `tsl`"),
        ("mysql://u@h/d?tls=maybe", "tls=maybe", "`tls` cannot be `maybe`"),
        (
            "mysql://u@h/d?tls=verify",
            "tls=verify",
            "`tls=verify` needs the file of the certificate authorities",
        ),
        ("mysql://u@h/d?ca=x", "ca=x", "`ca` belongs to `tls=verify`"),
        ("mysql://u@h/d?tls=off&tls=off", "tls=off", "parameter `tls` is given twice"),
        ("mysql://u@h/d?socket", "socket", "parameter `socket` has no value"),
        ("mysql://u@h/d?socket=/s", "socket=/s", "host and `socket` cannot both be given"),
        ("mysql://u%4@h/d", "u%4", "the percent-encoding is broken"),
        ("mysql://u%ff@h/d", "u%ff", "the percent-encoding is broken"),
        ("sqlite:", "", "the address names no file"),
        ("sqlite://file", "//file", "`sqlite://` needs an absolute path"),
        ("sqlite::memory:", ":memory:", "a database in memory cannot be shared by clients"),
    ];
    for (text, part, message) in rows {
        let errors = parse(text).expect_err(text);
        let [error] = errors.as_slice() else { panic!("{text}: {errors:?}") };
        assert_eq!((&text[error.range.clone()], error.message.as_str()), (part, message), "{text}");
        assert!(!error.help.is_empty() && !error.is_password, "{text}");
    }
}

#[test]
fn a_password_is_refused_and_never_repeated() {
    for text in [
        "mysql://u:hunter2@h/d",
        "postgres://u:hunter2/x@h/d",
        "mysql://u:hunter2@@h/d?tls=off",
        "mysql://u:hunter2?x@h:0",
    ] {
        let errors = parse(text).expect_err(text);
        let [error] = errors.as_slice() else { panic!("{text}: {errors:?}") };
        assert!(error.is_password, "{text}");
        assert!(text[error.range.clone()].starts_with("hunter2"), "{text}");
        assert!(!error.message.contains("hunter") && !error.help.contains("hunter"), "{text}");
        assert!(error.help.contains("password_env"), "{text}");
    }
}

/// Each row: address, and each part that is pointed at with its message.
#[test]
fn all_mistakes_of_an_address_are_told_at_once() {
    let rows: [(&str, &[(&str, &str)]); 7] = [
        (
            "mysql://u@h:99999/d?tsl=off",
            &[("tsl", "unknown parameter `tsl`"), ("99999", "`99999` is not a port")],
        ),
        (
            "mysql://h:0",
            &[
                ("h:0", "the address names no user"),
                ("h:0", "the address names no database"),
                ("0", "`0` is not a port"),
            ],
        ),
        ("mysqll://u@h:0/d", &[("mysqll", "unknown scheme `mysqll`"), ("0", "`0` is not a port")]),
        ("mysqll:x", &[("mysqll", "unknown scheme `mysqll`")]),
        (
            "mysql://u%4@h/a/b?tls=maybe",
            &[
                ("u%4", "the percent-encoding is broken"),
                ("/b", "a database's name holds no `/`"),
                ("tls=maybe", "`tls` cannot be `maybe`"),
            ],
        ),
        (
            "postgres://u:hunter2@h:x/d",
            &[("hunter2", "an address must not hold a password"), ("x", "`x` is not a port")],
        ),
        (
            "sqlite://:memory:?mode=ro",
            &[
                ("//:memory:", "`sqlite://` needs an absolute path"),
                (":memory:", "a database in memory cannot be shared by clients"),
                ("mode=ro", "`sqlite:` takes no parameters"),
            ],
        ),
    ];
    for (text, expected) in rows {
        let errors = parse(text).expect_err(text);
        let found: Vec<(&str, &str)> =
            errors.iter().map(|error| (&text[error.range.clone()], error.message.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }
}
