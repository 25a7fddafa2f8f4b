use super::*;

#[test]
fn loopback_sockets_and_files_are_on_this_machine_and_others_are_not() {
    let tcp = |host: &str| Endpoint::Tcp { host: host.to_owned(), port: 3306 };
    for endpoint in [
        tcp("127.0.0.1"),
        tcp("127.8.8.8"),
        tcp("::1"),
        tcp("localhost"),
        Endpoint::Unix("/x".into()),
        Endpoint::InProcess,
    ] {
        assert!(shares_machine(&endpoint), "{endpoint}");
    }
    // Documentation addresses (RFC 5737) are not assigned.
    assert!(!shares_machine(&tcp("192.0.2.1")));
    assert!(!shares_machine(&tcp("no-such-host.invalid")));
}

/// Each row: an engine, the values in its variable and its file, and the password that its own
/// client programs send then.
#[test]
fn missing_password_is_read_from_native_client_sources() {
    let rows = [
        (Engine::Postgres, "of variable", "h:1:d:me:of file", "of variable"),
        (Engine::Postgres, "", "h:1:d:me:of file", "of file"),
        (Engine::Postgres, "", "other:1:d:me:of file", ""),
        (Engine::Mysql, "of variable", "", "of variable"),
        (Engine::Mysql, "of variable", "[client]\nuser=me\npassword=of file", "of file"),
        (Engine::Mysql, "of variable", "[client]\nuser=you\npassword=of file", "of variable"),
        (Engine::Sqlite, "of variable", "", ""),
    ];
    for (engine, variable, file, expected) in rows {
        let variables = |name: &str| match name {
            "HOME" => Some("/home/me".to_owned()),
            "PGPASSWORD" | "MYSQL_PWD" => Some(variable.to_owned()),
            _ => None,
        };
        let secrets = |_: &Path| Ok(file.to_owned());
        let world =
            Surroundings { variable: &variables, secrets: &secrets, ..Surroundings::of_process() };
        let mut target = Target::new(engine, Endpoint::Tcp { host: "h".to_owned(), port: 1 });
        (target.user, target.database) = ("me".to_owned(), "d".to_owned());
        assert_eq!(
            usual_password(&target, &world).reveal(),
            expected,
            "{engine} {variable} {file}"
        );
    }
}
