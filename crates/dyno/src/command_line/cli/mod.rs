//! The command line: options, their types and their help. docs/reference/cli.md is generated from
//! it.

mod examples;
mod experiment;
mod finished_runs;
mod kubernetes;
mod values;

use crate::one_line::OneLineArguments;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use dyno_drivers::null::server::{Persona, Protocol};
use dyno_live::metrics::Collector;
use dyno_model::lists;
use dyno_model::plan::ComparisonMetric;
use dyno_model::units::Nanos;
use dyno_report::{EN, Export, Format, Lang};
use examples::*;
pub(crate) use experiment::*;
pub(crate) use finished_runs::*;
pub(crate) use kubernetes::*;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use values::{Language, one_of};

/// The complete command line.
#[derive(Debug, Parser)]
#[command(
    name = "dyno",
    version,
    about = "A dynamometer for databases",
    long_about = "A dynamometer for databases: loads one or several systems with clients, measures \
                  throughput and response time, repeats trials in random order, checks that the \
                  data is intact, and writes a report with confidence intervals and warnings.",
    after_help = "Without a command, dyno runs a built-in experiment on embedded SQLite, which \
                  takes less than a minute and needs no server.",
    after_long_help = "Examples:
  dyno                                 the built-in experiment, under a minute
  dyno run URL --script read.sql       your own SQL on your own database
  dyno plan rush.toml                  list the trials, estimate the time and
                                       check that the experiment can run
  dyno run rush.toml --profile smoke   a shorter variant
  dyno report results/rush/<time>-<id> write the report again
  dyno compare before after            better, worse or equivalent, for CI

Results go to stdout, everything else to stderr; NO_COLOR is honoured.
Exit codes: 0 success, 2 usage, 3 errors in the spec, 4 preflight failed,
5 server failed, 6 run incomplete, 7 results cannot be read or written,
8 a limit failed or a metric is worse, 9 a limit or a comparison is undecided,
70 internal error, 130 interrupted.",
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(flatten)]
    diagnosis: DiagnosisArguments,

    /// The command; without one, the built-in experiment runs.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Cli {
    /// The command to carry out: `dyno` alone is `dyno run`.
    pub(crate) fn into_command(self) -> Command {
        self.command.unwrap_or_else(|| Self::parse_from(["dyno", "run"]).into_command())
    }

    /// How often `-v` was given.
    pub(crate) fn verbosity(&self) -> u8 {
        let further = match &self.command {
            Some(Command::Run(arguments)) => arguments.diagnosis.verbose,
            _ => 0,
        };
        self.diagnosis.verbose.saturating_add(further)
    }

    /// The selected language.
    pub(crate) fn lang(&self) -> Lang {
        match &self.command {
            Some(Command::Run(arguments)) => arguments.language.lang,
            Some(Command::Plan(arguments)) => arguments.language.lang,
            Some(Command::Report(arguments)) => arguments.language.lang,
            Some(Command::Compare(arguments)) => arguments.language.lang,
            Some(Command::Import(arguments)) => arguments.language.lang,
            Some(Command::Serve(arguments)) => arguments.language.lang,
            Some(Command::Doctor(arguments)) => arguments.language.lang,
            Some(Command::Launch(arguments)) => arguments.language.lang,
            _ => EN,
        }
    }
}

