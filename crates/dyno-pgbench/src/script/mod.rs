//! Scripts: what a transaction does.
//!
//! * [`command`]: a script as commands; [`statement`]: cutting SQL out of a text and finding its
//!   variables, [`context`]: and where they are;
//! * [`parser`]: from text to commands; [`meta`]: those with a backslash; [`condition`]: where
//!   `\if` and its relatives go; [`error`];
//! * [`words`]: those of statements, for who has to know what they do; [`builtin`]: the scripts
//!   that come with the program.

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
pub(crate) use context::Place;
pub(crate) use parser::parse;
pub(crate) use statement::{Sql, Store, escaped};
/// First words of statements after which others may find what is not there yet.
pub(crate) const DEFINING: [&str; 4] = ["create", "alter", "drop", "set"];
