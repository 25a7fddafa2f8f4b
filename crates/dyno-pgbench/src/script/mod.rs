//! Scripts, which define transactions.
//!
//! * [`command`]: a script as commands; [`statement`]: extracts SQL from a text and finds its
//!   variables, [`context`]: the contexts of variables;
//! * [`parser`]: from text to commands; [`meta`]: meta commands; [`condition`]: connects `\if` and
//!   related commands; [`error`];
//! * [`words`]: the words of statements, for deriving what they do; [`builtin`]: the built-in
//!   scripts.

pub(crate) mod builtin;
pub(crate) mod command;
pub(crate) mod condition;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod meta;
pub(crate) mod parser;
pub(crate) mod statement;
pub(crate) mod words;

pub(crate) use command::{Action, Amount, Command, Script};
pub(crate) use context::VariableContext;
pub(crate) use error::NO_STATEMENT;
pub(crate) use parser::{parse, parse_all};
pub(crate) use statement::{Sql, Store, escaped};
/// First words of statements after which others may find objects that do not exist yet.
pub(crate) const DEFINING: [&str; 4] = ["create", "alter", "drop", "set"];