#[derive(Debug, Args)]
struct DiagnosisArguments {
    /// Log connections, started programs and phases to stderr; twice: more. DYNO_LOG sets levels
    /// per module (`dyno_host=debug`)
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment and write its results and report
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Write a first spec for a database, based on its schema
    #[command(after_long_help = INIT_EXAMPLES)]
    Init(InitArguments),
    /// Show what an experiment would run: trials in order, estimated time, and preflight checks
    #[command(after_long_help = PLAN_EXAMPLES)]
    Plan(PlanArguments),
    /// Write the report of a results folder again
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Show the figures of an experiment over its runs, and prepare them for change point detection
    #[command(after_long_help = HISTORY_EXAMPLES)]
    History(HistoryArguments),
    /// Compare runs before and after a change: a verdict per configuration, and an exit code for CI
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Show finished runs in a browser: a list, their reports, and comparisons
    #[command(after_long_help = SERVE_EXAMPLES)]
    Serve(ServeArguments),
    /// Import results of other programs into a results folder, and check a claim against them
    #[command(after_long_help = IMPORT_EXAMPLES)]
    Import(ImportArguments),
    /// Pack the files of a run that a bug report needs, without passwords
    #[command(after_long_help = BUNDLE_EXAMPLES)]
    Bundle(BundleArguments),
    /// Drop tables that an aborted run left on systems that dyno did not start
    #[command(after_long_help = CLEANUP_EXAMPLES)]
    Cleanup(CleanupArguments),
    /// List the workloads, or explain one: statements, options, audit
    #[command(after_long_help = WORKLOADS_EXAMPLES)]
    Workloads(WorkloadsArguments),
    /// Check this machine: problems that distort measurements, installed servers, load generator
    /// speed
    #[command(after_long_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
    /// Serve canned replies over a database protocol, to measure the limit of a load generator
    #[command(after_long_help = NULL_SERVER_EXAMPLES)]
    NullServer(NullServerArguments),
    /// Run an experiment in a cluster, with its generators
    ///
    /// Without --apply, the objects of the run are written to stdout as JSON for kubectl. With
    /// --apply, kubectl makes them; dyno follows the run, copies its results, ends with its exit
    /// code, and removes everything, also after Ctrl-C.
    #[command(after_long_help = LAUNCH_EXAMPLES)]
    Launch(Box<LaunchArguments>),
    /// Print a completion script for a shell
    #[command(after_long_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Shell that it is for
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write manual pages
    #[command(after_long_help = MAN_EXAMPLES)]
    Man {
        /// Folder to write into; created if it does not exist
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
    /// Run with the command line, scripts and output of sysbench
    #[command(disable_help_flag = true)]
    Sysbench {
        /// As for sysbench: options, script and command in any order; --help lists them
        #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run with the command line, scripts and output of pgbench
    #[command(disable_help_flag = true)]
    Pgbench {
        /// As for pgbench: options and database in any order; --help lists them
        #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Drive a part of the clients of another dyno, whose launcher starts this
    #[command(hide = true)]
    Generator,
    /// Create the Job of generators, follow it and report its failure; started by `dyno run`
    #[command(hide = true)]
    KubernetesJob(KubernetesJobArguments),
    /// Hold results in a pod, and move them in and out; started by `dyno launch kubernetes`
    #[command(hide = true)]
    Volume {
        /// What to do
        #[command(subcommand)]
        command: VolumeCommand,
    },
    /// Look after the servers that another dyno has started, and remove them when it ends
    #[command(hide = true)]
    Supervise,
}

/// `dyno run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    diagnosis: DiagnosisArguments,

    #[command(flatten)]
    pub(crate) spec: SpecArguments,

    /// Folder for the results; must be empty or not exist yet [default: results/<experiment>/<utc
    /// time>-<id>]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Resume a killed or interrupted run in its folder, at the first trial without results
    ///
    /// Without SPEC, dyno uses the plan in the folder. With SPEC (and the same --profile and
    /// --set), the plan must be the same. Files of an unfinished trial are set aside; failed trials
    /// are measured again.
    #[arg(long, value_name = "RESULTS", conflicts_with_all = ["out", "trial"])]
    pub(crate) resume: Option<PathBuf>,

    /// Measure only this trial of the plan, for example b02-003, into a new folder; can be repeated
    #[arg(long, value_name = "TRIAL")]
    pub(crate) trial: Vec<String>,

    /// Print the spec that corresponds to a command line with a URL, and exit
    #[arg(long)]
    pub(crate) print_spec: bool,

    /// Write the report as JSON to stdout instead of tables
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) language: Language,

    /// Print warnings and errors only: no progress and no tables
    ///
    /// The results folder has the report. With --json, the report is still printed.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print progress as plain lines, also on a terminal
    #[arg(long)]
    pub(crate) plain: bool,

    /// Show the run in a browser and as metrics for Prometheus, on this address
    ///
    /// Without ADDRESS, programs on this machine can read it at port 7341. An address of a network
    /// requires a token: that of the environment variable DYNO_SERVE_TOKEN, or a random one, which
    /// is part of the printed link.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = SERVE)]
    pub(crate) serve: Option<SocketAddr>,

    /// Send metrics to a collector of OpenTelemetry every five seconds, in OTLP over HTTP:
    /// http://HOST or http://HOST:4318/v1/metrics
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<Collector>,

    /// Permit writes to this database although it is not empty and was not created by dyno
    ///
    /// dyno creates, fills and drops tables. It refuses a database that contains other tables
    /// unless its name is given here; separate several by commas.
    #[arg(long, value_name = "DATABASE")]
    pub(crate) yes_write_to: Option<String>,
}

/// `dyno plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) spec: SpecArguments,

    /// Suggest the number of blocks, based on the variation in an earlier run
    ///
    /// RESULTS is the folder of a pilot run on the same machine: a few configurations in three or
    /// more blocks are enough.
    #[arg(long, value_name = "RESULTS")]
    pub(crate) pilot: Option<PathBuf>,

    /// Write the plan with all trials, the estimated time and the preflight results as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) language: Language,

    /// Check the plan as `dyno run` with the same option would
    #[arg(long, value_name = "DATABASE")]
    pub(crate) yes_write_to: Option<String>,
}

