use super::database::DatabaseOptions;
use super::definition::Kind;
use super::*;
use dyno_drivers::address::Surroundings;
use dyno_model::retry::RetriedErrors;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, Tls};
use std::path::Path;
use std::time::Duration;

fn parse(line: &str) -> Result<Options, OptionError> {
    parse_with_file(line, "")
}

fn parse_with_file(line: &str, file: &str) -> Result<Options, OptionError> {
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    Options::parse_with(&arguments, |name| match name {
        "missing" => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
        _ => Ok(file.to_owned()),
    })
}

fn script_option(name: &str, kind: Kind, default: Value) -> Definition {
    Definition { name: name.into(), kind, default, shown_default: None, help: String::new() }
}

fn table_size() -> Definition {
    script_option("table_size", Kind::Double, Value::Number(10_000.0))
}

fn argument_error(line: &str) -> String {
    match parse(line).and_then(|mut options| options.declare(&[table_size()])) {
        Err(OptionError::Argument(text) | OptionError::Fatal(text) | OptionError::Plain(text)) => {
            text
        }
        Ok(()) => panic!("{line} is accepted"),
    }
}

#[test]
fn options_and_arguments_accept_any_order_and_the_last_one_wins() {
    let options = parse("--threads=2 x.lua --time=5 run --threads=8").unwrap();
    assert_eq!(options.positionals.script.as_deref(), Some("x.lua"));
    assert_eq!(options.positionals.command.as_deref(), Some("run"));
    assert_eq!(options.general.threads, 8);
    assert_eq!(options.general.time, Some(Duration::from_secs(5)));
}

#[test]
fn a_value_after_a_blank_is_a_positional() {
    assert_eq!(argument_error("--threads= 4 cpu run"), "Unrecognized command line argument: run");
}

#[test]
fn errors_have_sysbenchs_words() {
    for (line, text) in [
        ("--threads=10K", "Invalid value for the 'threads' option: '10K'"),
        ("--threads=0", "Invalid value for --threads: 0.\n"),
        ("--threads", "Invalid value for --threads: 0.\n"),
        ("--verbosity=6", "Invalid value for verbosity: 6"),
        ("--percentile=101", "Invalid value for --percentile: 101"),
        ("--percentile=abc", "Invalid value for the 'percentile' option: 'abc'"),
        ("--percentile=0 --histogram", "--histogram cannot be used with --percentile=0"),
        ("--report-checkpoints=abc", "Invalid value for --report-checkpoints: 'abc'"),
        ("--forced-shutdown=abc", "Invalid value for --forced-shutdown: 'abc'"),
        ("--rand-type=foo", "Invalid random numbers distribution: foo."),
        ("--db-ps-mode=foo", "Invalid value for db-ps-mode: foo"),
        ("--debug=maybe", "invalid option: --debug=maybe"),
        ("--debug=", "invalid option: --debug="),
        ("--foo --bar=2", "invalid option: --foo"),
        ("--", "invalid option: --"),
        ("--=5", "invalid option: --=5"),
        ("--table-size=abc", "Invalid value for the 'table_size' option: 'abc'"),
    ] {
        assert_eq!(argument_error(line), text, "{line}");
    }
}

#[test]
fn an_empty_value_clears_the_default() {
    let options = parse("--mysql-ignore-errors= --time= --mysql-user=").unwrap();
    assert_eq!(ignored(&options, Engine::Mysql), &RetriedErrors::default());
    assert_eq!(options.general.time, None);
    assert_eq!(options.database.targets(Engine::Mysql)[0].user, "");
}

#[test]
fn script_options_get_given_values_and_defaults() {
    let mut options = parse("--table-size=1M --tables=4").unwrap();
    options
        .declare(&[
            table_size(),
            script_option("tables", Kind::Double, Value::Number(1.0)),
            script_option("skip_trx", Kind::Boolean, Value::Boolean(false)),
        ])
        .unwrap();
    assert_eq!(options.value("table_size").as_number(), 1_048_576.0);
    assert_eq!(options.value("tables").as_number(), 4.0);
    assert!(!options.value("skip_trx").is_on());
    assert_eq!(options.value("no_such_option"), &Value::Nothing);
}

