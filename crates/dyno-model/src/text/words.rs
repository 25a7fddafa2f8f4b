//! Words that users type: suggestions for mistyped words, and lists of the known words.

/// The nearest of `candidates` to a mistyped word, if any is close enough. All suggestions use this
/// function.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower = word.to_lowercase().replace('-', "_");
    let distance =
        |candidate: &str| strsim::osa_distance(&lower, &candidate.to_lowercase().replace('-', "_"));
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
