//! The list of finished runs, their reports, and comparisons of two of them.

use super::request::Request;
use super::response::Response;
use super::{Handler, page};
use dyno_analysis::compare::{CompareOptions, METRICS, compare, read_side};
use dyno_analysis::stats::verdict::Rules;
use dyno_model::hex::hex;
use dyno_model::mask::masked;
use dyno_report::{Format, Lang, LiveLabel, live_label};
use dyno_store::{Run, StoreError, TrialOutcome, results_below};
use maud::html;
use std::path::{Path, PathBuf};

/// A site with the results below some folders. They are listed anew for each request, so that a
/// run that ends later appears too.
#[derive(Debug)]
pub struct ResultsHandler {
    folders: Vec<PathBuf>,
    lang: Lang,
}

/// The script of the list.
const SCRIPT: &str = include_str!("../assets/runs.js");

impl ResultsHandler {
    /// The site of the runs below these folders.
    ///
    /// # Errors
    /// When a folder cannot be read or has no results.
    pub fn new(folders: Vec<PathBuf>, lang: Lang) -> Result<Self, StoreError> {
        folders.iter().try_for_each(|folder| results_below(folder).map(drop))?;
        Ok(Self { folders, lang })
    }

    fn runs(&self) -> Vec<PathBuf> {
        self.folders.iter().flat_map(|folder| results_below(folder).unwrap_or_default()).collect()
    }

    /// The folder of a run, or of several with a report of all, that is in the list: a request
    /// cannot name any other.
    fn listed(&self, name: Option<&str>) -> Option<PathBuf> {
        let name = name?;
        let folders = |run: PathBuf| [self.combined(&run), Some(run)].into_iter().flatten();
        self.runs().into_iter().flat_map(folders).find(|folder| address_of(folder) == name)
    }

    /// The folder above a run with a report of several runs, such as those of a curve. Folders
    /// outside of those of the site are not read.
    fn combined(&self, run: &Path) -> Option<PathBuf> {
        let is_inside = |above: &&Path| self.folders.iter().any(|folder| above.starts_with(folder));
        let mut above = run.ancestors().skip(1).take(2).filter(is_inside);
        above.find(|it| it.join("report.html").is_file()).map(Path::to_owned)
    }

    fn list(&self) -> String {
        let text = |label| live_label(label, self.lang);
        let mut runs: Vec<(PathBuf, Run)> = self
            .runs()
            .into_iter()
            .filter_map(|folder| Some((folder.clone(), Run::open(&folder).ok()?)))
            .collect();
        runs.sort_by(|(_, a), (_, b)| b.started_at.cmp(&a.started_at));
        let body = html! {
            h1 { (text(LiveLabel::Runs)) }
            p { label { (text(LiveLabel::Filter)) " " input id="filter" type="search"; } }
            form action="/compare" method="get" {
                table {
                    thead { tr {
                        th { (text(LiveLabel::Base)) } th { (text(LiveLabel::New)) }
                        th { (text(LiveLabel::Started)) } th { (text(LiveLabel::Experiment)) }
                        th { (text(LiveLabel::ValidTrials)) }
                    } }
                    tbody id="runs" {
                        @for (folder, run) in &runs {
                            @let address = address_of(folder);
                            tr {
                                td { input type="radio" name="base" value=(address) required; }
                                td { input type="radio" name="new" value=(address) required; }
                                td { @for part in started(run) { span.whole { (part) } " " } }
                                td {
                                    a href={ "/report?run=" (address) } { (masked(&run.plan.title)) }
                                    " " small { (folder.display()) }
                                    @if let Some(folder) = self.combined(folder) {
                                        " " a href={ "/report?run=" (address_of(&folder)) } {
                                            (text(LiveLabel::CombinedReport))
                                        }
                                    }
                                }
                                td.whole { (valid(run)) " / " (run.plan.trials.len()) }
                            }
                        }
                    }
                }
                p { button { (text(LiveLabel::Compare)) } }
            }
        };
        page::document(self.lang, text(LiveLabel::Runs), Some("/runs.js"), &body)
    }

    fn report(&self, folder: &Path) -> Response {
        match dyno_analysis::read_model_of_all(&[folder.to_owned()]) {
            Ok(model) => Response::report(dyno_report::render(&model, Format::Html, self.lang)),
            Err(error) => Response::failed(&error.to_string()),
        }
    }

    fn comparison(&self, base: &Path, new: &Path) -> Response {
        let metrics = METRICS.into_iter().collect();
        let question = CompareOptions { metrics, rules: Rules::default(), systems: Vec::new() };
        let (base, new) = match (read_side(base), read_side(new)) {
            (Ok(base), Ok(new)) => (base, new),
            (Err(error), _) | (_, Err(error)) => return Response::failed(&error.to_string()),
        };
        match compare(&base, &new, &question) {
            Ok(model) => {
                Response::report(dyno_report::compare::render(&model, Format::Html, self.lang))
            }
            Err(error) => Response::failed(&error.to_string()),
        }
    }
}

/// Date and time of day at which a run started, to the second.
fn started(run: &Run) -> Vec<&str> {
    run.started_at.get(..19).unwrap_or(&run.started_at).split('T').collect()
}

/// The name of a run in addresses: its path, encoded so that any path is one word.
fn address_of(folder: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    hex(folder.as_os_str().as_bytes())
}

/// Number of trials whose results are valid.
fn valid(run: &Run) -> usize {
    let is_valid = |outcome: &&TrialOutcome| {
        matches!(outcome, TrialOutcome::Finished(record)
            if record.worst() != Some(dyno_model::warning::Severity::Invalid))
    };
    run.outcomes.values().filter(is_valid).count()
}

impl Handler for ResultsHandler {
    fn respond(&self, request: &Request) -> Option<Response> {
        Some(match request.path() {
            "/" => Response::new("text/html; charset=utf-8", self.list()),
            "/runs.js" => Response::new("text/javascript; charset=utf-8", SCRIPT),
            "/live.css" => Response::new("text/css; charset=utf-8", page::STYLE),
            "/report" => self.report(&self.listed(request.parameter("run"))?),
            "/compare" => {
                let base = self.listed(request.parameter("base"))?;
                self.comparison(&base, &self.listed(request.parameter("new"))?)
            }
            _ => return None,
        })
    }
}
