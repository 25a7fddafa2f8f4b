use super::*;
use dyno_model::target::Engine;

fn given(text: &str) -> ScriptText {
    ScriptText {
        name: "dump".to_owned(),
        weight: 1,
        think: None,
        text: text.to_owned(),
        file: None,
    }
}

/// The sent units, rows after a COPY in brackets; or the error.
fn sent(text: &str, engine: Engine) -> Result<Vec<String>, String> {
    let (given, mut all) = (given(text), Vec::new());
    let mut pieces = Pieces::new(&given, text, engine.dialect().syntax);
    while let Some(piece) = pieces.next()? {
        all.push(match piece {
            Piece::Statement(sql) => sql,
            Piece::Copy(sql, rows) => format!("{sql} [{rows}]"),
        });
    }
    Ok(all)
}

#[test]
fn a_dump_of_postgresql_is_sent_as_by_psql() {
    let dump = "--\n-- PostgreSQL database dump\n--\n\n\\restrict Xy5\n\nSET statement_timeout = 0;\n\
                CREATE FUNCTION public.f() RETURNS trigger\n    AS $$ BEGIN NEW.a := ';'; RETURN NEW; END $$;\n\n\
                COPY public.t (id, note) FROM stdin;\n1\ta;b -- c\n2\t\\N\n3\t\\\\.\n\\.\n\n\n\
                COPY public.empty (id) FROM stdin;\n\\.\n\n\
                SELECT pg_catalog.setval('public.t_id_seq', 3, true);\nCREATE INDEX i ON t USING btree ((x[1:2]));\n\\unrestrict Xy5\n";
    let expected = [
        "SET statement_timeout = 0;",
        "CREATE FUNCTION public.f() RETURNS trigger\n    AS $$ BEGIN NEW.a := ';'; RETURN NEW; END $$;",
        "COPY public.t (id, note) FROM stdin; [1\ta;b -- c\n2\t\\N\n3\t\\\\.\n]",
        "COPY public.empty (id) FROM stdin; []",
        "SELECT pg_catalog.setval('public.t_id_seq', 3, true);",
        "CREATE INDEX i ON t USING btree ((x[1:2]));",
    ];
    assert_eq!(sent(dump, Engine::Postgres), Ok(expected.map(str::to_owned).to_vec()));
    let cut_off = sent("COPY t (id) FROM stdin;\n1\n2\n", Engine::Postgres);
    assert!(cut_off.as_ref().is_err_and(|error| error.contains("may be truncated")), "{cut_off:?}");
}

#[test]
fn a_dump_of_the_mysql_family_is_sent_without_client_commands() {
    let dump = "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n/*!40101 SET NAMES utf8mb4 */;\n\
                SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'a-b:1-5';\nSET @@SESSION.SQL_LOG_BIN= 0;\n\
                INSERT INTO `t` VALUES (1,'a\\';\\\\'),(2,';# --');\n\
                DELIMITER ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=`me`@`%`*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; END */;;\n\
                CREATE DEFINER=`me`@`localhost` PROCEDURE p()\nBEGIN SELECT ';;'; IF 1 THEN SELECT 2; END IF; END ;;\nDELIMITER ;\n\
                /*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=`me`@`localhost` SQL SECURITY DEFINER */\n/*!50001 VIEW `v` AS select 1 */;\n";
    let expected = [
        "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n/*!40101 SET NAMES utf8mb4 */;",
        "INSERT INTO `t` VALUES (1,'a\\';\\\\'),(2,';# --');",
        "/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; END */",
        "CREATE  PROCEDURE p()\nBEGIN SELECT ';;'; IF 1 THEN SELECT 2; END IF; END ",
        "/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013  SQL SECURITY DEFINER */\n/*!50001 VIEW `v` AS select 1 */;",
    ];
    assert_eq!(sent(dump, Engine::Mysql), Ok(expected.map(str::to_owned).to_vec()));
}

