//! Exit codes of `dyno`. They are public and stable; docs/reference lists them.

/// Success.
pub const OK: u8 = 0;
/// The command line is invalid, or combines options that exclude each other.
pub const USAGE: u8 = 2;
/// The spec file has errors.
pub const SPEC_INVALID: u8 = 3;
/// Preflight found an error that prevents the experiment (server unreachable, too many clients, no
/// disk space, not our database).
pub const PREFLIGHT_FAILED: u8 = 4;
/// A server could not be started or died before measuring.
pub const SERVER_FAILED: u8 = 5;
/// The run ended early, trials are missing, or no trial is valid; the results contain what was
/// measured.
pub const RUN_INCOMPLETE: u8 = 6;
/// Results could not be read or written.
pub const RESULTS_FAILED: u8 = 7;
/// `dyno compare` found a regression, or failed trials of the new run (and `--fail-on` includes it,
/// as it does by default); `dyno run`: a limit failed, or no load meets the limit of a search.
pub const WORSE: u8 = 8;
/// `dyno compare` found no regression, but another verdict that `--fail-on` includes, by default
/// that a comparison is invalid or could not be made; `dyno run`: no limit failed, and a limit or a
/// search is undecided.
pub const UNDECIDED: u8 = 9;
/// A bug in dyno or an unexpected condition.
pub const INTERNAL: u8 = 70;
/// Ended by Ctrl-C or a termination signal; the results contain what was measured.
pub const INTERRUPTED: u8 = 130;

/// Every code with its meaning, for the reference.
pub const ALL: [(u8, &str); 11] = [
    (OK, "Success."),
    (
        USAGE,
        "Invalid command line or arguments: runs that cannot be compared or reported together, a \
         trial that is not in the plan, a file that already exists.",
    ),
    (SPEC_INVALID, "The spec file cannot be read or has errors."),
    (
        PREFLIGHT_FAILED,
        "Preflight checks failed: server unreachable, too many clients, no disk space, a database \
         that was not created by dyno.",
    ),
    (SERVER_FAILED, "A server could not be started or died before measuring."),
    (
        RUN_INCOMPLETE,
        "The run ended early, trials are missing, or no trial is valid or committed a transaction; \
         the results contain what was measured.",
    ),
    (RESULTS_FAILED, "Results could not be read or written."),
    (
        WORSE,
        "`dyno compare`: new is worse than base in at least one comparison, or some trials of new \
         failed. `dyno run`: a limit failed, or no load meets the limit of a search.",
    ),
    (
        UNDECIDED,
        "`dyno compare`: nothing is worse, but a comparison has another verdict in `--fail-on` (by \
         default invalid, which includes that it could not be made, for example with too few valid \
         trials). `dyno run`: no limit failed, but a limit or a saturation search is undecided.",
    ),
    (INTERNAL, "Internal error."),
    (
        INTERRUPTED,
        "Ended by Ctrl-C or a termination signal; the results contain what was measured.",
    ),
];
