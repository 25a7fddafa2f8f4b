//! Expressions of `\set`, `\if` and `\elif`.
//!
//! * [`lexer`]: words and signs with their places; [`parser`]: the grammar; [`function`]: which
//!   functions there are;
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
    /// An operand and what is done with it from left to right, without nesting: operators, each
    /// with its right side.
    Chain(Box<Expression>, Vec<(Function, Expression)>),
}

impl Expression {
    /// What an operator makes of a left and a right side.
    fn then(self, function: Function, right: Self) -> Self {
        match self {
            Self::Chain(first, mut steps) => {
                steps.push((function, right));
                Self::Chain(first, steps)
            }
            first => Self::Chain(Box::new(first), vec![(function, right)]),
        }
    }

    /// Visits the variables in it.
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
