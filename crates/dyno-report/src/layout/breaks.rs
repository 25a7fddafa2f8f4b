//! Line-breaking rules for text: a line may break at spaces, except inside a figure, and in
//! Japanese, which has no spaces, between most characters.

/// Characters that must not begin a line.
const NEVER_FIRST: &str = "、。，．：；？！）」』】〉》］｝ー々ゝゞ～〜ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ)]},.:;!?%";
/// Characters that must not end a line.
const NEVER_LAST: &str = "（「『【〈《［｛([{～";

/// Units that stay on one line with their figure.
const UNITS: [&str; 8] = ["s", "ms", "µs", "min", "h", "KB", "MB", "GB"];
/// Words after which a figure stays on the same line: numbers of clients in Korean and Japanese.
const BEFORE_FIGURES: [&str; 3] = ["클라이언트", "クライアント", "クライアント数"];
/// Returns true when no line may break at the space between these two words.
pub(crate) fn is_bound(before: &str, after: &str) -> bool {
    // `5.88`, but not `p95`.
    let head = before.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let is_figure = before.ends_with(|c: char| c.is_ascii_digit())
        && !head.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_unit = |unit: &&str| {
        let rest = after.strip_prefix(*unit);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    after.starts_with('%')
        || is_figure && (UNITS.iter().any(is_unit) || after.starts_with(is_japanese))
        || after.starts_with(|c: char| c.is_ascii_digit())
            && BEFORE_FIGURES.iter().any(|it| before.ends_with(it))
}

/// Returns true when a Korean particle follows a punctuation mark. Browsers may break between them,
/// so the rest of the particle would begin a line.
pub(crate) fn is_particle(before: char, after: &str) -> bool {
    matches!(before, '%' | ')') && after.starts_with(|c| matches!(c, '\u{ac00}'..='\u{d7a3}'))
}

/// Splits a text into unbreakable parts; the flag says whether a space precedes the part.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split_whitespace().flat_map(|word| {
        let ends = word.char_indices().zip(word.chars().skip(1)).filter(|((_, before), after)| {
            (is_japanese(*before) || is_japanese(*after))
                && !NEVER_FIRST.contains(*after)
                && !NEVER_LAST.contains(*before)
        });
        let mut ends: Vec<usize> = ends.map(|((at, before), _)| at + before.len_utf8()).collect();
        ends.push(word.len());
        let mut start = 0;
        ends.into_iter().map(move |end| {
            let part = (start == 0, &word[start..end]);
            start = end;
            part
        })
    })
}

/// Returns true for kana, ideographs and full-width characters. Korean breaks at spaces.
fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_ends_inside_of_a_figure() {
        for (before, after) in [
            ("5.88", "s."),
            ("up to 95", "% of it"),
            ("1", "µs)"),
            ("클라이언트", "12개"),
            ("最大クライアント数", "12"),
            ("3", "個"),
            ("1", "試行"),
        ] {
            assert!(is_bound(before, after), "{before} {after}");
        }
        for (before, after) in [
            ("p95", "ms"),
            ("5", "systems"),
            ("5", "he"),
            ("of", "s"),
            ("12", "개"),
            ("clients", "12"),
        ] {
            assert!(!is_bound(before, after), "{before} {after}");
        }
    }

    #[test]
    fn no_korean_particle_begins_a_line() {
        assert!(is_particle('%', "입니다") && is_particle(')', "에서"));
        for (before, after) in [('%', " 많은"), ('%', "以内"), ('%', ")"), ('s', "로"), ('%', "")]
        {
            assert!(!is_particle(before, after), "{before}{after}");
        }
    }

    #[test]
    fn lines_break_at_blanks_and_between_most_japanese_characters() {
        let whole = |text| parts(text).map(|(_, part)| part).collect::<Vec<_>>();
        assert_eq!(whole("95 % of it, wait"), ["95", "%", "of", "it,", "wait"]);
        assert_eq!(whole("처리량이 높다"), ["처리량이", "높다"]);
        assert_eq!(whole("差は（95 % 以内）。次"), ["差", "は", "（95", "%", "以", "内）。", "次"]);
        assert_eq!(whole("MySQLのデータ"), ["MySQL", "の", "デー", "タ"]);
        let blanks: Vec<bool> = parts("表 1の行").map(|(blank, _)| blank).collect();
        assert_eq!(blanks, [true, true, false, false]);
    }
}