#[test]
fn an_option_of_script_and_program_keeps_the_users_value() {
    let threads = || [script_option("threads", Kind::Double, Value::Number(16.0))];
    let mut given = parse("--threads=3").unwrap();
    given.declare(&threads()).unwrap();
    assert_eq!(given.value("threads").as_number(), 3.0);
    let mut absent = parse("").unwrap();
    absent.declare(&threads()).unwrap();
    assert_eq!(absent.value("threads").as_number(), 16.0);
}

#[test]
fn a_script_without_options_accepts_everything_as_text() {
    let mut options = parse("--oltp-table-size=5 --flag").unwrap();
    options.accept_all().unwrap();
    assert_eq!(options.value("oltp_table_size"), &Value::Text("5".into()));
    assert_eq!(options.value("flag"), &Value::Text(String::new()));
    let refused = parse("--debug=maybe").unwrap().accept_all();
    assert_eq!(refused, Err(OptionError::Argument("invalid option: --debug=maybe".into())));
}

#[test]
fn a_config_file_counts_at_its_position_and_provides_script_options() {
    let file = "threads = 3\ntable-size = 77\nother=1\n";
    let mut options = parse_with_file("--threads=2 --config-file=f --time=9", file).unwrap();
    options.declare(&[table_size()]).unwrap();
    assert_eq!(options.general.threads, 3);
    assert_eq!(options.value("table_size").as_number(), 77.0);
    assert_eq!(options.warnings, [OptionWarning::Log("f:3: no such option: --other".into())]);
    let options = parse_with_file("--config-file=f --threads=2", file).unwrap();
    assert_eq!(options.general.threads, 2);
}

#[test]
fn a_missing_config_file_is_reported_and_the_run_continues() {
    let options = parse("--config-file=missing").unwrap();
    assert_eq!(
        options.warnings,
        [OptionWarning::Argument("missing: No such file or directory".into())]
    );
}

#[test]
fn old_names_are_accepted_with_a_warning() {
    let options =
        parse("--num-threads=4 --max-requests=5 --max-time=6 --tx-rate=7 --test=x.lua run")
            .unwrap();
    let general = &options.general;
    assert_eq!((general.threads, general.events, general.rate), (4, Some(5), Some(7.0)));
    assert_eq!(general.time, Some(Duration::from_secs(6)));
    assert_eq!(options.positionals.script.as_deref(), Some("x.lua"));
    assert_eq!(options.positionals.command.as_deref(), Some("run"));
    assert_eq!(options.warnings.len(), 5);
    assert_eq!(
        options.warnings[1],
        OptionWarning::Log("--num-threads is deprecated, use --threads instead".into())
    );
}

#[test]
fn mysql_connections_use_all_host_port_pairs_or_the_sockets() {
    let options = parse("--mysql-host=a,b --mysql-port=1,2").unwrap();
    let endpoints: Vec<String> = options
        .database
        .targets(Engine::Mysql)
        .iter()
        .map(|target| target.endpoint.to_string())
        .collect();
    assert_eq!(endpoints, ["a:1", "a:2", "b:1", "b:2"]);
    let options = parse("--mysql-host=a --mysql-socket=/x,/y").unwrap();
    assert_eq!(options.database.targets(Engine::Mysql).len(), 2);
    assert_eq!(options.database.targets(Engine::Mysql)[1].endpoint, Endpoint::Unix("/y".into()));
}

#[test]
fn postgres_accepts_hosts_with_ports_and_socket_directories() {
    let options = parse("--pgsql-host=a,b:5433,/run/pg,[::1]:7 --pgsql-port=5").unwrap();
    let endpoints: Vec<String> = options
        .database
        .targets(Engine::Postgres)
        .iter()
        .map(|target| target.endpoint.to_string())
        .collect();
    assert_eq!(endpoints, ["a:5", "b:5433", "/run/pg/.s.PGSQL.5", "[::1]:7"]);
}

