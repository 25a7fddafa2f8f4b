//! Headings, column titles and short words that tables share.

use super::message::messages;

messages! {
    // Sections.
    /// Section.
    CONCLUSIONS [] "What the figures say";
    /// Section.
    RESULTS [] "Results";
    /// Section.
    COMPARISONS [] "Comparisons";
    /// Section.
    AUDIT [] "Audit: is the data intact?";
    /// Section.
    VALIDITY [] "Doubts about the figures";
    /// Section.
    STATEMENTS [] "Response times by statement";
    /// Section: what the monitor saw.
    RESOURCES [] "Machine and server";
    /// Section.
    GENERATOR [] "What the generator measured of itself";
    /// Section.
    FAILURES [] "Failures and retries by kind";
    /// Section.
    TRIALS [] "All trials";
    /// Section.
    PROVENANCE [] "How it was measured";
    /// Section.
    SYSTEMS [] "Systems";
    /// Section.
    SETTINGS [] "Settings";
    /// Section.
    ENVIRONMENT [] "Machine";
    /// Section.
    PUBLISHED [] "Figures published elsewhere";
    /// Section.
    SPEC [] "The spec as written";
    /// Section.
    METHOD [] "How to read this";
    /// Section.
    TIMELINE [] "Course of each trial";
    /// Section.
    PERCENTILES [] "Distribution of response times";

    // Columns.
    /// Column.
    SYSTEM [] "system";
    /// Column.
    CLIENTS [] "clients";
    /// Column: valid trials.
    TRIALS_VALID [] "n";
    /// Column: half width of an interval beside the value.
    THROUGHPUT [] "tx/s";
    /// Column: half width of the 95 % interval.
    INTERVAL [] "±95 %";
    /// Column.
    MEAN_MS [] "mean ms";
    /// Column.
    P50_MS [] "p50 ms";
    /// Column.
    P95_MS [] "p95 ms";
    /// Column.
    P99_MS [] "p99 ms";
    /// Open loop: transactions that were due.
    ARRIVED [] "arrived";
    /// Open loop: transactions that were due and never started.
    NEVER_STARTED [] "never started";
    /// Column.
    MAX_MS [] "max ms";
    /// Longest time without a commit of any client.
    GAP_MS [] "no commit ms";
    /// Column.
    COMMITTED [] "committed";
    /// Column.
    FAILED [] "failed";
    /// Column.
    UNFINISHED [] "cut off";
    /// Column.
    RETRIES [] "retries";
    /// Column.
    LOST [] "lost";
    /// Column.
    LOST_PERCENT [] "lost %";
    /// Column.
    PHANTOM [] "unacknowledged";
    /// Column.
    WITNESSED [] "witnessed";
    /// Column.
    IN_DOUBT [] "in doubt";
    /// Column.
    STATEMENT_ERRORS [] "errors reported";
    /// Column.
    AUDIT_VERDICT [] "audit";
    /// Column.
    VALIDITY_COLUMN [] "validity";
    /// Column.
    SUBJECT [] "subject";
    /// Column.
    BASELINE [] "against";
    /// Column.
    RATIO [] "ratio";
    /// Column.
    RATIO_INTERVAL [] "interval";
    /// Column: p-value after Benjamini and Hochberg's correction.
    P_CORRECTED [] "p (corrected)";
    /// Column.
    DETECTABLE [] "visible from";
    /// Column.
    VERDICT [] "verdict";
    /// Column.
    STATEMENT [] "statement";
    /// Column.
    COUNT [] "count";
    /// Column.
    STANDARD_DEVIATION [] "sd";
    /// Column.
    MIN [] "min";
    /// Column.
    MAX [] "max";
    /// Column.
    MEAN [] "mean";
    /// Column: percentile.
    P50 [] "p50";
    /// Column: percentile.
    P70 [] "p70";
    /// Column: percentile.
    P80 [] "p80";
    /// Column: percentile.
    P90 [] "p90";
    /// Column: percentile.
    P95 [] "p95";
    /// Column: percentile.
    P99 [] "p99";
    /// Column: percentile.
    P999 [] "p99.9";
    /// Column.
    OK [] "ok";
    /// Column.
    TRIAL [] "trial";
    /// Column.
    BLOCK [] "block";
    /// Column.
    REASON [] "reason";
    /// Column.
    WORKERS [] "workers";
    /// Column.
    WORKER_CPU [] "busiest worker CPU %";
    /// Column.
    HELD_UP [] "held up %";
    /// Column.
    CPU_USER [] "user µs/stmt";
    /// Column.
    CPU_SYSTEM [] "sys µs/stmt";
    /// Column.
    WAKEUP_LAG [] "wake-up lag p99 ms";
    /// Column: how late transactions of an open loop began although a client was free.
    LAG [] "late start p99 ms";
    /// Column.
    MEMORY [] "memory MB";
    /// Column: processor time of the machine.
    HOST_CPU [] "CPU of the machine";
    /// Column.
    STEAL [] "steal";
    /// Column: processors kept busy.
    SERVER_CPU [] "server CPUs";
    /// Column: processors kept busy.
    GENERATOR_CPU [] "generator CPUs";
    /// Column.
    SERVER_CPU_PER_TRANSACTION [] "server CPU µs/tx";
    /// Column.
    GENERATOR_CPU_PER_TRANSACTION [] "generator CPU µs/tx";
    /// Column.
    SWITCHES_PER_TRANSACTION [] "switches/tx";
    /// Column.
    READ_PER_TRANSACTION [] "read kB/tx";
    /// Column.
    WRITTEN_PER_TRANSACTION [] "written kB/tx";
    /// Column.
    DISK_BUSY [] "disk busy";
    /// Column.
    SERVER_MEMORY [] "server MB";
    /// Column.
    MONITOR_COST [] "monitor";
    /// Column: kind of a failure.
    KIND [] "kind";
    /// Column.
    CHECKED [] "table or sum";
    /// Column.
    EXPECTED [] "expected";
    /// Column.
    FOUND [] "found";
    /// Column.
    VERSION [] "version";
    /// Column.
    SETTING [] "setting";
    /// Column.
    VALUE [] "value";
    /// Column.
    SOURCE [] "source";
    /// Column.
    SERIES [] "series";
    /// Column.
    METRIC [] "metric";

    // Words in cells.
    /// Verdict.
    VERDICT_BETTER [] "better";
    /// Verdict.
    VERDICT_WORSE [] "worse";
    /// Verdict.
    VERDICT_EQUIVALENT [] "equivalent";
    /// Verdict.
    VERDICT_INCONCLUSIVE [] "inconclusive";
    /// Verdict.
    VERDICT_INVALID [] "invalid";
    /// No verdict was allowed.
    VERDICT_NONE [] "none";
    /// Validity.
    VALID [] "valid";
    /// Validity.
    WARNED [] "warned";
    /// Validity.
    INVALID [] "invalid";
    /// Validity.
    MISSING [] "missing";
    /// State of a trial.
    FAILED_TRIAL [] "failed";
    /// Audit.
    INTACT [] "intact";
    /// Audit.
    VIOLATED [] "VIOLATED";
    /// Audit.
    NOT_CHECKED [] "not checked";
    /// Audit.
    UNDECIDED [] "undecided";
    /// Severity.
    NOTE [] "note";
    /// Severity.
    WARNING [] "warning";
    /// Severity of a finding.
    SEVERITY_INVALID [] "invalid";
    /// A value that does not exist or rests on too little data.
    ABSENT [] "-";
}
