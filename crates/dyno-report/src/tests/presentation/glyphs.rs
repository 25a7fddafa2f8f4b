//! Korean and Japanese pages show no missing glyph with Debian's Noto CJK (`fonts-noto-cjk`), and
//! no characters of the other language.

use crate::format::Format;
use crate::messages::{EN, LANGUAGES};
use crate::tests::rush;
use crate::{html, render};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Blocks that both the Japanese and the Korean face of Noto Sans CJK 2.004 cover completely,
/// according to the `charset` printed by fontconfig's `fc-query`.
const EVERYWHERE: &[RangeInclusive<char>] = &[
    ' '..='~',
    '\u{a0}'..='\u{ff}',
    // Quotation marks, dashes, the ellipsis, arrows, comparison signs, symbols of chips.
    '–'..='—',
    '‘'..='’',
    '“'..='”',
    '…'..='…',
    '←'..='↓',
    '≤'..='≥',
    '▲'..='▲',
    '▼'..='▼',
    '◇'..='◇',
    '✓'..='✓',
    // East Asian punctuation, and full-width forms.
    '\u{3000}'..='\u{303f}',
    '\u{ff01}'..='\u{ff5e}',
];
const HANGUL: RangeInclusive<char> = '가'..='힣';
const KANA: [RangeInclusive<char>; 2] = ['ぁ'..='ゖ', '゠'..='ヿ'];
/// Without the end of the block, which is newer than the font.
const HAN: RangeInclusive<char> = '\u{4e00}'..='\u{9fef}';

/// The characters of a text that a language may not use.
fn strange(code: &str, text: &str) -> BTreeSet<char> {
    let is_own = |c: &char| match code {
        "ko" => HANGUL.contains(c),
        "ja" => HAN.contains(c) || KANA.iter().any(|range| range.contains(c)),
        _ => false,
    };
    let is_known =
        |c: &char| *c == '\n' || EVERYWHERE.iter().any(|range| range.contains(c)) || is_own(c);
    text.chars().filter(|c| !is_known(c)).collect()
}

#[test]
fn messages_use_only_letters_and_glyphs_of_their_language() {
    for lang in LANGUAGES {
        for message in crate::messages::ALL.iter().copied().flatten() {
            let strange = strange(lang.code, message.text(lang));
            assert_eq!(strange, BTreeSet::new(), "{}, {}", lang.code, message.name);
        }
    }
}

#[test]
fn pages_and_charts_show_no_glyph_that_debians_fonts_lack() {
    for lang in LANGUAGES {
        let pages = [Format::Html, Format::Markdown, Format::Text]
            .map(|format| render(rush(), format, lang));
        let charts = html::stand_alone_charts(rush(), lang).into_iter().map(|(_, chart)| chart);
        // A word joiner is not a glyph. Markdown and text, which are searched and copied, contain
        // none.
        let [html, markdown, text] = pages;
        let pages = [html.replace('\u{2060}', ""), markdown, text];
        for text in pages.into_iter().chain(charts) {
            assert_eq!(strange(lang.code, &text), BTreeSet::new(), "{}", lang.code);
        }
    }
}

#[test]
fn letters_of_other_languages_and_rare_signs_are_strange() {
    let of = |code: &str| strange(code, "p95 ≥ 1 µs, 시행 試行 しこう ✕ \u{9fff}");
    assert_eq!(of("ko").into_iter().collect::<String>(), "✕うこし行試\u{9fff}");
    assert_eq!(of("ja").into_iter().collect::<String>(), "✕\u{9fff}시행");
    assert_eq!(of(EN.code).len(), 9);
}
