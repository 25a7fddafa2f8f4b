//! Scripts: what a transaction does.
//!
//! * [`command`]: a script as commands; [`statement`]: cutting SQL out of a text and finding its variables;
//! * [`parser`]: from text to commands; [`meta`]: those with a backslash; [`condition`]: where `\if` and its relatives go; [`error`];
//! * [`builtin`]: the scripts that come with the program.

pub mod builtin;
pub mod command;
pub mod condition;
pub mod error;
pub mod meta;
pub mod parser;
pub mod statement;

pub use command::{Action, Amount, Branches, Command, Script};
pub use error::ScriptError;
pub use parser::parse;
pub use statement::{Sql, Store};
