//! Words that people type: which known one they probably meant, and lists of those that there are.

/// The nearest of `candidates` to a mistyped word, if any is near: what did-you-mean goes by
/// everywhere.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower = word.to_lowercase().replace('-', "_");
    let distance =
        |candidate: &str| strsim::osa_distance(&lower, &candidate.to_lowercase().replace('-', "_"));
    let (distance, candidate) = candidates
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    // Two letters may be wrong in a word of four, and a third of the letters in a long one; two
    // letters prove nothing.
    let allowed = match lower.chars().count() {
        0..=2 => 0,
        3 => 1,
        letters => (letters / 3).max(2),
    };
    (distance <= allowed).then_some(candidate)
}

/// Help for a word that is not in a list: the nearest one, or the list.
pub(crate) fn suggestion(word: &str, candidates: &[&str], kind: &str) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if candidates.is_empty() => format!("there are no {kind}"),
        None => format!("{kind}: {}", list(candidates)),
    }
}

/// A factor's name without what every reader knows: `workload.variant` as `variant`,
/// `background.report.clients` as `report.clients`.
#[must_use]
pub fn short_factor(name: &str) -> &str {
    name.strip_prefix("background.").unwrap_or_else(|| name.rsplit('.').next().unwrap_or(name))
}

/// Words with commas, in backquotes.
pub(crate) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
/// True when a statement begins with one of these words, in a parenthesis perhaps.
#[must_use]
pub fn begins_with(statement: &str, words: &[&str]) -> bool {
    let word = statement
        .trim_start_matches(['(', ' '])
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}
