//! Layout of pages in a browser: nothing is cut off or overlaps, no word is broken, no heading
//! lacks content; on a phone, on a screen and in print.

use super::languages::compared;
use crate::html::sample;
use crate::messages::{EN, LANGUAGES};
use crate::tests::{rush, tiny_model};
use crate::{Format, compare, history_page, html, render};
use dyno_analysis::analyse;
use dyno_analysis::model::Validity;
use dyno_store::fixture::Shape;
use std::path::Path;
use std::process::Command;

/// Measures the page in the frame `page` and writes problems into `faults`, one per line.
const MEASURE: &str = include_str!("layout.js");
/// Name of the browser in Debian.
const BROWSER: &str = "chromium";
/// As for servers (`dyno-testkit`): when set, the test fails if the browser is missing.
const REQUIRED: &str = "DYNO_REQUIRE_SERVERS";

/// The layout at a width in pixels, with the style rules for screens or for print.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Medium {
    Screen(u32),
    Paper,
}

/// Width of A4 without its margins.
const PAPER: u32 = 688;
/// Margin of the paper, in points: 14 mm.
const MARGIN: f64 = 39.7;
/// Minimum height for a heading and a line of text above the end of a page, in points.
const HEADING_AND_LINE: f64 = 44.0;
/// Maximum number of A4 pages of the synthetic report, which has more tables than those of the
/// experiments (at most eight).
const PAGES_MAX: usize = 9;

/// The browser in headless mode, with an empty profile.
fn browser(folder: &Path) -> Command {
    let mut browser = Command::new(BROWSER);
    browser.args(["--headless", "--no-sandbox", "--disable-gpu"]);
    browser.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    browser
}

/// Number of A4 pages of a report, and for each heading its page, as numbered by the browser, and
/// its distance from the end of the page in points, without the margin. The browser writes headings
/// as an uncompressed outline, `/Dest [3 0 R /XYZ 39.75 79.16 0]`.
fn printed(page: &str, folder: &Path) -> (usize, Vec<(usize, f64)>) {
    let (path, printed) = (folder.join("print.html"), folder.join("print.pdf"));
    std::fs::write(&path, page).expect("written");
    let mut browser = browser(folder);
    browser.args(["--no-pdf-header-footer", "--generate-pdf-document-outline"]);
    browser.args([
        format!("--print-to-pdf={}", printed.display()),
        format!("file://{}", path.display()),
    ]);
    browser.output().expect("the browser runs");
    let document = std::fs::read(&printed).expect("it was printed");
    let document = String::from_utf8_lossy(&document);
    let pages = document.lines().filter(|line| line.ends_with("/Type /Page")).count();
    let outline = document.lines().filter(|line| line.starts_with("/Dest ["));
    let heights = outline.map(|line| {
        let position = || -> Option<(usize, f64)> {
            let page = line.strip_prefix("/Dest [")?.split(' ').next()?.parse().ok()?;
            Some((page, line.split(' ').rev().nth(1)?.parse::<f64>().ok()? - MARGIN))
        };
        position().unwrap_or_else(|| panic!("a place of the outline: {line}"))
    });
    (pages, heights.collect())
}

/// Problems that a browser finds on a page.
fn faults(page: &str, medium: Medium, folder: &Path) -> Vec<String> {
    let (page, width) = match medium {
        Medium::Screen(width) => (page.to_owned(), width),
        // Apply the print rules to the screen.
        Medium::Paper => (
            page.replace("@media print", "@media all")
                .replace("@media screen and", "@media speech and"),
            PAPER,
        ),
    };
    std::fs::write(folder.join("page.html"), page).expect("written");
    let is_paper = medium == Medium::Paper;
    let frame = format!(
        "<body style=\"margin:0\"><iframe id=\"page\" width=\"{width}\" height=\"3000\" style=\"border:0\" src=\"page.html\"></iframe>\
         <pre id=\"faults\"></pre><script>const isPaper = {is_paper};{MEASURE}</script>"
    );
    let path = folder.join("frame.html");
    std::fs::write(&path, frame).expect("written");
    let mut browser = browser(folder);
    browser.args(["--allow-file-access-from-files", "--dump-dom", "--virtual-time-budget=60000"]);
    browser.args(["--window-size=1400,3000", &format!("file://{}", path.display())]);
    let output = browser.output().expect("the browser runs");
    let document = String::from_utf8_lossy(&output.stdout);
    let (_, rest) = document.split_once("<pre id=\"faults\">").expect("the document of the frame");
    let (found, _) = rest.split_once("</pre>").expect("it is closed");
    let found = found
        .strip_prefix("measured\n")
        .unwrap_or_else(|| panic!("the page was not measured: {found}"));
    found.lines().map(|fault| format!("{medium:?}: {fault}")).collect()
}