/// `dyno cleanup`.
#[derive(Debug, Args)]
pub(crate) struct CleanupArguments {
    /// Spec file (TOML) that names the systems, or the URL of a database
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Apply the tables of [profile.NAME] to the spec
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Set a key of the spec, after the profile; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl CleanupArguments {
    /// The experiment whose systems are cleaned up. For a URL it is any experiment with tables of
    /// dyno: the marker lists them.
    pub(crate) fn experiment(&self) -> SpecArguments {
        let mut arguments = SpecArguments {
            spec: Some(self.spec.clone()),
            profile: self.profile.clone(),
            set: self.set.clone(),
            ..SpecArguments::default()
        };
        if arguments.url().is_some() {
            arguments.one_line = OneLineArguments::of_workload("rush");
        }
        arguments
    }
}

/// `dyno report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Folder of a run; several, or a folder of runs, are reported together
    ///
    /// Runs are reported together if they differ only in numbers of clients and levels; the nth
    /// trial of a configuration is then in block n.
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) results: Vec<PathBuf>,

    /// Formats, separated by commas [default: html, and none with --check]
    ///
    /// A single format other than html goes to stdout, unless --out names a folder; everything else
    /// goes into files.
    #[arg(long, value_parser = one_of(&OUTPUTS), value_delimiter = ',')]
    pub(crate) format: Vec<Output>,

    /// Exit with 8 if a limit failed or a comparison is worse, with 6 if trials are missing or none
    /// is valid, with 9 if a limit or search is undecided or a comparison is invalid
    #[arg(long)]
    pub(crate) check: bool,

    /// Form of the report
    #[arg(long, value_enum, default_value = "report")]
    pub(crate) template: Template,

    #[command(flatten)]
    pub(crate) language: Language,

    /// Title of the report [default: that of the spec]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Folder for the files [default: the results folder, where there is one]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// Conclusions first, then all details
    Report,
    /// Formal test report: cover, revisions, purpose, summary, each test with its commands,
    /// environment, procedure, conclusions; html and md
    TestReport,
}

/// `dyno import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files, each with the name of the system that was measured
    ///
    /// Without NAME, the system is named after the file, without its suffix and the number of
    /// clients and of the repeat at its end: pool-10.log, pool_10threads.log and pool-c10-run2.log
    /// belong to `pool`. `-` is standard input.
    #[arg(value_name = "[NAME=]FILE", required = true)]
    pub(crate) files: Vec<String>,

    /// A claim about two systems, to be confirmed or refuted by the results
    #[arg(long, value_name = "A is faster than B")]
    pub(crate) claim: Option<String>,

    /// Number of clients, for files that do not contain it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clients: Option<u32>,

    /// Unit of the values of histogram logs
    #[arg(long, value_parser = one_of(&UNITS), default_value = "ns")]
    pub(crate) unit: Nanos,

    /// Name of a table column that differs from the default; can be repeated
    #[arg(long, value_name = "COLUMN=NAME")]
    pub(crate) column: Vec<String>,

    /// Heading of the report
    #[arg(long, value_name = "TEXT", default_value = "Imported figures")]
    pub(crate) title: String,

    /// Folder for the results; must be empty or not exist yet [default: results/imported/<utc
    /// time>-<id>]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) language: Language,
}

/// Units of time.
const UNITS: [(&str, &str, Nanos); 3] = [
    ("ns", "Nanoseconds", Nanos(1)),
    ("us", "Microseconds", Nanos(1_000)),
    ("ms", "Milliseconds", Nanos(1_000_000)),
];

/// What `dyno report` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// A report.
    Report(Format),
    /// The charts, a file each.
    Charts,
    /// A file for another program.
    Export(Export),
}

const OUTPUTS: [(&str, &str, Output); 11] = [
    ("html", "One self-contained page: report.html", Output::Report(Format::Html)),
    ("md", "Markdown: report.md", Output::Report(Format::Markdown)),
    ("csv", "One line per figure: report.csv", Output::Report(Format::Csv)),
    ("json", "All results, for programs: report.json", Output::Report(Format::Json)),
    ("text", "Tables for the terminal", Output::Report(Format::Text)),
    (
        "svg",
        "The main charts, a file each, for documents and slides: chart-NAME.svg",
        Output::Charts,
    ),
    (
        "junit",
        "JUnit XML: limits, questions and comparisons as test cases",
        Output::Export(Export::Junit),
    ),
    ("bmf", "Bencher Metric Format", Output::Export(Export::Bmf)),
    (
        "github-bigger",
        "Throughput, for customBiggerIsBetter of github-action-benchmark",
        Output::Export(Export::GithubBigger),
    ),
    (
        "github-smaller",
        "Response times, for customSmallerIsBetter of github-action-benchmark",
        Output::Export(Export::GithubSmaller),
    ),
    (
        "otava",
        "A row of the run with its main figures, as `dyno history` writes them",
        Output::Export(Export::Otava),
    ),
];

