//! Splits an expression into tokens. It ends with its line, unless a backslash precedes the end of
//! the line.

use super::value::Value;
use super::variables::{continues_name, starts_name};

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'s> {
    /// A number, boolean or NULL.
    Constant(Value),
    /// The digits 9223372036854775808, which are an integer only after a minus.
    BeyondInteger,
    /// `:name`
    Variable(&'s str),
    /// A name that is not a keyword.
    Name(&'s str),
    /// A keyword in lower case, or an operator or punctuation.
    Sign(&'static str),
    /// The end of the line or of the script.
    End,
}

/// An invalid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The error.
    pub(crate) message: &'static str,
    /// The text that caused it.
    pub(crate) text: String,
}

const KEYWORDS: [&str; 11] =
    ["and", "or", "not", "is", "isnull", "notnull", "case", "when", "then", "else", "end"];

/// Longer signs precede their prefixes.
const SIGNS: [&str; 21] = [
    "<<", ">>", "<>", "<=", ">=", "!=", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~",
    "(", ")", ",",
];

/// Reads tokens of a script from a position.
#[derive(Debug, Clone)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

/// Length of the leading blanks in the text of a command, including a backslash with the end of its
/// line.
pub(crate) fn blanks(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += match &text[at..] {
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => 1,
            _ => return at,
        };
    }
}

impl<'s> Lexer<'s> {
    /// Starts at a position of the script.
    pub(crate) fn new(source: &'s str, at: usize) -> Self {
        Self { source, at }
    }

    /// The position after the last token.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'s [u8] {
        &self.source.as_bytes()[self.at..]
    }

    /// The next token.
    ///
    /// # Errors
    /// When a character is not valid in an expression, or a constant is too large.
    pub(crate) fn next_token(&mut self) -> Result<Token<'s>, Unreadable> {
        self.at += blanks(self.rest());
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Ok(Token::End) };
        if first == b'\n' {
            self.at += 1;
            return Ok(Token::End);
        }
        let digits =
            |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if first.is_ascii_digit() || first == b'.' && digits(1) > 0 {
            return self.number();
        }
        if first == b':' && rest.get(1).copied().is_some_and(starts_name) {
            self.at += 1;
            return Ok(Token::Variable(self.word()));
        }
        if first.is_ascii_alphabetic() || first == b'_' || first >= 0x80 {
            return Ok(keyword_or_name(self.word()));
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) {
            self.at += sign.len();
            return Ok(Token::Sign(if *sign == "!=" { "<>" } else { sign }));
        }
        self.at += 1;
        Err(Unreadable { message: "unexpected character", text: char::from(first).to_string() })
    }

    fn word(&mut self) -> &'s str {
        let start = self.at;
        self.at += self.rest().iter().take_while(|byte| continues_name(**byte)).count();
        &self.source[start..self.at]
    }

    fn number(&mut self) -> Result<Token<'s>, Unreadable> {
        let rest = self.rest();
        let digits =
            |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = digits(0);
        let mut is_double = false;
        if rest.get(length) == Some(&b'.') {
            is_double = true;
            length += 1 + digits(length + 1);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                is_double = true;
                length += 1 + sign + exponent;
            }
        }
        let text = &self.source[self.at..self.at + length];
        self.at += length;
        let overflow = |message| Unreadable { message, text: text.to_owned() };
        if is_double {
            let value: f64 = text.parse().map_err(|_| overflow("double constant overflow"))?;
            if value.is_infinite() {
                return Err(overflow("double constant overflow"));
            }
            return Ok(Token::Constant(Value::Double(value)));
        }
        if text == "9223372036854775808" {
            return Ok(Token::BeyondInteger);
        }
        let value = text.parse().map_err(|_| overflow("bigint constant overflow"))?;
        Ok(Token::Constant(Value::Integer(value)))
    }
}

fn keyword_or_name(word: &str) -> Token<'_> {
    match word.to_ascii_lowercase().as_str() {
        "null" => Token::Constant(Value::Null),
        "true" => Token::Constant(Value::Boolean(true)),
        "false" => Token::Constant(Value::Boolean(false)),
        small => match KEYWORDS.iter().find(|keyword| **keyword == small) {
            Some(keyword) => Token::Sign(keyword),
            None => Token::Name(word),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(source, 0);
        let mut all = Vec::new();
        loop {
            let token = lexer.next_token().unwrap();
            if token == Token::End {
                return all;
            }
            all.push(token);
        }
    }

    #[test]
    fn an_expression_is_split_into_tokens() {
        let expected = vec![
            Token::Constant(Value::Integer(1)),
            Token::Sign("<<"),
            Token::Variable("x_1"),
            Token::Sign("<>"),
            Token::Constant(Value::Double(0.5)),
            Token::Sign("and"),
            Token::Name("Random"),
            Token::Sign("("),
            Token::Constant(Value::Double(2e3)),
            Token::Sign(")"),
        ];
        assert_eq!(tokens("1<<:x_1 != .5 AND Random(2e3)"), expected);
        assert_eq!(tokens("1.e"), [Token::Constant(Value::Double(1.0)), Token::Name("e")]);
    }

    #[test]
    fn a_backslash_before_the_end_of_a_line_continues_it() {
        assert_eq!(tokens("1 \\\n 2 \\\r\n3\n4").len(), 3);
    }
}
