//! Specs with requests: run, reported, refused.

use super::service::{Reply, Service, answer};
use crate::program::{Bench, Ended, records};
use dyno_model::failure::FailureKind;

const SECRET: &str = "certainly-secret-5931";

fn spec(service: &Service, requests: &str) -> String {
    format!(
        "title = \"A service\"\n[[system]]\nname = \"S\"\nurl = \"http://127.0.0.1:{}/shop\"\n[workload]\nkind = \"http\"\n{requests}\n\
         [load]\nclients = [1, 4]\ntransactions = 40\n[design]\nblocks = 2\n",
        service.port()
    )
}

const REQUESTS: &str = "[[workload.request]]\nname = \"read an item\"\npath = \"/items/${key}\"\nbody_holds = \"hello\"\nweight = 3\n\
     headers = { Authorization = \"Bearer ${env:DYNO_TEST_TOKEN}\" }\n\
     [[workload.request]]\nname = \"log in\"\nmethod = \"POST\"\npath = \"/login\"\n\
     body = \"password=${env:DYNO_TEST_TOKEN}\"\nstatus = [200, 303]\n";

fn run(bench: &Bench, arguments: &[&str]) -> Ended {
    let mut command = bench.command(arguments);
    Ended::from(command.env("DYNO_TEST_TOKEN", SECRET).output().expect("dyno can be started"))
}

