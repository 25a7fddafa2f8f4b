//! The grammar of expressions, by precedence climbing. Any number of operators in sequence adds no
//! depth, and nesting has a limit: parsing and evaluating use a thread's stack in proportion to an
//! expression's depth.
//!
//! From lowest to highest precedence: OR; AND; NOT; IS, ISNULL, NOTNULL; comparisons, which do not
//! chain; `| # & << >>`; `+ -`; `* / %`; signs and `~`.

use super::function::{Arity, Function, find, names};
use super::lexer::{Lexer, Token};
use super::variables::Names;
use super::{Expression, Value};
use dyno_model::words::nearest;

/// Variable with the default seed of hashes and permutations.
pub(crate) const DEFAULT_SEED: &str = "default_seed";

/// Maximum nesting of parentheses, functions, signs and cases.
const DEPTH_MAX: usize = 200;

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The error.
    pub(crate) message: String,
    /// Position of the last character read.
    pub(crate) at: usize,
    /// A remedy.
    pub(crate) help: Option<String>,
}

/// Parses one expression up to the end of its line; returns it with the position of the end.
///
/// # Errors
/// When it is invalid.
pub(crate) fn parse(
    source: &str,
    at: usize,
    names: &mut Names,
) -> Result<(Expression, usize), SyntaxError> {
    let lexer = Lexer::new(source, at);
    let mut parser = Parser { lexer, next: Token::End, names, depth: 0 };
    parser.advance()?;
    let expression = parser.expression(Level::None)?;
    match parser.next {
        Token::End => Ok((expression, parser.lexer.at())),
        _ => Err(parser.error("syntax error")),
    }
}

/// Precedence of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Lower than that of all operators.
    None,
    Or,
    And,
    Is,
    Compare,
    Bits,
    Add,
    Multiply,
}

/// A binary operator: its precedence, its function, and whether its sides are exchanged.
fn operator(sign: &str) -> Option<(Level, Function, bool)> {
    Some(match sign {
        "or" => (Level::Or, Function::Or, false),
        "and" => (Level::And, Function::And, false),
        "<" => (Level::Compare, Function::Less, false),
        "<=" => (Level::Compare, Function::LessOrEqual, false),
        ">" => (Level::Compare, Function::Less, true),
        ">=" => (Level::Compare, Function::LessOrEqual, true),
        "=" => (Level::Compare, Function::Equal, false),
        "<>" => (Level::Compare, Function::NotEqual, false),
        "|" => (Level::Bits, Function::BitOr, false),
        "#" => (Level::Bits, Function::BitXor, false),
        "&" => (Level::Bits, Function::BitAnd, false),
        "<<" => (Level::Bits, Function::ShiftLeft, false),
        ">>" => (Level::Bits, Function::ShiftRight, false),
        "+" => (Level::Add, Function::Add, false),
        "-" => (Level::Add, Function::Subtract, false),
        "*" => (Level::Multiply, Function::Multiply, false),
        "/" => (Level::Multiply, Function::Divide, false),
        "%" => (Level::Multiply, Function::Modulo, false),
        _ => return None,
    })
}

fn call(function: Function, arguments: impl Into<Box<[Expression]>>) -> Expression {
    Expression::Call(function, arguments.into())
}

fn integer(value: i64) -> Expression {
    Expression::Constant(Value::Integer(value))
}

struct Parser<'s, 'n> {
    lexer: Lexer<'s>,
    next: Token<'s>,
    names: &'n mut Names,
    /// Depth of the expression at this point.
    depth: usize,
}

type Parsed = Result<Expression, SyntaxError>;

