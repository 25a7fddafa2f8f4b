//! The workload `http` against a service that follows a script: answers of every shape, everything
//! that a service may do wrong, and what goes out. `program` has the same through specs.

mod program;
mod service;

use dyno_engine::workload::{Native, WorkloadContext, catalog};
use dyno_engine::{Node, TrialInput};
use dyno_model::address::Address;
use dyno_model::audit::AuditVerdict;
use dyno_model::catalog::OptionValue;
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, RequestPlan, StopRule, Trial, WorkloadPlan};
use dyno_model::record::TrialRecord;
use dyno_model::target::Engine;
use dyno_model::units::Nanos;
use service::{Reply, Service, answer};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

const SECOND: u64 = 1_000_000_000;

fn get(name: &str, path: &str) -> RequestPlan {
    RequestPlan {
        name: name.to_owned(),
        method: "GET".to_owned(),
        path: path.to_owned(),
        headers: BTreeMap::new(),
        body: None,
        status: Vec::new(),
        body_holds: None,
        weight: 1,
    }
}

/// A trial of so many transactions, whose counters add up.
fn run(
    service: &Service,
    base: &str,
    requests: &[RequestPlan],
    options: &[(&str, OptionValue)],
    clients: u32,
    transactions: u64,
) -> TrialRecord {
    let load = LoadPlan {
        grace: Nanos(120 * SECOND),
        attempts_max: 1,
        ..LoadPlan::new(StopRule::Transactions(transactions))
    };
    run_load(service, base, requests, options, clients, &load)
}

fn run_load(
    service: &Service,
    base: &str,
    requests: &[RequestPlan],
    options: &[(&str, OptionValue)],
    clients: u32,
    load: &LoadPlan,
) -> TrialRecord {
    let description = catalog().into_iter().find(|known| known.name == "http").expect("built in");
    let mut plan = WorkloadPlan {
        requests: requests.to_vec(),
        ..WorkloadPlan::new("http", description.defaults())
    };
    for (name, value) in options {
        assert!(
            plan.options.0.insert((*name).to_owned(), value.clone()).is_some(),
            "no option {name}"
        );
    }
    let url = format!("http://127.0.0.1:{}{base}", service.port());
    let target = Address::of_url(&url).target().expect("a service's address");
    let native = Native::build(&plan, WorkloadContext { engine: Engine::Http, clients, seed: 1 })
        .expect("it fits");
    let trial = Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 };
    let nobody = AtomicUsize::new(0);
    let input = TrialInput::new(trial, Node::alone(target), clients, load, 1, &nobody);
    let record = native.run_trial(&input, &mut ()).expect("it is measured");
    assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
    record
}

#[test]
fn all_response_forms_are_parsed_and_connections_are_reopened() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Checked\r\n\r\n\
                   5;why=not\r\nhello\r\n7\r\n, world\r\n0\r\nChecked: yes\r\n\r\n";
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    let closing = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\nhello, world";
    let long = answer("200 OK", &format!("{}hello, world", "x".repeat(300_000)));
    // What is said, in which manner, and whether each answer ends its connection.
    let rows = [
        (Reply::Say(answer("200 OK", "hello, world")), false),
        (Reply::SayBytewise(answer("201 Created", "hello, world")), false),
        (Reply::Say(chunked.to_owned()), false),
        (Reply::SayBytewise(chunked.to_owned()), false),
        (Reply::Say(format!("{interim}{}", answer("200 OK", "hello, world"))), false),
        (Reply::Say(long), false),
        (Reply::SayAndClose(closing.to_owned()), true),
        (Reply::SayAndClose("HTTP/1.0 200 OK\r\n\r\nhello, world".to_owned()), true),
        (Reply::SayAndClose("HTTP/1.1 200 OK\r\n\r\nhello, world".to_owned()), true),
    ];
    let request = RequestPlan { body_holds: Some("hello, world".to_owned()), ..get("item", "/") };
    for (row, (reply, closes)) in rows.into_iter().enumerate() {
        let service = Service::new(move |_| reply.clone());
        let record = run(&service, "", std::slice::from_ref(&request), &[], 2, 20);
        let counters = &record.counters;
        assert_eq!(
            (counters.committed, counters.failed),
            (20, 0),
            "row {row}: {:?}",
            counters.failed_by_kind
        );
        let statement = &counters.statements[0];
        assert_eq!((statement.name.as_str(), statement.ok), ("item", 20), "row {row}");
        if closes {
            assert_eq!(service.connections(), 20, "row {row}");
            // All but the first of each client that came to work before the other had done it all,
            // and none makes one that it does not need.
            assert!((18..20).contains(&counters.reconnects), "row {row}: {}", counters.reconnects);
        } else {
            assert!(
                (1..=2).contains(&service.connections()),
                "row {row}: {}",
                service.connections()
            );
            assert_eq!(counters.reconnects, 0, "row {row}");
        }
        assert_eq!(record.audit.verdict(), AuditVerdict::NotChecked);
    }
}