#[test]
fn a_service_is_measured_reported_and_its_secrets_are_nowhere() {
    // It tells everything it hears, so that whatever is repeated of an answer would show.
    let service =
        Service::new(|heard| Reply::Say(answer("200 OK", &format!("hello {}", heard.text))));
    let bench = Bench::new();
    bench.file("service.toml", spec(&service, REQUESTS));
    let ended = run(&bench, &["run", "service.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let heard = service.heard();
    assert!(
        heard.iter().any(|it| it.contains(&format!("Authorization: Bearer {SECRET}\r\n"))),
        "{heard:?}"
    );
    assert!(heard.iter().any(|it| it.ends_with(&format!("password={SECRET}"))), "{heard:?}");
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!((record.counters.committed, record.counters.failed), (40, 0), "{ended}");
    }
    let report = run(&bench, &["report", "r", "--format", "md"]);
    assert!(report.stdout.contains("read an item") && report.stdout.contains("log in"), "{report}");
    assert!(!dyno_testkit::folder_holds(&bench.path().join("r"), SECRET));
    assert!(!format!("{ended}{report}").contains(SECRET));
}

#[test]
fn a_service_is_called_by_its_name_where_the_way_to_it_can_be_cut() {
    let service = Service::new(|_| Reply::Say(answer("200 OK", "hello")));
    let bench = Bench::new();
    let faults = "[[fault]]\nat = \"100ms\"\naction = \"disconnect\"\n[[fault]]\nafter = \"100ms\"\naction = \"reconnect\"\n";
    let text = spec(&service, "[[workload.request]]\nname = \"read\"\npath = \"/\"\n");
    let text =
        text.replace("transactions = 40", "duration = \"1s\"").replace("127.0.0.1", "localhost");
    bench.file("service.toml", format!("{text}{faults}"));
    let ended = bench.dyno(&["run", "service.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let heard = service.heard();
    let name = format!("\r\nHost: localhost:{}\r\n", service.port());
    assert!(
        !heard.is_empty() && heard.iter().all(|request| request.contains(&name)),
        "{:?}",
        heard.first()
    );
}

#[test]
fn a_failing_service_is_reported_in_words_without_its_own() {
    let service = Service::new(|heard| Reply::Say(answer("503 Overloaded", &heard.text)));
    let bench = Bench::new();
    bench.file("service.toml", spec(&service, REQUESTS));
    let ended = run(&bench, &["run", "service.toml", "--out", "r"]);
    assert_eq!(ended.stderr.matches("NOT VALID").count(), 4, "{ended}");
    let report = run(&bench, &["report", "r", "--format", "md"]);
    assert!(report.stdout.contains("unexpected-status"), "{report}");
    assert!(!dyno_testkit::folder_holds(&bench.path().join("r"), SECRET));
}

#[test]
fn specs_that_do_not_fit_a_service_fail_before_any_request() {
    let service = Service::new(|_| Reply::Say(answer("200 OK", "")));
    let bench = Bench::new();
    let whole = spec(&service, REQUESTS);
    bench.file("service.toml", &whole);
    let unset = bench.dyno(&["plan", "service.toml"]);
    assert_ne!(unset.code, 0);
    let said = format!("{}{}", unset.stdout, unset.stderr);
    assert!(
        said.contains("DYNO_TEST_TOKEN") && said.contains("export DYNO_TEST_TOKEN="),
        "{unset}"
    );

    bench.file(
        "sql.toml",
        whole.replace("kind = \"http\"", "kind = \"rush\"").replace(REQUESTS, ""),
    );
    let sql = bench.dyno(&["plan", "sql.toml"]);
    let said = format!("{}{}", sql.stdout, sql.stderr);
    assert!(
        sql.code != 0 && said.contains("sends SQL") && said.contains("kind = \"http\""),
        "{sql}"
    );

    let url = format!("http://127.0.0.1:{}/shop", service.port());
    bench.file("sqlite.toml", whole.replace(&url, "sqlite:data.sqlite"));
    let sqlite = run(&bench, &["plan", "sqlite.toml"]);
    let said = format!("{}{}", sqlite.stdout, sqlite.stderr);
    assert!(sqlite.code != 0 && said.contains("needs a service"), "{sqlite}");
    assert!(service.heard().is_empty(), "{:?}", service.heard());
}

#[test]
fn invalid_requests_are_explained_without_showing_secrets() {
    let service = Service::new(|_| Reply::Say(answer("200 OK", "")));
    let bench = Bench::new();
    for (requests, words) in [
        ("", "workload `http` has no requests"),
        ("request = 3", "`request` must be a list of tables"),
        ("[[workload.request]]\npath = \"/\"", "missing key `name` in [[workload.request]]"),
        ("[[workload.request]]\nname = \"a\"", "missing key `path` in [[workload.request]]"),
        ("[[workload.request]]\nname = \"a\"\npath = \"items\"", "`items` is not a valid path"),
        ("[[workload.request]]\nname = \"a\"\npath = \"/a b\"", "such as `%20` for a blank"),
        (
            "[[workload.request]]\nname = \"commit\"\npath = \"/\"",
            "`commit` is not a valid name of a request",
        ),
        ("[[workload.request]]\nname = \"a\"\npath = \"/${kye}\"", "did you mean `key`?"),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\nmethod = \"GET \"",
            "is not a valid HTTP method",
        ),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\nstatus = [200, 99]",
            "must be between 200 and 599, got 99",
        ),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\nheaders = { \"A:B\" = \"c\" }",
            "is not a valid header name",
        ),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\nheaders = { connection = \"c\" }",
            "dyno sets `connection` itself",
        ),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\nheaders = { a = \"c\\nd\" }",
            "contains a control character",
        ),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\nheaders = { Authorization = \"Basic certainly-secret-5931\" }",
            "${env:VARIABLE}",
        ),
        (
            "[[workload.request]]\nname = \"a\"\npath = \"/\"\n[[workload.request]]\nname = \"a\"\npath = \"/\"",
            "two requests are called `a`",
        ),
    ] {
        bench.file("wrong.toml", spec(&service, requests));
        let refused = bench.dyno(&["plan", "wrong.toml"]);
        assert_ne!(refused.code, 0, "{requests}");
        assert!(refused.stderr.contains(words), "{requests}: {refused}");
        assert!(!refused.stderr.contains(SECRET), "{refused}");
    }
    for (url, words) in [
        ("http://me:certainly-secret-5931@127.0.0.1/", "cannot contain an account"),
        ("http:/127.0.0.1", "`//` is missing"),
        ("http://127.0.0.1:99999/", "is not a port"),
        ("http://127.0.0.1/?sslmode=require", "write `https://`"),
        ("https://127.0.0.1/?sslmode=disable", "is encrypted and cannot be combined"),
        ("http://127.0.0.1/?page=3", "unknown parameter `page`"),
    ] {
        let system = format!("url = \"http://127.0.0.1:{}/shop\"", service.port());
        bench.file(
            "wrong.toml",
            spec(&service, REQUESTS).replace(&system, &format!("url = \"{url}\"")),
        );
        let refused = run(&bench, &["plan", "wrong.toml"]);
        assert_ne!(refused.code, 0, "{url}");
        assert!(refused.stderr.contains(words), "{url}: {refused}");
        assert!(!refused.stderr.contains(SECRET), "{refused}");
    }
    assert!(service.heard().is_empty());
}

#[test]
fn a_disconnected_service_times_out_and_is_reached_again() {
    let service = Service::new(|_| Reply::Say(answer("200 OK", "hello")));
    let bench = Bench::new();
    let spec = spec(&service, "[[workload.request]]\nname = \"read\"\npath = \"/\"\n")
        .replace(
            "clients = [1, 4]\ntransactions = 40",
            "clients = 4\nduration = \"5s\"\nwarmup = \"0s\"\nstatement_timeout = \"300ms\"",
        )
        .replace("blocks = 2", "blocks = 1");
    let faults = "[[fault]]\nat = \"1s\"\naction = \"disconnect\"\n[[fault]]\nafter = \"1s\"\naction = \"reconnect\"\n";
    bench.file("service.toml", format!("{spec}{faults}"));
    let ended = run(&bench, &["run", "service.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let [record] = &records(&bench.path().join("r"))[..] else { panic!("one trial: {ended}") };
    let facts = record.facts.as_ref().expect("facts");
    assert!(facts.faults.iter().all(|fault| fault.failed.is_none()), "{:?}", facts.faults);
    // Whether a request was carried out that nobody answered is not known, so it is not sent again.
    assert_eq!(record.counters.failed_by_kind.keys().collect::<Vec<_>>(), [&FailureKind::Timeout]);
    assert!(
        record.counters.failed >= 4 && record.counters.reconnects == record.counters.failed,
        "{:?}",
        record.counters
    );
    let longest = record.longest_gap.expect("a gap");
    // It is cut for a second, less by how much later than planned that began, and nothing comes
    // through before it is mended.
    let [_, repaired] = &facts.faults[..] else { panic!("two faults: {:?}", facts.faults) };
    let found_again = longest.at.0 + longest.length.0;
    assert!(longest.length.0 >= 500_000_000, "{longest:?}");
    assert!(longest.at < repaired.at && repaired.at.0 <= found_again, "{longest:?}, {repaired:?}");
    assert!(found_again < record.window_length.0, "it was reached again: {longest:?}");
}