#[test]
fn encryption_modes_of_both_versions_are_accepted() {
    let tls = |line: &str| {
        parse(line).map(|options| options.database.targets(Engine::Mysql)[0].tls.clone())
    };
    let tcp = "--mysql-host=h";
    assert_eq!(tls(tcp), Ok(Tls::Off));
    assert_eq!(tls(&format!("{tcp} --mysql-ssl")), Ok(Tls::Required));
    assert_eq!(tls(&format!("{tcp} --mysql-ssl=REQUIRED")), Ok(Tls::Required));
    assert_eq!(tls(&format!("{tcp} --mysql-ssl=off")), Ok(Tls::Off));
    let (authority, verify) = (
        Tls::VerifyAuthority { ca: Some("ca.pem".into()) },
        Tls::Verify { ca: Some("ca.pem".into()) },
    );
    assert_eq!(tls(&format!("{tcp} --mysql-ssl=verify_ca --mysql-ssl-ca=ca.pem")), Ok(authority));
    assert_eq!(
        tls(&format!("{tcp} --mysql-ssl=verify_identity --mysql-ssl-ca=ca.pem")),
        Ok(verify.clone())
    );
    assert_eq!(tls(&format!("{tcp} --mysql-ssl-ca=ca.pem")), Ok(verify));
    assert_eq!(tls(&format!("{tcp} --mysql-ssl=PREFERRED")), Ok(Tls::Preferred));
    assert_eq!(tls("--mysql-socket=/s --mysql-ssl=REQUIRED"), Ok(Tls::Required));
    for bad in ["--mysql-ssl=verify_ca", "--mysql-ssl=perhaps", "--mysql-ssl-key=k.pem"] {
        assert!(matches!(tls(bad), Err(OptionError::Fatal(_))), "{bad}");
    }
    let certificate = |line: &str| {
        let named = parse(&format!("{tcp} --mysql-ssl=required {line}")).unwrap();
        named.database.targets(Engine::Mysql)[0].client_certificate.clone()
    };
    let expected = ClientCertificate { certificate: "c.pem".into(), key: "k.pem".into() };
    assert_eq!(certificate("--mysql-ssl-cert=c.pem --mysql-ssl-key=k.pem"), Some(expected.clone()));
    assert_eq!(certificate(""), None);
    let postgres =
        parse("--pgsql-sslmode=require --pgsql-sslcert=c.pem --pgsql-sslkey=k.pem").unwrap();
    assert_eq!(postgres.database.targets(Engine::Postgres)[0].client_certificate, Some(expected));
    assert!(matches!(parse("--pgsql-sslcert=c.pem"), Err(OptionError::Fatal(_))));
    let tls = |line: &str| {
        parse(line).map(|options| options.database.targets(Engine::Postgres)[0].tls.clone())
    };
    assert_eq!(tls("--pgsql-sslmode=require"), Ok(Tls::Required));
    assert_eq!(tls("--pgsql-sslmode=verify-full"), Ok(Tls::Verify { ca: None }));
    assert!(tls("--pgsql-sslmode=verify-ca").is_err());
    assert!(tls("--pgsql-sslmode=sometimes").is_err());
    assert_eq!(tls(""), Ok(Tls::Off));
}

fn ignored(options: &Options, driver: Engine) -> &RetriedErrors {
    &options.database.databases.access(driver).ignored
}

#[test]
fn ignored_errors_are_numbers_states_or_all() {
    let options = parse("--mysql-ignore-errors=all --pgsql-ignore-errors=40p01").unwrap();
    assert!(ignored(&options, Engine::Mysql).all);
    assert_eq!(ignored(&options, Engine::Postgres).sqlstates, BTreeSet::from(["40P01".to_owned()]));
    let options = parse("").unwrap();
    assert_eq!(ignored(&options, Engine::Mysql).codes, BTreeSet::from([1213, 1020, 1205]));
    assert!(parse("--mysql-ignore-errors=1213,abc").is_err());
    assert!(parse("--pgsql-ignore-errors=1213").is_err());
}