/// True when the browser is installed.
fn has_browser() -> bool {
    let is_there =
        Command::new(BROWSER).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        assert!(
            std::env::var_os(REQUIRED).is_none(),
            "{BROWSER} is missing; scripts/servers --browser installs it"
        );
        eprintln!("SKIPPED: {BROWSER} is missing");
    }
    is_there
}

#[test]
fn pages_have_no_layout_faults_in_any_language_or_medium() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    for lang in LANGUAGES {
        let report = render(rush(), Format::Html, lang);
        let test_report = html::test_report(tiny_model(), lang);
        let comparison = compare::render(&compared(), Format::Html, lang);
        let history = history_page(&sample::history(), lang);
        for (name, page) in [
            ("report", &report),
            ("test report", &test_report),
            ("comparison", &comparison),
            ("history", &history),
        ] {
            for medium in [Medium::Screen(1280), Medium::Screen(390), Medium::Paper] {
                let found = faults(page, medium, folder.path());
                assert_eq!(found, [""; 0], "{name}, {}", lang.code);
            }
        }
    }
}

#[test]
fn pages_with_many_configurations_fit_a_phone_screen() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    // With this shape the charts of each configuration are small.
    let shape = Shape { clients: vec![1, 20, 40, 60, 80], blocks: 2, ..Shape::rush() };
    let model = analyse(&shape.read());
    assert!(model.configurations.len() > 24);
    let report = render(&model, Format::Html, EN);
    assert!(report.contains("class=\"chart small\""));
    for medium in [Medium::Screen(1280), Medium::Screen(390)] {
        assert_eq!(faults(&report, medium, folder.path()), [""; 0]);
    }
}

#[test]
fn the_first_chart_stands_on_the_first_page_of_paper() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    for lang in LANGUAGES {
        let report = render(rush(), Format::Html, lang);
        // A heading stays with the following content, which is not split.
        let marked =
            report.replace("<div class=\"first\">", "<div class=\"first\"><h3>the chart</h3>");
        assert_ne!(report, marked);
        let (_, headings) = printed(&marked, folder.path());
        // The outline attributes content to the preceding heading: the conclusions and the chart,
        // which are on the first page.
        let pages: Vec<usize> = headings.iter().map(|(page, _)| *page).take(2).collect();
        assert_eq!(pages, [pages[1]; 2], "{}", lang.code);
    }
}

/// Headings of zero height, in a number that identifies the page on which they are printed.
fn marks(number: usize) -> String {
    "<h3 style=\"margin:0;font-size:1px;line-height:1px\">here</h3>".repeat(number)
}

/// The largest number of headings on a page of the printed report.
fn most_headings(report: &str) -> usize {
    let folder = tempfile::tempdir().expect("scratch");
    let (_, headings) = printed(report, folder.path());
    let on_page = |page: usize| headings.iter().filter(|(it, _)| *it == page).count();
    headings.iter().map(|(page, _)| on_page(*page)).max().unwrap_or(0)
}

