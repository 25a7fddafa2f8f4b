//! The words of statements, as far as their text shows them.

use super::context::Nature;
use super::statement::{End, cut};
use dyno_model::engine::Syntax;

/// A token of a statement; letters are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    /// A word of a quoted name or text.
    Quoted(String),
    Sign(char),
}

impl Token {
    /// The word, if it is not quoted.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Quoted(_) | Self::Sign(_) => None,
        }
    }
}

/// True for characters of names, on any engine.
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The statements of a text, without their semicolons and comments; `None` when a comment holds
/// what servers of MySQL's family execute.
pub(crate) fn statements(text: &str, syntax: Syntax) -> Option<Vec<Vec<Token>>> {
    if syntax.executes_comments && (text.contains("/*!") || text.contains("/*M!")) {
        return None;
    }
    let (mut all, mut at) = (Vec::new(), 0);
    loop {
        let part = cut(text, at, syntax);
        all.push(tokens(&part.text, &part.natures));
        at = match part.end {
            End::Semicolon => part.at,
            End::Backslash(at) => at + 1,
            End::Script => break,
        };
    }
    all.retain(|tokens| !tokens.is_empty());
    Some(all)
}

fn tokens(text: &str, natures: &[Nature]) -> Vec<Token> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut before = Nature::Blank;
    for (at, character) in text.char_indices() {
        let nature = natures[at];
        let belongs = is_of_word(character) && nature != Nature::Blank;
        if !belongs || nature != before {
            close(&mut all, &mut word, before);
        }
        if belongs {
            word.extend(character.to_lowercase());
        } else if nature == Nature::Code && character != ';' {
            all.push(Token::Sign(character));
        }
        before = nature;
    }
    close(&mut all, &mut word, before);
    all
}

/// Ends a word.
fn close(all: &mut Vec<Token>, word: &mut String, nature: Nature) {
    if word.is_empty() {
        return;
    }
    let word = std::mem::take(word);
    all.push(if nature == Nature::Code { Token::Word(word) } else { Token::Quoted(word) });
}
