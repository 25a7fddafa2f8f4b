//! Expressions of `\set`, `\if` and `\elif`.
//!
//! * [`lexer`]: words and signs with their places; [`parser`]: the grammar; [`function`]: which functions there are;
//! * [`evaluate`]: what an expression is worth; [`value`]: values and their forms.

pub(crate) mod evaluate;
pub(crate) mod function;
pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod value;

pub(crate) use evaluate::Environment;
pub(crate) use function::Function;
pub(crate) use value::Value;

use crate::variables::Slot;

/// An expression as it was parsed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Constant(Value),
    Variable(Slot),
    /// A function or operator with its arguments; as many as the function takes.
    Call(Function, Box<[Expression]>),
}

impl Expression {
    /// Visits the variables in it.
    pub(crate) fn variables(&self, visit: &mut impl FnMut(Slot)) {
        match self {
            Self::Constant(_) => {}
            Self::Variable(slot) => visit(*slot),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.variables(visit)),
        }
    }
}
