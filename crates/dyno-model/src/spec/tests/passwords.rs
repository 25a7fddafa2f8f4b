//! Tests of passwords: removed from the text, and neither shown nor stored.

use super::super::{Input, parse};
use super::{GOOD, catalog, errors_of_system, input};
use crate::plan::{PasswordSource, SystemSource};
use crate::secret::Secret;
use crate::target::{Engine, Tls};

#[test]
fn no_password_is_ever_shown() {
    let lines = [
        "url = \"mysql://bench:hunter2@db/bench\"",
        "url = \"mysql://bench:hunter2@db/bench", // not even when the text is no TOML
        "url = \"mysql://bench:hunter2@db/bench\" = 5",
        "urll = \"mysql://bench:hunter2/x@db/bench\"",
        "password = \"hunter2\"",
        "Password = { is = \"hunter2\" }",
        "password_env = \"hunter2!\"\nurl = \"mysql://bench@db/bench\"",
        "url = \"mysql://bench:hunter2@db/b\" # mysql://bench:hunter2@db/b",
    ];
    for line in lines {
        let diagnostics = errors_of_system(line);
        for text in [
            diagnostics.render_plain(),
            diagnostics.render_styled(),
            diagnostics.to_string(),
            format!("{diagnostics:?}"),
        ] {
            assert!(!text.contains("hunter"), "{text}");
        }
    }
    let overrides = ["system.WAL.url=mysql://bench:hunter2@db:x/bench".to_owned()];
    let diagnostics =
        parse(Input { overrides: &overrides, ..input(GOOD) }, &catalog()).unwrap_err();
    let shown = diagnostics.render_plain();
    assert!(!shown.contains("hunter") && shown.contains("is not a port"), "{shown}");
}

/// Each row: the notation of the URL, and the stored text.
#[test]
fn a_password_in_the_url_is_taken_and_stored_nowhere() {
    let url = "url = \"mysql://bench@db/bench\"\npassword_env = \"BENCH_PASSWORD\"";
    for (written, stored) in [
        ("url = \"mysql://bench:hunter2@db/bench\"", "url = \"mysql://bench:*******@db/bench\""),
        (
            "url = 'mysql://bench:hunter2@db/bench' # no comment",
            "url = 'mysql://bench:*******@db/bench' # no comment",
        ),
        // With escapes the position of the password in the text is unknown.
        ("url = \"mysql://bench:hunter2\\u0040db/bench\"", &format!("url = {}", "*".repeat(37))),
        (
            "url = \"mysql://db/bench?user=bench&password=hunter2\"",
            "url = \"mysql://db/bench?user=bench&****************\"",
        ),
    ] {
        let text = GOOD.replace(url, written);
        let (text, plan) =
            parse(input(&text), &catalog()).unwrap_or_else(|errors| panic!("{written}: {errors}"));
        let SystemSource::Existing(far) = &plan.systems[1].source else { panic!("{written}") };
        assert_eq!(
            far.password,
            PasswordSource::Url { password: Secret::new("hunter2") },
            "{written}"
        );
        assert_eq!(text, GOOD.replace(url, stored), "{written}");
        assert!(!format!("{text} {plan:?}").contains("hunter"), "{written}");
    }
    let twice = GOOD.replace("mysql://bench@db", "mysql://bench:hunter2@db");
    let errors = parse(input(&twice), &catalog()).unwrap_err();
    assert!(
        errors
            .to_string()
            .ends_with("`password_env` has no effect here: the URL contains the password"),
        "{errors}"
    );
}

#[test]
fn a_password_has_one_source() {
    let variable = "password_env = \"BENCH_PASSWORD\"";
    let command = "password_command = \"print-token shop\"";
    let (_, plan) = parse(input(&GOOD.replace(variable, command)), &catalog()).unwrap();
    let SystemSource::Existing(far) = &plan.systems[1].source else { panic!("{plan:?}") };
    assert_eq!(far.password, PasswordSource::Command("print-token shop".to_owned()));
    let keys = [variable, "password_file = \"f\"", command, "password_client = true"];
    for (i, first) in keys.iter().enumerate() {
        for second in &keys[i + 1..] {
            let both = GOOD.replace(variable, &format!("{second}\n{first}"));
            let errors = parse(input(&both), &catalog()).unwrap_err().to_string();
            let [first, second] = [first, second].map(|it| it.split(' ').next().unwrap());
            let expected = format!("`{first}` and `{second}` cannot both be given");
            assert!(errors.contains(&expected), "{expected}: {errors}");
        }
    }
}

#[test]
fn an_address_may_come_from_a_variable() {
    let url = "url = \"mysql://bench@db/bench\"\npassword_env = \"BENCH_PASSWORD\"";
    let text = GOOD.replace(url, "url_env = \"BENCH_URL\"");
    let read = |variable: fn(&str) -> Option<String>| {
        parse(Input { variable: Some(variable), ..input(&text) }, &catalog())
    };
    let (_, plan) = read(|name| {
        (name == "BENCH_URL").then(|| "postgres://u:hunter2@h/d?sslmode=require".to_owned())
    })
    .unwrap();
    let SystemSource::Existing(far) = &plan.systems[1].source else { panic!("{plan:?}") };
    assert_eq!((far.engine, far.user.as_str(), &far.tls), (Engine::Postgres, "u", &Tls::Required));
    assert_eq!(far.password, PasswordSource::UrlVariable("BENCH_URL".to_owned()));
    let errors = read(|_| None).unwrap_err().to_string();
    assert!(
        errors.contains("`url_env`: the environment variable BENCH_URL is not set"),
        "{errors}"
    );
    let errors = read(|_| Some("mysql://u:hunter2@h:x/d".to_owned())).unwrap_err();
    assert!(errors.to_string().ends_with("`url_env`: `x` is not a port"), "{errors}");
    assert!(!errors.render_plain().contains("hunter"), "{errors}");
}
