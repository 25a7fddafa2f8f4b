//! Words that users type: suggestions for mistyped words, and lists of the known words.

/// Words of dyno, each with words of other programs and manuals that mean the same: in lower case,
/// with `_` for `-`, in the singular or plural. Where several rows have a word, the first one that
/// fits the place is meant.
pub const SYNONYMS: [(&str, &[&str]); 28] = [
    ("attempts_max", &["max_attempts", "max_retries", "max_tries", "retries"]),
    ("bin_dir", &["basedir", "path"]),
    ("blocks", &["iterations", "repeats", "repetitions", "replicates", "rounds", "runs"]),
    ("clients", &["concurrency", "connections", "threads", "users", "virtual_users", "vus"]),
    ("connect_timeout", &["connection_timeout", "login_timeout", "timeout"]),
    ("duration", &["length", "max_time", "run_time", "runtime", "seconds", "time"]),
    ("kind", &["engine", "product", "type"]),
    ("limit", &["sla", "slo", "threshold"]),
    ("oltp_read_write", &["oltp", "sysbench"]),
    ("query_mode", &["protocol"]),
    ("rate", &["arrival_rate", "qps", "target_rate", "throughput", "tps"]),
    ("recordcount", &["record_count", "records", "rows"]),
    ("scale", &["scale_factor", "warehouses"]),
    ("scripts", &["files", "queries", "statements"]),
    ("settings", &["conf", "config", "configuration", "options", "parameters"]),
    ("statement_timeout", &["query_timeout", "request_timeout", "timeout"]),
    ("system", &["database", "db", "sut", "target"]),
    ("table_size", &["rows", "rows_per_table", "size"]),
    ("think", &["delay", "pause", "sleep", "think_time", "thinking"]),
    ("throughput", &["qps", "rate", "tps"]),
    ("time_limit", &["max_duration", "timeout"]),
    ("tpcb", &["pgbench", "tpc_b", "tpcb_like"]),
    ("tpcc", &["tpc_c"]),
    ("transactions", &["events", "max_requests"]),
    ("url", &["address", "connection_string", "database", "dsn", "host", "port", "uri", "user"]),
    ("warehouses", &["scale", "scale_factor", "size"]),
    ("warmup", &["ramp_up", "rampup", "warmup_time"]),
    ("workload", &["benchmark", "test"]),
];

/// A word without differences in spelling that have no meaning.
fn plain(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// Which of `candidates` is this word in another spelling, or means the same.
#[must_use]
pub fn equivalent<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let (word, candidates) = (plain(word), candidates.into_iter().collect::<Vec<_>>());
    let known = |meant: &str| candidates.iter().copied().find(|it| plain(it) == meant);
    let singular = |word: &str| word.trim_end_matches('s').to_owned();
    let is_row = |others: &[&str]| others.iter().any(|it| singular(it) == singular(&word));
    let synonym = || SYNONYMS.iter().filter(|(_, it)| is_row(it)).find_map(|(it, _)| known(it));
    known(&word).or_else(synonym)
}

/// The nearest of `candidates` to a word that is not among them: one that means the same, or is
/// spelled similarly. All suggestions use this function.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(candidate) = equivalent(word, candidates.iter().copied()) {
        return Some(candidate);
    }
    let lower = plain(word);
    let distance = |candidate: &str| strsim::osa_distance(&lower, &plain(candidate));
    let (distance, candidate) = candidates
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    // Two letters may differ in a word of four, and a third of the letters in a long one; with two
    // letters there is no basis for a suggestion.
    let allowed = match lower.chars().count() {
        0..=2 => 0,
        3 => 1,
        letters => (letters / 3).max(2),
    };
    (distance <= allowed).then_some(candidate)
}

/// Help for an unknown word: the nearest known word, or the list of all.
pub(crate) fn suggestion(word: &str, candidates: &[&str], kind: &str) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if candidates.is_empty() => format!("there are no {kind}"),
        None => format!("{kind}: {}", list(candidates)),
    }
}

/// A factor's name without its obvious prefix: `workload.variant` as `variant`,
/// `background.report.clients` as `report.clients`.
#[must_use]
pub fn short_factor(name: &str) -> &str {
    name.strip_prefix("background.").unwrap_or_else(|| name.rsplit('.').next().unwrap_or(name))
}

/// Words separated by commas, in backquotes.
pub(crate) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
/// True when a statement begins with one of these words, optionally after a parenthesis.
#[must_use]
pub fn begins_with(statement: &str, words: &[&str]) -> bool {
    let word = statement
        .trim_start_matches(['(', ' '])
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}
