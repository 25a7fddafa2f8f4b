//! The pages of a running experiment.

use super::request::Request;
use super::response::{Response, write_event};
use super::view::View;
use super::{Handler, page};
use crate::live::Live;
use crate::metrics;
use dyno_files::RESULT_MAX;
use dyno_model::sync::lock;
use dyno_report::Lang;
use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Minimum time between two events of a page: intervals arrive once a second, and samples of the
/// monitor between them would make the page draw the same charts twice.
const SENT_EVERY: Duration = Duration::from_secs(1);
/// An event is sent this often, even if nothing has changed: the time has, and a connection that
/// is gone is noticed.
const SENT_AT_LEAST: Duration = Duration::from_secs(5);
/// Maximum time that the end of the program waits for open pages to load the report.
const REPORT_LOADED: Duration = Duration::from_secs(5);

/// A site with the state of one run.
#[derive(Debug)]
pub struct LiveRunHandler {
    live: Live,
    lang: Lang,
    folder: PathBuf,
    delivery: Arc<ReportDelivery>,
}

/// How the pages become the report.
#[derive(Debug, Default)]
struct ReportDelivery {
    report: Mutex<Option<Arc<str>>>,
    /// Pages that receive events.
    watching: AtomicUsize,
    /// Reports that were sent.
    loaded: AtomicU64,
}

impl LiveRunHandler {
    /// The site of a run whose results are in this folder.
    #[must_use]
    pub fn new(live: Live, lang: Lang, folder: PathBuf) -> Self {
        Self { live, lang, folder, delivery: Arc::default() }
    }

    /// Shows the report in the pages that are open, and returns when they have loaded it.
    pub fn finish(&self, report: String) {
        let watching = self.delivery.watching.load(Ordering::Relaxed) as u64;
        *lock(&self.delivery.report) = Some(report.into());
        self.live.wake();
        let until = Instant::now() + REPORT_LOADED;
        while self.delivery.loaded.load(Ordering::Relaxed) < watching && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        // The last response may still be on its way through the loopback interface.
        if watching > 0 {
            thread::sleep(SENT_EVERY);
        }
    }

    /// The timeline of a trial of the plan, as the results folder has it.
    fn timeline(&self, id: &str) -> Option<Response> {
        let is_known = |id: &str| {
            self.live.read(|state, _| state.campaign().plan().trials.iter().any(|it| it.id == id))
        };
        let path = self.folder.join("trials").join(id).join("timeline.csv");
        let text = is_known(id).then(|| dyno_files::read_text(&path, RESULT_MAX))?;
        Some(match text {
            Ok(text) => Response::new("text/csv; charset=utf-8", text),
            Err(error) => Response::failed(&error.to_string()),
        })
    }
}

impl Handler for LiveRunHandler {
    fn respond(&self, request: &Request) -> Option<Response> {
        let json = || self.live.read(View::new).json();
        Some(match request.path() {
            "/" => Response::new("text/html; charset=utf-8", page::run(self.lang)),
            "/live.js" => Response::new("text/javascript; charset=utf-8", page::RUN_SCRIPT),
            "/live.css" => Response::new("text/css; charset=utf-8", page::STYLE),
            "/state.json" => Response::new("application/json", json()),
            "/metrics" => {
                let metrics = metrics::expose(&self.live.read(metrics::collect));
                Response::new(metrics::CONTENT_TYPE, metrics)
            }
            "/events" => {
                let (live, delivery) = (self.live.clone(), Arc::clone(&self.delivery));
                Response::events(move |stream| send_events(&live, &delivery, stream))
            }
            "/report.html" => {
                let report = lock(&self.delivery.report);
                let report = report.clone()?;
                self.delivery.loaded.fetch_add(1, Ordering::Relaxed);
                Response::report(report)
            }
            path => return self.timeline(path.strip_prefix("/trials/")?.strip_suffix(".csv")?),
        })
    }
}

/// Counts a page while it receives events.
struct Watching<'e>(&'e ReportDelivery);

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.watching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends the whole state after each change, so that a page that connects again needs nothing else.
fn send_events(live: &Live, delivery: &ReportDelivery, stream: &mut TcpStream) -> io::Result<()> {
    delivery.watching.fetch_add(1, Ordering::Relaxed);
    let _watching = Watching(delivery);
    let mut seen = 0;
    loop {
        let state = live.read(View::new).json();
        write_event(stream, "state", seen, &state)?;
        if lock(&delivery.report).is_some() {
            return write_event(stream, "report", seen, "{}");
        }
        thread::sleep(SENT_EVERY);
        seen = live.wait(seen, SENT_AT_LEAST);
    }
}