/// `dyno compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Results before the change: a results folder, or a folder with several of the same experiment
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,

    /// Results after the change, likewise
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,

    /// Title of the comparison [default: those of the specs]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Metrics, separated by commas [default: all]
    #[arg(long, value_parser = one_of(&COMPARE_METRICS), value_delimiter = ',')]
    pub(crate) metric: Vec<ComparisonMetric>,

    /// Margin of equivalence: smaller differences count as none, for example 3% or 0.03
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "5%")]
    pub(crate) margin: f64,

    /// Compare two systems with different names; can be repeated
    ///
    /// Systems of the same name are always compared, and so are two that are the only ones of their
    /// sides.
    #[arg(long = "system", value_name = "BASE=NEW")]
    pub(crate) systems: Vec<String>,

    /// Verdicts that cause a non-zero exit code, separated by commas: 8 for worse, 9 for the others
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["worse", "invalid"])]
    pub(crate) fail_on: Vec<FailOn>,

    /// Form of the output
    ///
    /// It goes to stdout, unless --out names a folder.
    #[arg(long, value_parser = one_of(&COMPARE_FORMATS), value_delimiter = ',', default_value = "text")]
    pub(crate) format: Vec<Option<Format>>,

    /// Write JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) language: Language,

    /// Folder for a file per format: compare.html, compare.md, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Reads a share: `3%`, `3 %` or `0.03`.
fn margin(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().map(|number| number / unit).ok();
    share.filter(|share| *share > 0.0 && *share <= 1.0).ok_or_else(|| {
        "expected a share above 0 and at most 100 %, for example 5% or 0.05".to_owned()
    })
}

/// Metrics that can be compared.
const COMPARE_METRICS: [(&str, &str, ComparisonMetric); 5] = [
    ("throughput", "Committed transactions per second", ComparisonMetric::Throughput),
    ("mean", "Mean response time", ComparisonMetric::MeanMs),
    ("p50", "Median response time", ComparisonMetric::P50Ms),
    ("p95", "p95 response time", ComparisonMetric::P95Ms),
    ("p99", "p99 response time", ComparisonMetric::P99Ms),
];

/// A verdict that can make dyno exit with a specific code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// New is worse than base, or some of its trials failed: exit code 8
    Worse,
    /// A comparison is inconclusive: exit code 9
    Inconclusive,
    /// A comparison cannot be made: a side has no usable result or too few valid trials, its data
    /// audit failed, or it has no figure of a metric in --metric: exit code 9
    Invalid,
    /// New is better: exit code 9, for example when nothing should have changed
    Better,
    /// A configuration is on one side only: exit code 9
    Missing,
    /// The sides were measured under different conditions, or there is any other warning: exit code
    /// 9
    Warning,
    /// Nothing, whatever the verdicts
    None,
}

/// Forms of a comparison: a format, or `None` for GitHub annotations, which are printed in addition
/// to any other form.
const COMPARE_FORMATS: [(&str, &str, Option<Format>); 6] = [
    ("text", "Tables for the terminal", Some(Format::Text)),
    ("md", "Markdown, outcome first", Some(Format::Markdown)),
    ("csv", "One line per comparison", Some(Format::Csv)),
    ("json", "All results, for programs", Some(Format::Json)),
    ("html", "One self-contained page with a chart", Some(Format::Html)),
    (
        "github",
        "For GitHub Actions: annotations on stdout, and a job summary if GITHUB_STEP_SUMMARY is set",
        None,
    ),
];

/// The requested formats, each once.
pub(crate) fn each_once(formats: &[Option<Format>]) -> Vec<Format> {
    lists::distinct(formats.iter().flatten().copied())
}

/// `dyno workloads`.
#[derive(Debug, Args)]
pub(crate) struct WorkloadsArguments {
    /// Workload to explain [default: list all]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dyno init`.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Database, such as postgres://me@localhost/shop; without one, the spec starts its own server
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// File to write; for a database with tables, an SQL script is written next to it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `dyno doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) language: Language,
}

/// `dyno null-server`.
#[derive(Debug, Args)]
pub(crate) struct NullServerArguments {
    /// Protocol to speak
    #[arg(long, value_parser = one_of(&Protocol::ALL))]
    pub(crate) protocol: Protocol,
    /// Address to listen on, e.g. 127.0.0.1:3399; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Imitate a product of that protocol: its version, and statements that it rejects, from its
    /// manual
    #[arg(long, value_name = "PRODUCT", value_parser = one_of(&Persona::ALL))]
    pub(crate) imitate: Option<&'static Persona>,
}
