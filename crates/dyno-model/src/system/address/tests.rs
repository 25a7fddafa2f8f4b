use super::*;
use crate::mask::masked;
use crate::target::ClientCertificate;
use proptest::prelude::*;

fn parse(url: &str) -> Result<Target, Vec<AddressError>> {
    Address::of_url(url).target()
}

fn tcp(host: &str, port: u16) -> Endpoint {
    Endpoint::Tcp { host: host.to_owned(), port }
}

fn unix(path: &str) -> Endpoint {
    Endpoint::Unix(PathBuf::from(path))
}

#[test]
fn addresses_are_read() {
    let rows = [
        (
            "mysql://bench@db.example:3307/bench",
            Engine::Mysql,
            tcp("db.example", 3307),
            "bench",
            "bench",
        ),
        ("mariadb://bench@db/b", Engine::Mysql, tcp("db", 3306), "bench", "b"),
        ("postgres://bench@db/b", Engine::Postgres, tcp("db", 5432), "bench", "b"),
        ("postgresql://a%40b@db/b%2Fc", Engine::Postgres, tcp("db", 5432), "a@b", "b/c"),
        ("mysql://bench@[::1]:3307/b", Engine::Mysql, tcp("::1", 3307), "bench", "b"),
        ("mysql://bench@[fe80::1]/b", Engine::Mysql, tcp("fe80::1", 3306), "bench", "b"),
        (
            "mysql://root@/b?socket=/run/my%20sql.sock",
            Engine::Mysql,
            unix("/run/my sql.sock"),
            "root",
            "b",
        ),
        ("mysql://root@localhost/b?socket=/run/s", Engine::Mysql, unix("/run/s"), "root", "b"),
        (
            "postgres://p@/b?socket=/run/pg",
            Engine::Postgres,
            unix("/run/pg/.s.PGSQL.5432"),
            "p",
            "b",
        ),
        (
            "postgres://p@:5433/b?socket=/run/pg",
            Engine::Postgres,
            unix("/run/pg/.s.PGSQL.5433"),
            "p",
            "b",
        ),
        ("postgres://p@/b?socket=/r/.s.PGSQL.1", Engine::Postgres, unix("/r/.s.PGSQL.1"), "p", "b"),
        ("postgres://u@%2Frun%2Fpg:7/b", Engine::Postgres, unix("/run/pg/.s.PGSQL.7"), "u", "b"),
        ("postgres://u@a:1,b:2/d", Engine::Postgres, tcp("a", 1), "u", "d"),
        ("postgres:///d?host=h&port=7&user=u", Engine::Postgres, tcp("h", 7), "u", "d"),
        ("sqlite:bench.db", Engine::Sqlite, Endpoint::File(PathBuf::from("bench.db")), "", ""),
        ("sqlite:///tmp/b.db", Engine::Sqlite, Endpoint::File(PathBuf::from("/tmp/b.db")), "", ""),
        ("jdbc:postgresql://h:7/d?user=u", Engine::Postgres, tcp("h", 7), "u", "d"),
        (
            "jdbc:mysql://h/d?user=u&useSSL=false&useUnicode=true",
            Engine::Mysql,
            tcp("h", 3306),
            "u",
            "d",
        ),
        ("jdbc:mariadb://u@h/d", Engine::Mysql, tcp("h", 3306), "u", "d"),
        ("jdbc:sqlite:bench.db", Engine::Sqlite, Endpoint::File(PathBuf::from("bench.db")), "", ""),
        ("host=h dbname=d user=u", Engine::Postgres, tcp("h", 5432), "u", "d"),
        (
            " dbname = 'a b' port=7 user=u host=/run/pg",
            Engine::Postgres,
            unix("/run/pg/.s.PGSQL.7"),
            "u",
            "a b",
        ),
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

/// Each row: parameters, and their meaning in MySQL and PostgreSQL.
#[test]
fn encryption_goes_by_the_names_of_both_worlds() {
    let verify = |ca: &str| Tls::Verify { ca: Some(ca.into()) };
    let authority = |ca: &str| Tls::VerifyAuthority { ca: Some(ca.into()) };
    let rows = [
        ("tls=off", Tls::Off),
        ("sslmode=disable", Tls::Off),
        ("ssl-mode=DISABLED&ssl-ca=x", Tls::Off),
        ("sslmode=allow", Tls::Off),
        ("ssl=false", Tls::Off),
        ("sslmode=prefer", Tls::Preferred),
        ("ssl-mode=PREFERRED", Tls::Preferred),
        ("tls=required", Tls::Required),
        ("sslmode=require", Tls::Required),
        ("ssl_mode=REQUIRED", Tls::Required),
        ("sslMode=REQUIRED", Tls::Required),
        ("ssl=true", Tls::Required),
        ("tls=skip-verify", Tls::Required),
        ("sslmode=require&sslrootcert=ca.pem", authority("ca.pem")),
        ("sslmode=verify-ca&sslrootcert=ca.pem", authority("ca.pem")),
        ("ssl-mode=VERIFY_CA&ssl-ca=ca.pem", authority("ca.pem")),
        ("sslmode=verify-ca", Tls::VerifyAuthority { ca: None }),
        ("tls=verify&ca=/etc/ca.pem", verify("/etc/ca.pem")),
        ("ca=ca.pem&tls=verify", verify("ca.pem")),
        ("sslmode=verify-full&sslrootcert=ca.pem", verify("ca.pem")),
        ("ssl_mode=VERIFY_IDENTITY&ssl_ca=ca.pem", verify("ca.pem")),
        ("sslmode=verify-full&sslrootcert=system", verify("system")),
        ("sslmode=verify-full", Tls::Verify { ca: None }),
        ("tls=true", Tls::Verify { ca: None }),
    ];
    for (query, expected) in rows {
        for scheme in ["mysql", "postgres"] {
            let tls = parse(&format!("{scheme}://u@h/d?{query}")).map(|target| target.tls);
            assert_eq!(tls, Ok(expected.clone()), "{scheme} {query}");
        }
    }
    let socket = |scheme: &str, mode: &str| {
        parse(&format!("{scheme}://u@/d?socket=/s&sslmode={mode}")).map(|target| target.tls)
    };
    assert_eq!(socket("mysql", "require"), Ok(Tls::Required));
    assert_eq!(socket("mysql", "prefer"), Ok(Tls::Off));
    assert_eq!(socket("postgres", "prefer"), Ok(Tls::Off));
    assert!(socket("postgres", "require").is_err());
}

#[test]
fn a_url_may_hold_what_a_provider_writes_into_it() {
    let target = parse(
        "postgresql://a%40b:p%3A%2Fw@db.example:25060/shop?sslmode=require&channel_binding=prefer&connect_timeout=7\
         &sslcert=c.pem&sslkey=k.pem&options=-c%20work_mem%3D1MB&application_name=it%27s",
    )
    .unwrap();
    assert_eq!((target.user.as_str(), target.password.reveal()), ("a@b", "p:/w"));
    assert_eq!(target.connect_timeout, Duration::from_secs(7));
    let expected = ClientCertificate { certificate: "c.pem".into(), key: "k.pem".into() };
    assert_eq!(target.client_certificate, Some(expected));
    assert_eq!(target.session_setup, ["SET work_mem = '1MB'", "SET application_name = 'it''s'"]);
    let target = parse("mysql://avnadmin:pw@db.example:25060/defaultdb?ssl-mode=REQUIRED").unwrap();
    assert_eq!((target.password.reveal(), target.tls), ("pw", Tls::Required));
}

#[test]
fn connection_strings_may_be_quoted_and_escaped() {
    let target = |text: &str| Keys::of_conninfo(text)?.target(Engine::Postgres);
    let read =
        target(r"host = h port=5433 user='a b' password='it\'s \\' dbname=x\ y sslmode=require")
            .unwrap();
    assert_eq!(
        (read.endpoint, read.user.as_str(), read.database.as_str()),
        (tcp("h", 5433), "a b", "x y")
    );
    assert_eq!((read.password.reveal(), read.tls), (r"it's \", Tls::Required));
    for (text, message) in [
        ("host", "missing \"=\" after \"host\" in connection info string"),
        ("host='x", "unterminated quoted string in connection info string"),
        ("host=h sslmod=require", "unknown parameter `sslmod`"),
        ("host=h host=i", "parameter `host` is given twice"),
    ] {
        assert_eq!(target(text).unwrap_err()[0].message, message, "{text}");
    }
}

#[test]
fn settings_become_statements_and_other_options_are_refused() {
    let setup = |options: &str| {
        let mut keys = Keys::default();
        keys.give(Key::Host, "-h", "h");
        keys.give(Key::Options, "PGOPTIONS", options);
        keys.target(Engine::Postgres).map(|target| target.session_setup)
    };
    let options =
        "-c default_transaction_isolation=repeatable\\ read --lock-timeout=5s -cwork_mem=1MB";
    let expected = [
        "SET default_transaction_isolation = 'repeatable read'",
        "SET lock_timeout = '5s'",
        "SET work_mem = '1MB'",
    ];
    assert_eq!(setup(options), Ok(expected.map(str::to_owned).to_vec()));
    assert!(setup("-d 5").is_err_and(|errors| errors[0].message.contains("\"-d\" (PGOPTIONS)")));
}

/// Each row: address, marked part, message.
#[test]
fn address_errors_point_at_the_faulty_part() {
    let rows = [
        ("db.example", "db.example", "this is not an address: the scheme is missing"),
        ("mysqll://u@h/d", "mysqll", "unknown scheme `mysqll`"),
        ("mysql:u@h/d", "u@h/d", "`//` is missing after the scheme"),
        ("mysql://h/d", "h/d", "the address names no user"),
        ("mysql://u@h", "h", "the address names no database"),
        ("mysql://u@h/", "h/", "the address names no database"),
        ("mysql://u@/d", "", "the address names no host"),
        ("mysql://u@h/a/b", "/b", "a database name cannot contain `/`"),
        ("mysql://u@h:0/d", "0", "`0` is not a port"),
        ("mysql://u@h:99999/d", "99999", "`99999` is not a port"),
        ("mysql://u@h:/d", "", "`` is not a port"),
        ("mysql://u@::1/d", "::1", "the host contains more than one colon"),
        ("mysql://u@[::1/d", "[::1", "the bracket is not closed"),
        ("mysql://u@[::x]/d", "::x", "`::x` is not an IPv6 address"),
        ("mysql://u@[::1]3306/d", "3306", "only a port may follow the bracket"),
        ("mysql://u@h/d?tsl=off", "tsl", "unknown parameter `tsl`"),
        ("mysql://u@h/d?tls=maybe", "tls=maybe", "`tls` cannot be `maybe`"),
        ("mysql://u@h/d?ssl=verify-full", "ssl=verify-full", "`ssl` cannot be `verify-full`"),
        ("mysql://u@h/d?ca=x", "ca=x", "`ca` has no effect without an encryption mode"),
        (
            "mysql://u@h/d?tls=off&sslmode=require",
            "sslmode=require",
            "parameters `tls` and `sslmode` set the same option",
        ),
        (
            "mysql://u@h/d?sslmode=prefer&ca=x",
            "sslmode=prefer",
            "`sslmode=prefer` checks no certificate",
        ),
        (
            "mysql://u@h/d?options=x",
            "options",
            "parameter `options` is not for mysql, only for postgres",
        ),
        (
            "postgres://u@h/d?channel_binding=always",
            "channel_binding=always",
            "`channel_binding` cannot be `always`",
        ),
        (
            "postgres://u@h/d?target_session_attrs=master",
            "target_session_attrs=master",
            "`target_session_attrs` cannot be `master`",
        ),
        (
            "postgres://u@h/d?sslmode=prefer&sslnegotiation=direct",
            "sslnegotiation=direct",
            "`sslnegotiation=direct` needs encryption",
        ),
        ("postgres://u@a:1,b:x/d", "x", "`x` is not a port"),
        (
            "mysql://u@a,b/d?target_session_attrs=any",
            "target_session_attrs",
            "parameter `target_session_attrs` is not for mysql, only for postgres",
        ),
        ("postgres://u@h/d?sslcert=x", "sslcert=x", "`sslcert` needs its key (`sslkey`)"),
        (
            "postgres://u@h/d?connect_timeout=2s",
            "connect_timeout=2s",
            "`connect_timeout` cannot be `2s`",
        ),
        (
            "postgres://u@h/d?sslmode=verify-ca&sslrootcert=system",
            "sslmode=verify-ca",
            "`sslmode=verify-ca` with the system's certificate authorities accepts every server \
             that has a certificate from one of them",
        ),
        ("mysql://u@h/d?tls=off&tls=off", "tls=off", "parameter `tls` is given twice"),
        ("mysql://u@h/d?socket", "socket", "parameter `socket` has no value"),
        ("mysql://u@h/d?socket=/s", "socket=/s", "host and `socket` cannot both be given"),
        ("mysql://u%4@h/d", "u%4", "invalid percent-encoding"),
        ("mysql://u%ff@h/d", "u%ff", "invalid percent-encoding"),
        ("sqlite:", "", "the address names no file"),
        ("sqlite://file", "//file", "`sqlite://` needs an absolute path"),
        ("sqlite::memory:", ":memory:", "clients cannot share an in-memory database"),
    ];
    for (text, part, message) in rows {
        let errors = parse(text).expect_err(text);
        let [error] = errors.as_slice() else { panic!("{text}: {errors:?}") };
        assert_eq!((&text[error.range.clone()], error.message.as_str()), (part, message), "{text}");
        assert!(!error.help.is_empty() && !error.is_password, "{text}");
    }
}

#[test]
fn several_hosts_and_the_wanted_state_of_their_servers_are_read() {
    let rows: [(&str, &[(&str, u16)]); 6] = [
        ("postgres://u@a:1,b:2,[::1]/d", &[("a", 1), ("b", 2), ("::1", 5432)]),
        ("postgres://u@a,b:2/d", &[("a", 5432), ("b", 2)]),
        ("host=a,b port=1,2 user=u dbname=d", &[("a", 1), ("b", 2)]),
        ("host=a,b port=7 user=u dbname=d", &[("a", 7), ("b", 7)]),
        (
            "host=x,y hostaddr=127.0.0.1,127.0.0.2 user=u dbname=d",
            &[("127.0.0.1", 5432), ("127.0.0.2", 5432)],
        ),
        ("postgres://u@a/d", &[("a", 5432)]),
    ];
    for (text, expected) in rows {
        let target = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let all: Vec<_> =
            std::iter::once(target.endpoint).chain(target.options.alternatives).collect();
        let expected: Vec<_> = expected.iter().map(|(host, port)| tcp(host, *port)).collect();
        assert_eq!(all, expected, "{text}");
    }
    assert!(parse("host=a,b,c port=1,2 user=u dbname=d").is_err());
    let target = parse(
        "postgres://u@a,b/d?target_session_attrs=read-write&channel_binding=require\
         &sslmode=require&sslnegotiation=direct&max_protocol_version=latest",
    )
    .unwrap();
    assert_eq!(target.options.wanted_state, ServerState::ReadWrite);
    assert_eq!(target.options.channel_binding, ChannelBinding::Require);
    assert!(target.options.has_direct_tls && target.options.offers_protocol_3_2);
}

/// Each row: address, and the part that is taken for a password.
#[test]
fn a_password_that_spills_over_is_refused_and_never_repeated() {
    for (text, part) in [
        ("postgres://u:hunter2/x@h/d", "hunter2/x"),
        ("mysql://u:hunter2?x@h:0", "hunter2?x"),
        ("mysql://u:hunter2/x@h/d?tsl=off", "hunter2/x"),
        ("mysql://u:hunter2@a/b@h/d", "hunter2@a/b"),
        ("mysql://u:hunter%zz@h/d", "hunter%zz"),
    ] {
        let errors = parse(text).expect_err(text);
        let [error] = errors.as_slice() else { panic!("{text}: {errors:?}") };
        assert!(error.is_password, "{text}");
        assert_eq!(&text[error.range.clone()], part, "{text}");
        assert!(!error.message.contains("hunter") && !error.help.contains("hunter"), "{text}");
    }
    assert_eq!(parse("mysql://u:p@@h/d").unwrap().password.reveal(), "p@");
    let address = Address::of_url("mysql://u:hunter2@h/d?tls=maybe");
    assert!(!format!("{address:?} {:?}", address.target()).contains("hunter"));
}

/// Each row: address, and each marked part with its message.
#[test]
fn all_mistakes_of_an_address_are_reported_at_once() {
    let rows: [(&str, &[(&str, &str)]); 9] = [
        (
            "mysql://u@h:99999/d?tsl=off",
            &[("99999", "`99999` is not a port"), ("tsl", "unknown parameter `tsl`")],
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
                ("u%4", "invalid percent-encoding"),
                ("/b", "a database name cannot contain `/`"),
                ("tls=maybe", "`tls` cannot be `maybe`"),
            ],
        ),
        ("postgres://u:hunter2@h:x/d", &[("x", "`x` is not a port")]),
        (
            "jdbc:sqlserver://h/d",
            &[("sqlserver", "unknown scheme `sqlserver`"), ("h/d", "the address names no user")],
        ),
        (
            "host=h password=hunter2",
            &[
                ("host=h password=hunter2", "the address names no user"),
                ("host=h password=hunter2", "the address names no database"),
            ],
        ),
        (
            "sqlite://:memory:?mode=ro",
            &[
                ("//:memory:", "`sqlite://` needs an absolute path"),
                (":memory:", "clients cannot share an in-memory database"),
                ("mode=ro", "`sqlite:` takes no parameters"),
            ],
        ),
    ];
    for (text, expected) in rows {
        let errors = parse(text).expect_err(text);
        let found: Vec<(&str, &str)> = errors
            .iter()
            .map(|error| (&text[error.range.clone()], error.message.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_url_without_its_password_is_still_one() {
    for (url, without) in [
        ("postgres://me:hunter2@h/d", Some("postgres://me@h/d")),
        ("mysql://me:a%40b@h:3307/d?tls=required", Some("mysql://me@h:3307/d?tls=required")),
        ("postgres://h/d?user=me&password=hunter2", Some("postgres://h/d?user=me")),
        ("postgres://h/d?password=hunter2&user=me", Some("postgres://h/d?user=me")),
        ("postgres://me@h/d?password=hunter2", Some("postgres://me@h/d")),
        ("jdbc:postgresql://h/d?user=me&password=hunter2", Some("jdbc:postgresql://h/d?user=me")),
        ("host=h password='hunter 2' user=me dbname=d", Some("host=h user=me dbname=d")),
        ("password=hunter2 host=h user=me dbname=d", Some("host=h user=me dbname=d")),
        ("host=h user=me dbname=d password=hunter2", Some("host=h user=me dbname=d")),
        ("postgres://me@h/d", None),
        ("sqlite:shop.db", None),
    ] {
        assert_eq!(Address::of_url(url).without_password(url).as_deref(), without, "{url}");
    }
}

proptest! {
    /// In any context, no error contains a password, and nothing panics.
    #[test]
    fn no_error_ever_says_a_password(
        scheme in "(mysql|postgres|postgresql|myqsl)",
        before in "[/?@:%#&=a]{0,4}",
        behind in "[/?@:%#&=a]{0,4}",
        rest in "(h|h:1|\\[::1\\]|h,i|)(/d|/|)(\\?|\\?tls=x|\\?tsl=off&a|\\?socket=/s)?",
    ) {
        let url = format!("{scheme}://u:{before}hunter2{behind}@{rest}");
        for error in parse(&url).err().unwrap_or_default() {
            prop_assert!(!format!("{error:?}").contains("hunter2"), "{url}: {error:?}");
        }
        prop_assert!(!masked(&url).contains("hunter2"), "{url}");
    }

    #[test]
    fn any_text_is_an_address_or_an_error(text in "(mysql|sqlite|null|postgres|x)?(:|://)?\\PC{0,30}") {
        let address = Address::of_url(&text);
        let _ = (address.target(), address.into_keys(), Keys::of_conninfo(&text), masked(&text));
    }
}