#[test]
fn three_charts_fit_on_a_page() {
    if !has_browser() {
        return;
    }
    let report = render(tiny_model(), Format::Html, EN);
    let [first, third] = ["<figure id=\"response-time\">", "<figure id=\"percentiles-1\">"];
    let (_, after) = report.split_once(first).expect("the first chart");
    let (between, _) = after.split_once(third).expect("the third");
    assert_eq!(between.matches("<figure").count(), 1);
    let begin = format!("<div style=\"break-before:page\"></div>{}{first}", marks(20));
    let marked = report.replace(first, &begin).replace(third, &format!("{}{third}", marks(1)));
    assert_eq!(most_headings(&marked), 21);
}

#[test]
fn a_long_name_over_the_rows_of_a_table_is_whole_on_a_telephone() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    let mut model = rush().clone();
    for line in &mut model.series {
        line.label =
            format!("{} (RAID1, own log, innodb_buffer_pool_size 32M, read and write)", line.label);
    }
    let found = faults(&render(&model, Format::Html, EN), Medium::Screen(390), folder.path());
    let cut: Vec<&String> = found.iter().filter(|fault| fault.contains("group")).collect();
    assert_eq!(cut, [""; 0]);
}

#[test]
fn a_report_takes_at_most_nine_pages_and_none_ends_with_a_heading() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    for lang in LANGUAGES {
        let report = render(rush(), Format::Html, lang);
        // Once unchanged, once with space for nothing but the heading of the last section.
        let spacer = "<div style=\"break-before:page;height:248mm\"></div><section id=\"method\">";
        let at_the_end = report.replace("<section id=\"method\">", spacer);
        assert_ne!(report, at_the_end);
        for (name, page, more) in [("report", report, 0), ("heading at the end", at_the_end, 2)] {
            let (pages, headings) = printed(&page, folder.path());
            assert!(
                (1..=PAGES_MAX + more).contains(&pages),
                "{name}, {}: {pages} pages",
                lang.code
            );
            assert!(headings.len() > 5, "{name}, {}: {headings:?}", lang.code);
            let lowest =
                headings.into_iter().map(|(_, height)| height).fold(f64::INFINITY, f64::min);
            assert!(lowest > HEADING_AND_LINE, "{name}, {}: a heading at {lowest}", lang.code);
        }
    }
}

#[test]
fn invalid_results_are_legible_wherever_they_are_reported() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    let mut model = rush().clone();
    for row in &mut model.configurations {
        row.validity = Validity::Invalid;
    }
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("invalid severe"), "{page}");
    let found = faults(&page, Medium::Screen(1280), folder.path());
    assert!(!found.iter().any(|fault| fault.contains("unreadable")), "{found:?}");
}

#[test]
fn each_fault_of_a_layout_is_seen() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch");
    let planted = r#"<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0;font:15px sans-serif}.wide{overflow-x:auto}
        .narrow{width:30px;overflow-wrap:anywhere}th{white-space:nowrap}</style><main><h2>bare</h2><h2>next</h2>
        <div class="wide"><table><tr><th class="group">a name that is far too long for a telephone, and goes on and on</th></tr></table></div>
        <p class="narrow">unbreakable</p><p class="narrow">10 %</p><p class="narrow">1000 ms</p><p style="width:34px;word-break:keep-all">10&nbsp;%입니다</p><div class="scroll wide"><p style="width:800px">x</p></div><span class="chip" style="color:red;background:red">invalid</span><div style="width:900px">x</div>
        <ul class="tiles" style="margin-top:500px">late</ul><figure id="f"><svg viewBox="0 0 800 100" width="372"><text x="10" y="20">one</text><text x="14" y="22">other</text>
        <text x="790" y="60">outside the picture</text><text x="10" y="90">cut …</text></svg></figure></main>"#;
    let found = faults(planted, Medium::Screen(400), folder.path());
    for kind in [
        "wider than the page",
        "group cut",
        "word broken",
        "bare heading",
        "outside",
        "cut",
        "overlap",
        "small",
        "unreadable",
        "unit apart",
        "particle apart",
        "sideways",
        "late",
    ] {
        let is_of_kind = |fault: &&String| fault.contains(&format!(": {kind}: "));
        assert!(found.iter().any(|fault| is_of_kind(&fault)), "{kind} is not seen: {found:?}");
    }
}
