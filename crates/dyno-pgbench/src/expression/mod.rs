//! Expressions of `\set`, `\if` and `\elif`.
//!
//! * [`lexer`]: tokens with their positions; [`parser`]: the grammar; [`function`]: the functions;
//! * [`evaluate`]: evaluates expressions; [`value`]: values and their text forms;
//! * [`variables`]: names, resolved to indexes.

pub(crate) mod evaluate;
pub(crate) mod function;
pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod value;
pub(crate) mod variables;

pub(crate) use evaluate::Environment;
pub(crate) use function::Function;
pub(crate) use value::Value;

use variables::Slot;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Constant(Value),
    Variable(Slot),
    /// A function or operator with its arguments; their number is correct.
    Call(Function, Box<[Expression]>),
    /// An operand followed by operators with their right sides, evaluated from left to right
    /// without nesting.
    Chain(Box<Expression>, Vec<(Function, Expression)>),
}

impl Expression {
    /// Applies an operator to a left and a right side.
    fn then(self, function: Function, right: Self) -> Self {
        match self {
            Self::Chain(first, mut steps) => {
                steps.push((function, right));
                Self::Chain(first, steps)
            }
            first => Self::Chain(Box::new(first), vec![(function, right)]),
        }
    }

    /// Calls `visit` with its variables.
    pub(crate) fn variables(&self, visit: &mut impl FnMut(Slot)) {
        match self {
            Self::Constant(_) => {}
            Self::Variable(slot) => visit(*slot),
            Self::Call(_, arguments) => {
                arguments.iter().for_each(|argument| argument.variables(visit));
            }
            Self::Chain(first, steps) => {
                first.variables(visit);
                steps.iter().for_each(|(_, operand)| operand.variables(visit));
            }
        }
    }
}
