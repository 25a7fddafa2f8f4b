//! Expressions of `\set`, `\if` and `\elif`.
//!
//! * [`lexer`]: words and signs with their places; [`parser`]: the grammar; [`function`]: which functions there are;
//! * [`evaluate`]: what an expression is worth; [`value`]: values and their forms.

pub mod evaluate;
pub mod function;
pub mod lexer;
pub mod parser;
pub mod value;

pub use evaluate::Environment;
pub use function::Function;
pub use value::Value;

use crate::variables::Slot;

/// An expression as it was parsed.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A constant.
    Constant(Value),
    /// A variable.
    Variable(Slot),
    /// A function or operator with its arguments; as many as the function takes.
    Call(Function, Box<[Expression]>),
}