#[test]
fn a_forced_shutdown_is_relative_to_the_time_limit() {
    let shutdown =
        |line: &str| parse(line).unwrap().general.forced_shutdown.map(|time| time.as_secs());
    for (line, seconds) in [
        ("--time=10", None),
        ("--time=10 --forced-shutdown", Some(10)),
        ("--time=100 --forced-shutdown", Some(105)),
        ("--time=10 --forced-shutdown=20%", Some(12)),
        ("--time=10 --forced-shutdown=7", Some(17)),
        ("--time=10 --forced-shutdown=off", None),
        ("--time=0 --forced-shutdown=7", None),
    ] {
        assert_eq!(shutdown(line), seconds, "{line}");
    }
}

#[test]
fn several_percentiles_are_kept_in_order_and_scripts_see_the_first() {
    let options = parse("--percentile=50,95,99.9").unwrap();
    assert_eq!(options.general.percentiles, [50.0, 95.0, 99.9]);
    assert_eq!(options.for_script()["percentile"], Value::Number(50.0));
    assert_eq!(parse("--percentile=0").unwrap().general.percentiles, [0.0; 0]);
}

#[test]
fn passwords_are_not_part_of_debug_output() {
    let options = parse("--mysql-password=geheim --pgsql-password=geheim").unwrap();
    assert!(!format!("{options:?} {:?}", options.database).contains("geheim"));
    assert_eq!(options.database.targets(Engine::Mysql)[0].password.reveal(), "geheim");
}

#[test]
fn drivers_are_found_by_name() {
    assert_eq!(parse("--db-driver=pgsql").unwrap().database.driver(), Some(Engine::Postgres));
    assert_eq!(parse("--db-driver=help").unwrap().database.driver(), None);
}

#[test]
fn negative_limits_mean_no_limit_as_in_sysbench() {
    let options = parse("--events=-1 --time=-1 --report-interval=-1").unwrap();
    let general = &options.general;
    assert_eq!((general.events, general.time, general.interval), (None, None, None));
    assert_eq!(argument_error("--rate=-1"), "Invalid value for --rate: -1");
}

#[test]
fn a_config_file_without_a_name_is_ignored() {
    assert_eq!(parse("--config-file= --config-file").unwrap().warnings, []);
}

#[test]
fn missing_parameters_of_postgresql_come_from_libpqs_sources() {
    let variables = [
        ("PGHOST", "/run/pg"),
        ("PGPORT", "5433"),
        ("PGUSER", "me"),
        ("HOME", "/home/me"),
        ("PGOPTIONS", "-c synchronous_commit=off"),
        ("PGAPPNAME", "bench"),
    ];
    let surroundings = Surroundings {
        variable: &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        },
        exists: &|_| false,
        secrets: &|file| match file == Path::new("/home/me/.pgpass") {
            true => Ok("/run/pg:5433:me:me:of a socket\nh:1:sbtest:sbtest:of a host\n".to_owned()),
            false => Err(std::io::ErrorKind::NotFound.into()),
        },
        user: &String::new,
    };
    let target = |line: &str| {
        let options = parse(line).unwrap();
        DatabaseOptions::from_values(&options.values, &options.given, &surroundings)
            .unwrap()
            .targets(Engine::Postgres)[0]
            .clone()
    };
    let empty = target("--pgsql-host= --pgsql-port= --pgsql-user= --pgsql-db=");
    assert_eq!(empty.endpoint, Endpoint::Unix("/run/pg/.s.PGSQL.5433".into()));
    assert_eq!((empty.user.as_str(), empty.database.as_str()), ("me", "me"));
    assert_eq!(empty.password.reveal(), "of a socket");
    let setup = ["SET synchronous_commit = 'off'", "SET application_name = 'bench'"];
    assert_eq!(empty.session_setup, setup);
    let named = target("--pgsql-host=h --pgsql-port=1");
    assert_eq!((named.user.as_str(), named.password.reveal()), ("sbtest", "of a host"));
    assert_eq!(
        target("--pgsql-host=h --pgsql-port=1 --pgsql-password=mine").password.reveal(),
        "mine"
    );
}
