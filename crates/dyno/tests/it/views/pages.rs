//! The pages of `dyno run --serve` and `dyno serve` in a browser, with names that would run script
//! if they were inserted as markup.

use super::browser::Browser;
use super::served::Served;
use crate::program::Bench;
use dyno_testkit::wait_until;

/// Runs script wherever it is inserted as markup, in an attribute or in a script.
pub(super) const HOSTILE: &str = "</script><img src=x onerror=hacked=1>'\"><b>ü";

pub(super) fn spec() -> String {
    let name = |suffix: &str| format!("{HOSTILE}{suffix}").replace('"', "\\\"");
    format!(
        "title = \"{}\"\nsystem = [{{ name = \"{}\", server = {{ kind = \"sqlite\" }} }}, \
         {{ name = \"{}\", server = {{ kind = \"sqlite\" }} }}]\n\
         workload = {{ kind = \"rush\", rows = 10 }}\n\
         load = {{ clients = 1, duration = \"6s\", warmup = \"0s\" }}\ndesign = {{ blocks = 1 }}\n",
        name(""),
        name("1"),
        name("2")
    )
}

pub(super) fn assert_no_script_of_others(browser: &Browser) {
    assert_eq!(browser.value("typeof hacked"), "undefined");
    // The browser asks for an icon, which no page has.
    let messages = browser.messages().into_iter().filter(|it| !it.contains("/favicon.ico"));
    assert_eq!(messages.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn the_live_page_shows_charts_then_the_report_without_injection() {
    let bench = Bench::new();
    let Some(browser) = Browser::start(bench.path()) else { return };
    bench.file("hostile.toml", spec());
    let run = ["run", "hostile.toml", "--plain", "--out", "r", "--serve=127.0.0.1:0"];
    let mut dyno = Served::start(bench.command(&run));
    browser.open(&format!("http://{}/", dyno.host));
    let points =
        "(document.querySelector('#throughput path')?.getAttribute('d') || '').split('L').length";
    wait_until("the chart has lines", || browser.value(points).as_u64() >= Some(2));
    let texts = "['title', 'progress', 'throughput-last', 'p99-last', 'trials'].map(id => \
                 document.getElementById(id).innerText)";
    let texts = browser.value(texts);
    assert_eq!(texts[0], HOSTILE);
    assert!(texts[4].as_str().is_some_and(|trials| trials.contains(HOSTILE)), "{texts}");
    assert!((1..4).all(|i| texts[i].as_str().is_some_and(|text| text.len() > 3)), "{texts}");
    assert_eq!(browser.value("document.getElementById('ended').hidden"), true, "{texts}");
    // A measured trial can be opened while the next one runs.
    wait_until("a trial is measured", || {
        browser.value("document.querySelectorAll('#trials button').length").as_u64() == Some(1)
    });
    browser.value("document.querySelector('#trials button').click()");
    wait_until("its timeline is shown", || {
        browser.value("document.getElementById('past').hidden") == false
    });
    // An interval without length has no rate.
    browser.value(
        "void (window.fetch = async () => new Response('head\\n0,1,measure,9,0,0,1,1,1,1,1\\n1,0.000,measure,9,0,0,1,1,1,1,1'))",
    );
    browser.value("document.querySelector('#trials button').click()");
    wait_until("only the interval with a length is drawn", || {
        browser.value("document.querySelector('#throughput path')?.getAttribute('d')")
            == "M0.0 6.0h0.5"
    });
    assert_no_script_of_others(&browser);
    wait_until("the page becomes the report", || {
        browser.value("location.pathname") == "/report.html"
            && browser.value("document.readyState") == "complete"
    });
    assert_eq!(browser.value("document.querySelector('h1').innerText"), HOSTILE);
    assert_no_script_of_others(&browser);
    assert!(dyno.ended().success());
}

/// Headings and times in the list of runs with a line break within a word.
const BROKEN_WORDS: &str = "[...document.querySelectorAll('th, #runs td:nth-child(3)')] \
    .flatMap(cell => [...cell.childNodes].map(node => node.firstChild ?? node)) \
    .filter(text => { \
        const range = document.createRange(); \
        range.selectNodeContents(text); \
        return range.getClientRects().length > text.textContent.trim().split(' ').length; \
    }).map(text => text.textContent)";

#[test]
fn runs_are_filtered_opened_and_compared_without_injection() {
    let bench = Bench::new();
    let Some(browser) = Browser::start(bench.path()) else { return };
    bench.file("hostile.toml", spec());
    for out in ["runs/one<b>", "runs/two"] {
        let short = ["run", "hostile.toml", "--set", "load.duration=300ms", "--out", out];
        let ended = bench.dyno(&short);
        assert!(ended.is_done(), "{ended}");
    }
    let dyno = Served::start(bench.command(&["serve", "runs", "--listen", "127.0.0.1:0"]));
    let home = format!("http://{}/", dyno.host);
    browser.open(&home);
    let rows = "[...document.getElementById('runs').rows].filter(row => !row.hidden).length";
    assert_eq!(browser.value(rows), 2);
    assert_eq!(browser.value(BROKEN_WORDS), serde_json::json!([]));
    browser.value(
        "(document.getElementById('filter').value = 'ONE<B', \
         document.getElementById('filter').dispatchEvent(new Event('input')))",
    );
    assert_eq!(browser.value(rows), 1);
    browser.value("document.querySelector('#runs a').click()");
    wait_until("the report", || browser.value("location.pathname") == "/report");
    assert_eq!(browser.value("document.querySelector('h1').innerText"), HOSTILE);
    browser.open(&home);
    browser.value(
        "(document.querySelector('[name=base]').click(), \
         [...document.querySelectorAll('[name=new]')].pop().click(), \
         document.querySelector('button').click())",
    );
    wait_until("the comparison", || browser.value("location.pathname") == "/compare");
    let page = browser.value("document.body.innerText");
    assert!(page.as_str().is_some_and(|page| page.contains(HOSTILE)), "{page}");
    assert_no_script_of_others(&browser);
}
