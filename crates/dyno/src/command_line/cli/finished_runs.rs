//! Arguments of commands for finished runs, except those of `dyno report` and `dyno compare`.

use super::values::{Language, one_of};
use clap::Args;
use dyno_report::Format;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Parent folder of results when the user names none.
pub(crate) const RESULTS: &str = "results";

/// Address of the live view and of the list of runs, if none is given.
pub(super) const SERVE: &str = "127.0.0.1:7341";

/// `dyno serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Results folders, or folders that contain them
    #[arg(value_name = "RESULTS", default_value = RESULTS)]
    pub(crate) results: Vec<PathBuf>,

    /// Address to listen on; any address other than loopback requires a token, as for `dyno run
    /// --serve`
    #[arg(long, value_name = "ADDRESS", default_value = SERVE)]
    pub(crate) listen: SocketAddr,

    #[command(flatten)]
    pub(crate) language: Language,
}

/// `dyno history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Folders that hold the runs of one experiment, such as results/<experiment>
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) results: Vec<PathBuf>,

    /// Form of the output [default: csv to stdout, everything with --out]
    #[arg(long, value_parser = one_of(&HISTORIES))]
    pub(crate) format: Option<Format>,

    /// Folder for the files: history.html, history.csv, otava.yaml and a table per series [default:
    /// stdout]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) language: Language,
}

const HISTORIES: [(&str, &str, Format); 2] = [
    ("html", "One self-contained page with charts: history.html", Format::Html),
    ("csv", "A row per run: history.csv", Format::Csv),
];

/// `dyno bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    /// Folder of a run
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,

    /// File to write; must not exist [default: <run>-bundle.tar.gz]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