#[test]
fn routines_need_no_delimiter_command() {
    let body = "CREATE TRIGGER x AFTER INSERT ON t BEGIN UPDATE t SET a = CASE a WHEN 1 THEN 2 ELSE 3 END; DELETE FROM u; END;";
    for engine in [Engine::Sqlite, Engine::Mysql] {
        assert_eq!(
            sent(&format!("{body}\nSELECT 1;"), engine),
            Ok(vec![body.to_owned(), "SELECT 1;".to_owned()])
        );
    }
    let body = "CREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; WHILE 0 DO SELECT 2; END WHILE; END;";
    assert_eq!(sent(body, Engine::Mysql), Ok(vec![body.to_owned()]));
}

#[test]
fn setup_rejects_other_databases_and_client_commands() {
    let elsewhere = "refers to another database";
    for (text, engine, expected) in [
        ("USE shop;", Engine::Mysql, elsewhere),
        ("use `shop`;", Engine::Mysql, elsewhere),
        ("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;", Engine::Mysql, elsewhere),
        ("/*!40000 DROP DATABASE IF EXISTS `shop`*/;", Engine::Mysql, elsewhere),
        ("DROP SCHEMA shop;", Engine::Mysql, elsewhere),
        ("CREATE DATABASE shop;", Engine::Postgres, elsewhere),
        ("\\connect shop\n", Engine::Postgres, elsewhere),
        ("\\c shop\n", Engine::Postgres, elsewhere),
        ("\\set x 1\n", Engine::Postgres, "without variables and backslash commands"),
        (
            "INSERT INTO t VALUES (:x);",
            Engine::Postgres,
            "\"INSERT INTO t VALUES (:x);\": it is sent as it stands",
        ),
        ("CREATE SCHEMA shop;", Engine::Postgres, ""),
        ("CREATE TABLE uses (id int);", Engine::Mysql, ""),
    ] {
        let refused = sent(text, engine).err().unwrap_or_default();
        assert!(refused.contains(expected), "{text}: {refused}");
        assert_eq!(refused.is_empty(), expected.is_empty(), "{text}: {refused}");
    }
}

#[test]
fn only_statements_about_roles_and_settings_of_a_dump_may_fail() {
    for (statement, expected) in [
        ("ALTER TABLE public.t OWNER TO shop;", true),
        ("GRANT SELECT ON TABLE public.t TO shop;", true),
        ("ALTER DEFAULT PRIVILEGES FOR ROLE a GRANT ALL ON TABLES TO b;", true),
        ("COMMENT ON EXTENSION plpgsql IS 'x';", true),
        ("SET transaction_timeout = 0;", true),
        ("ALTER TABLE ONLY public.t ADD CONSTRAINT t_pkey PRIMARY KEY (id);", false),
        ("CREATE INDEX i ON t (nowhere);", false),
        ("CREATE EXTENSION IF NOT EXISTS hstore;", false),
    ] {
        assert_eq!(may_fail(statement), expected, "{statement}");
    }
}

#[test]
fn a_text_that_stays_in_its_file_must_be_unchanged_when_it_is_sent() {
    let text = "CREATE TABLE t (id int);";
    let file = ScriptFile { path: "dump.sql".into(), checksum: checksum(text.as_bytes()) };
    assert_eq!(checked(text.into(), &file).as_deref(), Ok(text));
    let changed = checked("CREATE TABLE t (id bigint);".into(), &file).expect_err("it is another");
    assert_eq!(changed, "the setup dump.sql has changed since the run was planned");
    let setup =
        |file| Setup::new(&[ScriptText { file: Some(file), ..given("") }], Syntax::POSTGRES);
    let other = ScriptFile { checksum: "0".to_owned(), ..file.clone() };
    let prints = [setup(file), setup(other)]
        .map(|setup| setup.expect("it is looked at later").fingerprint());
    assert_ne!(prints[0], prints[1], "another text makes other data");
}
