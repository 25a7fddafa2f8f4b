//! Templates, texts with placeholders for values: `/items/${key}`, `Bearer ${env:API_TOKEN}`.

use crate::words::suggestion;
use std::io::Write;
use std::ops::Range;

/// Prefix of the name of an environment variable.
const VARIABLE: &str = "env:";

crate::named! {
    /// A number that varies between requests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Parameter {
        /// Number of the client, from 1.
        Client = "client",
        /// Number of the client's transaction, from 1.
        Sequence = "sequence",
        /// A key, drawn once per request.
        Key = "key",
    }
}

/// A text with placeholders for values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(Parameter),
    Variable(String),
}

/// A syntax error in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The error.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Position, in bytes.
    pub range: Range<usize>,
}

impl Template {
    /// Parses a text in which `${client}`, `${sequence}`, `${key}` and `${env:VARIABLE}` are
    /// placeholders for values, and `$${` stands for `${`.
    ///
    /// # Errors
    /// When a placeholder is not closed or unknown.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find("${") {
            let start = at + found;
            literal.push_str(&text[at..start]);
            if literal.ends_with('$') {
                literal.push('{');
                at = start + 2;
                continue;
            }
            let Some(length) = text[start..].find('}') else {
                return Err(TemplateError {
                    message: "`${` is not closed".to_owned(),
                    help: "close it with `}`, or write `$${` for a literal `${`".to_owned(),
                    range: start..start + 2,
                });
            };
            let range = start..start + length + 1;
            let name = &text[start + 2..start + length];
            let piece = match (name.strip_prefix(VARIABLE), Parameter::named(name)) {
                (Some(variable), _) if !variable.is_empty() => Piece::Variable(variable.to_owned()),
                (_, Some(parameter)) => Piece::Parameter(parameter),
                _ => return Err(unknown(name, range)),
            };
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(piece);
            at = range.end;
        }
        literal.push_str(&text[at..]);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self(pieces))
    }

    /// The environment variables that it references.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The template with its environment variables replaced by their values.
    ///
    /// # Errors
    /// When `value` fails.
    pub fn resolved<E>(mut self, value: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        for piece in &mut self.0 {
            if let Piece::Variable(name) = piece {
                *piece = Piece::Text(value(name)?);
            }
        }
        Ok(self)
    }

    /// Appends the text with these values; unresolved variables append nothing.
    pub fn write(&self, value: impl Fn(Parameter) -> u64, out: &mut Vec<u8>) {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Parameter(parameter) => {
                    let _ = write!(out, "{}", value(*parameter));
                }
                Piece::Variable(_) => {}
            }
        }
    }
}

fn unknown(name: &str, range: Range<usize>) -> TemplateError {
    let known: Vec<&str> =
        Parameter::ALL.iter().map(|parameter| parameter.name()).chain(["env:VARIABLE"]).collect();
    TemplateError {
        message: format!("`${{{name}}}` is not a known placeholder"),
        help: format!(
            "{}; write `$${{` for a literal `${{`",
            suggestion(name, &known, "known names")
        ),
        range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let template = Template::parse(text).unwrap();
        let template = template.resolved(|name| Ok::<_, ()>(format!("<{name}>"))).unwrap();
        let mut out = Vec::new();
        let value = |parameter| match parameter {
            Parameter::Client => 7,
            Parameter::Sequence => 8,
            Parameter::Key => 9,
        };
        template.write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_stand_in_their_places_and_everything_else_as_it_was() {
        for (text, expected) in [
            ("", ""),
            ("/items/${key}", "/items/9"),
            ("${client}${sequence}-${key}.", "78-9."),
            ("{\"a\": {\"b\": ${key}}}", "{\"a\": {\"b\": 9}}"),
            ("Bearer ${env:TOKEN}", "Bearer <TOKEN>"),
            ("5 $, $${key} and $", "5 $, ${key} and $"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
        let template = Template::parse("${env:A}/${env:B}").unwrap();
        assert_eq!(template.variables().collect::<Vec<_>>(), ["A", "B"]);
    }

    #[test]
    fn a_place_that_is_open_or_unknown_is_named() {
        let error = |text| Template::parse(text).unwrap_err();
        assert_eq!(error("/${key").range, 1..3);
        let unknown = error("/${kee}/x");
        assert_eq!(
            (unknown.range, unknown.message.as_str()),
            (1..7, "`${kee}` is not a known placeholder")
        );
        assert!(unknown.help.starts_with("did you mean `key`?"), "{}", unknown.help);
        assert!(error("${env:}").message.contains("is not a known placeholder"));
    }
}
