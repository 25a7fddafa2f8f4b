//! `dyno history` on real runs: a page without script of others, and clear errors.

use super::browser::Browser;
use super::pages::{HOSTILE, assert_no_script_of_others, spec};
use crate::program::Bench;
use serde_json::json;

/// Runs of one experiment in the folder `runs`.
fn measured(bench: &Bench, names: &[&str]) {
    bench.file("hostile.toml", spec());
    for name in names {
        let out = format!("runs/{name}");
        let short = ["run", "hostile.toml", "--set", "load.duration=300ms", "--out", &out];
        let ended = bench.dyno(&short);
        assert!(ended.is_done(), "{ended}");
        bench.forget_the_machine(&out);
    }
}

#[test]
fn the_page_draws_all_runs_and_executes_no_foreign_script() {
    let bench = Bench::new();
    let Some(browser) = Browser::start(bench.path()) else { return };
    measured(&bench, &["1<b>", "2", "3"]);
    let ended = bench.dyno(&["history", "runs", "--out", "trends"]);
    assert!(ended.is_done(), "{ended}");
    for name in ["history.html", "history.csv", "otava.yaml", "series-001.csv"] {
        assert!(ended.stdout.contains(&format!("trends/{name}\n")), "{ended}");
    }
    browser.open(&format!("file://{}/trends/history.html", bench.path().display()));
    assert_eq!(browser.value("document.querySelector('h1').innerText"), HOSTILE);
    let marks = "[...document.querySelector('#series-1-throughput').querySelectorAll('.mark')]";
    assert_eq!(browser.value(&format!("{marks}.length")), 3);
    // The script of the page shows what a mark is about.
    browser.value(&format!("{marks}[0].dispatchEvent(new MouseEvent('mousemove'))"));
    let tip = browser.value("document.getElementById('tip').textContent");
    assert!(tip.as_str().is_some_and(|tip| tip.starts_with("1<b>, 20")), "{tip}");
    let rows = "[...document.querySelectorAll('#series details.data')].map(it => \
                it.querySelectorAll('tbody tr').length)";
    assert_eq!(browser.value(rows), json!([3, 3]));
    assert_no_script_of_others(&browser);
}

#[test]
fn a_page_or_a_table_is_written_to_stdout_or_as_the_only_file() {
    let bench = Bench::new();
    measured(&bench, &["1"]);
    let table = bench.dyno(&["history", "runs"]);
    assert!(table.is_done() && table.stdout.starts_with("time,run,dyno_version,"), "{table}");
    let page = bench.dyno(&["history", "runs", "--format", "html", "--lang", "ja"]);
    assert!(page.is_done() && page.stdout.contains("<html lang=\"ja\">"), "{page}");
    let ended = bench.dyno(&["history", "runs", "--format", "html", "--out", "page"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(ended.stdout, "page/history.html\n");
    let names = std::fs::read_dir(bench.path().join("page")).expect("a folder");
    assert_eq!(names.count(), 1);
}

#[test]
fn a_folder_without_runs_is_an_error() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("empty")).expect("a folder");
    let ended = bench.dyno(&["history", "empty", "--format", "html"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (7, ""), "{ended}");
    assert!(ended.stderr.contains("empty"), "{ended}");
}