#[test]
fn answers_that_have_no_body_leave_the_connection_to_the_next_request() {
    for (method, status, reply) in [
        ("HEAD", 200, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        ("HEAD", 200, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("DELETE", 204, "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", 304, "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"),
    ] {
        let service = Service::new(move |_| Reply::Say(reply.to_owned()));
        let request =
            RequestPlan { method: method.to_owned(), status: vec![status], ..get("item", "/") };
        let record = run(&service, "", &[request], &[], 1, 10);
        assert_eq!(record.counters.committed, 10, "{reply}: {:?}", record.counters.failed_by_kind);
        assert_eq!((service.connections(), record.counters.reconnects), (1, 0), "{reply}");
    }
}

#[test]
fn each_http_failure_is_counted_as_its_own_kind() {
    let good = answer("200 OK", "hello, world");
    let say = |text: &str| Reply::Say(text.to_owned());
    let rows = [
        (say(&answer("500 Broken", "")), FailureKind::UnexpectedStatus),
        (say(&answer("404 Not Found", "hello, world")), FailureKind::UnexpectedStatus),
        (
            say(
                "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
            ),
            FailureKind::Redirect,
        ),
        (say(&answer("200 OK", "good-bye")), FailureKind::UnexpectedBody),
        (say("SSH-2.0-OpenSSH_9.2\r\n"), FailureKind::Protocol),
        (
            say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"),
            FailureKind::Protocol,
        ),
        (
            say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            FailureKind::Protocol,
        ),
        (
            say(&format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(70_000))),
            FailureKind::Protocol,
        ),
        (say(&answer("200 OK", &"x".repeat(5_000))), FailureKind::Protocol),
        (say(&"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)), FailureKind::Protocol),
        (Reply::SayAndClose(String::new()), FailureKind::ConnectionLost),
        (
            Reply::SayAndClose("HTTP/1.1 200 OK\r\nContent-Le".to_owned()),
            FailureKind::ConnectionLost,
        ),
        (
            Reply::SayAndClose("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello".to_owned()),
            FailureKind::ConnectionLost,
        ),
        (Reply::Silence, FailureKind::Timeout),
    ];
    for (row, (reply, kind)) in rows.into_iter().enumerate() {
        let good = Reply::Say(good.clone());
        let service =
            Service::new(
                move |heard| if heard.number % 4 == 1 { reply.clone() } else { good.clone() },
            );
        let request =
            RequestPlan { body_holds: Some("hello, world".to_owned()), ..get("item", "/") };
        let options = [(
            "timeout_ms",
            OptionValue::Integer(if kind == FailureKind::Timeout { 500 } else { 100_000 }),
        )];
        let options = [options[0].clone(), ("body_max_bytes", OptionValue::Integer(4_000))];
        let record = run(&service, "", &[request], &options, 1, 12);
        let counters = &record.counters;
        let expected = BTreeMap::from([(kind, 3)]);
        assert_eq!((counters.committed, &counters.failed_by_kind), (9, &expected), "row {row}");
        let is_broken = !matches!(
            kind,
            FailureKind::UnexpectedStatus | FailureKind::Redirect | FailureKind::UnexpectedBody
        );
        assert_eq!(counters.reconnects, if is_broken { 3 } else { 0 }, "row {row}");
    }
}

#[test]
fn bytes_that_nobody_asked_for_are_no_answer_to_the_next_request() {
    let service = Service::new(|heard| {
        let behind =
            if heard.number == 0 { answer("200 OK", "an old answer") } else { String::new() };
        Reply::Say(format!("{}{behind}", answer("200 OK", "hello")))
    });
    let request = RequestPlan { body_holds: Some("hello".to_owned()), ..get("item", "/") };
    let record = run(&service, "", &[request], &[], 1, 6);
    let kinds: Vec<_> = record.counters.failed_by_kind.keys().copied().collect();
    // Where they came with the answer they are a failure. Where they came later, the connection was
    // left before the next request was sent, or they stood in the place of its answer.
    let was_left = kinds.is_empty() && record.counters.reconnects == 1;
    assert!(
        was_left || kinds == [FailureKind::Protocol] || kinds == [FailureKind::UnexpectedBody],
        "{kinds:?}"
    );
}

#[test]
fn requests_go_out_as_the_spec_says_with_values_in_their_places() {
    let service = Service::new(|heard| {
        let cookie = if heard.number == 0 { "Set-Cookie: JSESSIONID=77; Path=/\r\n" } else { "" };
        Reply::Say(format!("HTTP/1.1 200 OK\r\n{cookie}Content-Length: 0\r\n\r\n"))
    });
    let read = get("read", "/items/${key}?client=${client}");
    let write = RequestPlan {
        method: "POST".to_owned(),
        headers: BTreeMap::from([("Content-Type".to_owned(), "application/json".to_owned())]),
        body: Some("{\"number\": ${sequence}, \"price\": \"$${\"}".to_owned()),
        ..get("write", "/items")
    };
    let empty = RequestPlan { method: "POST".to_owned(), ..get("empty", "/clear") };
    let options =
        [("order", OptionValue::Text("sequence".to_owned())), ("keys", OptionValue::Integer(1))];
    let record = run(&service, "/shop/", &[read, write, empty], &options, 1, 2);
    let port = service.port();
    let head = format!("HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: dyno\r\n");
    let body = |number: u32| {
        let body = format!("{{\"number\": {number}, \"price\": \"${{\"}}");
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let cookie = "Cookie: JSESSIONID=77\r\n";
    let json = "Content-Type: application/json\r\n";
    let expected = [
        format!("GET /shop/items/1?client=1 {head}\r\n"),
        format!("POST /shop/items {head}{json}{cookie}{}", body(1)),
        format!("POST /shop/clear {head}Content-Length: 0\r\n{cookie}\r\n"),
        format!("GET /shop/items/1?client=1 {head}{cookie}\r\n"),
        format!("POST /shop/items {head}{json}{cookie}{}", body(2)),
        format!("POST /shop/clear {head}Content-Length: 0\r\n{cookie}\r\n"),
    ];
    assert_eq!(service.heard(), expected);
    assert_eq!(record.counters.committed, 2, "a transaction is all of them");
    let counts: Vec<_> =
        record.counters.statements.iter().map(|it| (it.name.as_str(), it.ok)).collect();
    assert_eq!(counts[..3], [("read", 2), ("write", 2), ("empty", 2)]);
}

#[test]
fn requests_follow_their_weights_and_can_close_connections() {
    let service = Service::new(|_| Reply::Say(answer("200 OK", "")));
    let rare = get("rare", "/rare");
    let frequent = RequestPlan { weight: 9, ..get("frequent", "/frequent") };
    let options =
        [("keep_alive", OptionValue::Boolean(false)), ("cookies", OptionValue::Boolean(false))];
    let record = run(&service, "", &[rare, frequent], &options, 4, 400);
    let rare = record.counters.statements.iter().find(|it| it.name == "rare").expect("its kind").ok;
    // Draws depend on the seed only.
    assert!((20..=60).contains(&rare), "{rare} of 400, and 40 were to be expected");
    let heard = service.heard();
    assert!(heard.len() >= 400, "{}", heard.len());
    assert!(heard.iter().all(|request| request.contains("Connection: close\r\n")));
}

#[test]
fn requests_due_at_a_rate_are_sent_by_clients_that_wait_for_them() {
    let service = Service::new(|_| Reply::Say(answer("200 OK", "")));
    let load = LoadPlan {
        rate: Some(1_000.0),
        grace: Nanos(120 * SECOND),
        ..LoadPlan::new(StopRule::Transactions(200))
    };
    let record = run_load(&service, "", &[get("item", "/")], &[], 4, &load);
    assert_eq!(record.counters.committed, 200);
}

#[test]
fn think_time_at_the_ends_of_the_window_is_no_part_of_a_request() {
    // 100 clients that think 2 s on average: most are thinking when the window of 1 s opens and
    // when it closes.
    let service = Service::new(|_| Reply::Say(answer("200 OK", "")));
    let load = LoadPlan {
        think: Some(Nanos(2 * SECOND)),
        warmup: Nanos(SECOND / 2),
        workers: Some(1),
        ..LoadPlan::new(StopRule::Duration(Nanos(SECOND)))
    };
    let record = run_load(&service, "", &[get("item", "/")], &[], 100, &load);
    let (work, committed) =
        (record.weighted_commits.expect("of a duration"), record.counters.committed);
    assert!(committed > 10 && (work - committed as f64).abs() <= 2.0, "{work} of {committed}");
}