impl<'s> Parser<'s, '_> {
    fn error(&self, message: impl Into<String>) -> SyntaxError {
        let at = self.lexer.at().saturating_sub(1);
        SyntaxError { message: message.into(), at, help: None }
    }

    fn advance(&mut self) -> Result<Token<'s>, SyntaxError> {
        let next = self.lexer.next_token().map_err(|unreadable| SyntaxError {
            message: format!("{} ({})", unreadable.message, unreadable.text),
            at: self.lexer.at() - 1,
            help: None,
        })?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn accept(&mut self, sign: &str) -> Result<bool, SyntaxError> {
        let is_it = matches!(self.next, Token::Sign(next) if next == sign);
        if is_it {
            self.advance()?;
        }
        Ok(is_it)
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.accept(sign)? { Ok(()) } else { Err(self.error("syntax error")) }
    }

    fn deeper(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth <= DEPTH_MAX {
            return Ok(());
        }
        Err(self.error(format!("expression is nested more than {DEPTH_MAX} levels deep")))
    }

    /// Parses everything with a higher precedence than `level`.
    fn expression(&mut self, level: Level) -> Parsed {
        self.deeper()?;
        let expression = self.operators(level)?;
        self.depth -= 1;
        Ok(expression)
    }

    fn operators(&mut self, level: Level) -> Parsed {
        let mut left = self.operand()?;
        let mut was_comparison = false;
        let mut is_nested = false;
        while let Token::Sign(sign) = self.next {
            if matches!(sign, "is" | "isnull" | "notnull") && level < Level::Is {
                self.advance()?;
                let (value, is_negated) = self.is(sign)?;
                left = left.then(Function::Is, Expression::Constant(value));
                if is_negated {
                    self.nest(&mut is_nested)?;
                    left = call(Function::Not, [left]);
                }
                was_comparison = false;
                continue;
            }
            let Some((binding, function, is_exchanged)) = operator(sign) else { break };
            if binding <= level {
                break;
            }
            if binding == Level::Compare && was_comparison {
                return Err(self.error("syntax error"));
            }
            self.advance()?;
            let right = self.expression(binding)?;
            left = if is_exchanged {
                self.nest(&mut is_nested)?;
                call(function, [right, left])
            } else {
                left.then(function, right)
            };
            was_comparison = binding == Level::Compare;
        }
        Ok(left)
    }

    /// Records that the left side of an operator becomes nested, which adds depth from the second
    /// time on.
    fn nest(&mut self, is_nested: &mut bool) -> Result<(), SyntaxError> {
        if std::mem::replace(is_nested, true) { self.deeper() } else { Ok(()) }
    }

    /// The rest of `x IS`, `x ISNULL`, `x NOTNULL`: the value, and whether the test is negated.
    fn is(&mut self, sign: &str) -> Result<(Value, bool), SyntaxError> {
        match sign {
            "isnull" => Ok((Value::Null, false)),
            "notnull" => Ok((Value::Null, true)),
            _ => {
                let is_negated = self.accept("not")?;
                match self.next {
                    Token::Constant(value @ (Value::Null | Value::Boolean(_))) => {
                        self.advance()?;
                        Ok((value, is_negated))
                    }
                    _ => Err(self.error("syntax error")),
                }
            }
        }
    }

    fn operand(&mut self) -> Parsed {
        if matches!(self.next, Token::End | Token::BeyondInteger) {
            return Err(self.error("syntax error"));
        }
        match self.next.clone() {
            Token::Constant(value) => {
                self.advance()?;
                Ok(Expression::Constant(value))
            }
            Token::Variable(name) => {
                let slot = self.names.slot(name);
                self.advance()?;
                Ok(Expression::Variable(slot))
            }
            Token::Name(name) => self.function(name),
            Token::Sign(sign) => self.prefixed(sign),
            Token::BeyondInteger | Token::End => unreachable!("refused above"),
        }
    }

    fn prefixed(&mut self, sign: &str) -> Parsed {
        if !matches!(sign, "(" | "+" | "-" | "~" | "not" | "case") {
            return Err(self.error("syntax error"));
        }
        self.advance()?;
        match sign {
            "(" => {
                let inner = self.expression(Level::None)?;
                self.expect(")")?;
                Ok(inner)
            }
            "+" => self.expression(Level::Multiply),
            "-" if self.next == Token::BeyondInteger => {
                self.advance()?;
                Ok(integer(i64::MIN))
            }
            "-" => Ok(call(Function::Subtract, [integer(0), self.expression(Level::Multiply)?])),
            "~" => Ok(call(Function::BitXor, [integer(-1), self.expression(Level::Multiply)?])),
            "not" => Ok(call(Function::Not, [self.expression(Level::And)?])),
            _ => self.case(),
        }
    }

    /// The rest of CASE.
    fn case(&mut self) -> Parsed {
        let mut parts = Vec::new();
        while self.accept("when")? {
            parts.push(self.expression(Level::None)?);
            self.expect("then")?;
            parts.push(self.expression(Level::None)?);
        }
        if parts.is_empty() {
            return Err(self.error("syntax error"));
        }
        let otherwise = if self.accept("else")? {
            self.expression(Level::None)?
        } else {
            Expression::Constant(Value::Null)
        };
        parts.push(otherwise);
        self.expect("end")?;
        Ok(call(Function::Case, parts))
    }

    fn function(&mut self, name: &str) -> Parsed {
        let Some((function, arity)) = find(name) else {
            let near = nearest(name, names());
            let help = near.map(|near| format!("did you mean `{near}`?"));
            let error = self.error(format!("unexpected function name ({name})"));
            return Err(SyntaxError { help, ..error });
        };
        self.advance()?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !matches!(self.next, Token::Sign(")")) {
            arguments.push(self.expression(Level::None)?);
            while self.accept(",")? {
                arguments.push(self.expression(Level::None)?);
            }
        }
        if !matches!(self.next, Token::Sign(")")) {
            return Err(self.error("syntax error"));
        }
        let is_right = match arity {
            Arity::Exactly(count) => arguments.len() == count,
            Arity::Some => !arguments.is_empty(),
            Arity::Seeded(count) => arguments.len() == count || arguments.len() + 1 == count,
        };
        if !is_right {
            let what = if arity == Arity::Some {
                "at least one argument expected"
            } else {
                "unexpected number of arguments"
            };
            return Err(self.error(format!("{what} ({name})")));
        }
        if let Arity::Seeded(count) = arity
            && arguments.len() < count
        {
            arguments.push(Expression::Variable(self.names.slot(DEFAULT_SEED)));
        }
        self.advance()?;
        Ok(call(function, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression with all parentheses, which shows precedence.
    fn shape(source: &str) -> String {
        fn show(expression: &Expression) -> String {
            match expression {
                Expression::Constant(value) => value.to_string(),
                Expression::Variable(_) => "v".to_owned(),
                Expression::Call(function, arguments) => {
                    let arguments: Vec<String> = arguments.iter().map(show).collect();
                    format!("{function:?}({})", arguments.join(" "))
                }
                Expression::Chain(first, steps) => {
                    steps.iter().fold(show(first), |left, (function, right)| {
                        format!("{function:?}({left} {})", show(right))
                    })
                }
            }
        }
        match parse(source, 0, &mut Names::default()) {
            Ok((expression, _)) => show(&expression),
            Err(error) => format!("{} at {}", error.message, error.at),
        }
    }

    #[test]
    fn operators_have_the_precedence_of_pgbench() {
        let cases = [
            ("1 + 2 * 3", "Add(1 Multiply(2 3))"),
            ("1 - 2 - 3", "Subtract(Subtract(1 2) 3)"),
            ("-2 % 3", "Modulo(Subtract(0 2) 3)"),
            ("1 + 2 < 3 | 4", "Less(Add(1 2) BitOr(3 4))"),
            ("1 > 2", "Less(2 1)"),
            ("not 1 = 2", "Not(Equal(1 2))"),
            ("1 = 2 is null", "Is(Equal(1 2) NULL)"),
            ("not :x is not true and true", "And(Not(Not(Is(v true))) true)"),
            ("true or false and true", "Or(true And(false true))"),
            ("~1 << 2", "ShiftLeft(BitXor(-1 1) 2)"),
            ("1 is null is null", "Is(Is(1 NULL) NULL)"),
            (":x isnull or :x notnull", "Or(Is(v NULL) Not(Is(v NULL)))"),
            ("- 9223372036854775808", "-9223372036854775808"),
            ("case when 1 then 2 end", "Case(1 2 NULL)"),
            ("case when 1 then 2 when 3 then 4 else 5 end", "Case(1 2 3 4 5)"),
            ("hash(1)", "Murmur2(1 v)"),
            ("permute(1,2,3)", "Permute(1 2 3)"),
            ("(1 + 2) * 3", "Multiply(Add(1 2) 3)"),
            ("1 = not true", "Equal(1 Not(true))"),
        ];
        for (source, expected) in cases {
            assert_eq!(shape(source), expected, "{source}");
        }
    }

    #[test]
    fn an_expression_has_any_number_of_terms_and_limited_depth() {
        let deep = [
            ("(", "1", ")"),
            ("-", "1", ""),
            ("not ", "true", ""),
            ("abs(", "1", ")"),
            ("case when true then ", "1", " end"),
            ("", "1", " > 0 is null"),
            ("", "1", " is not null"),
            ("(1 + ", "1", ")"),
        ];
        for (before, inner, behind) in deep {
            let nested = |levels: usize| {
                let source = format!("{}{inner}{}", before.repeat(levels), behind.repeat(levels));
                parse(&source, 0, &mut Names::default()).map_err(|error| error.message)
            };
            assert!(nested(DEPTH_MAX / 2 - 1).is_ok(), "{before}1{behind}");
            let error = nested(11_000).unwrap_err();
            assert_eq!(
                error, "expression is nested more than 200 levels deep",
                "{before}1{behind}"
            );
        }
    }

    #[test]
    fn errors_point_to_the_last_character_read() {
        let cases = [
            ("1 +\n", "syntax error at 3"),
            ("1 + * 2", "syntax error at 4"),
            ("foo(1)", "unexpected function name (foo) at 2"),
            ("abs(1,2)", "unexpected number of arguments (abs) at 7"),
            ("least()", "at least one argument expected (least) at 6"),
            ("hash()", "unexpected number of arguments (hash) at 5"),
            ("case when 1 end", "syntax error at 14"),
            ("99999999999999999999", "bigint constant overflow (99999999999999999999) at 19"),
            ("9223372036854775808", "syntax error at 18"),
            ("1e999", "double constant overflow (1e999) at 4"),
            ("5 $ 3", "unexpected character ($) at 2"),
            ("1 < 2 < 3", "syntax error at 6"),
            ("(1 + 2\n", "syntax error at 6"),
            ("1 2", "syntax error at 2"),
            ("1 +", "syntax error at 2"),
            ("1 is 5", "syntax error at 5"),
        ];
        for (source, expected) in cases {
            assert_eq!(shape(source), expected, "{source}");
        }
    }
}
