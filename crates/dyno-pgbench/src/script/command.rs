//! A script as commands.

use super::statement::{Sql, Store};
use crate::expression::Expression;
use crate::expression::variables::{Names, Slot};

/// A script with its weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Script {
    /// File name, or `<builtin: ...>`.
    pub(crate) name: String,
    /// Weight for choosing it among all scripts.
    pub(crate) weight: u32,
    /// Its text.
    pub(crate) source: String,
    /// Its commands; never empty.
    pub(crate) commands: Vec<Command>,
}

impl Script {
    /// In each statement, keeps names in brackets that are never set as slices.
    pub(crate) fn keep_slices(&mut self, names: &Names, is_set: impl Fn(Slot) -> bool) {
        for command in &mut self.commands {
            if let Action::Sql(sql) = &mut command.action {
                sql.keep_slices(names, &is_set);
            }
        }
    }

    /// Its commands that are statements.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (&Command, &Sql)> {
        self.commands.iter().filter_map(|command| match &command.action {
            Action::Sql(sql) => Some((command, sql)),
            _ => None,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Command {
    /// Its text: the first line of a statement, or a meta command as written.
    pub(crate) line: String,
    pub(crate) action: Action,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Sql(Sql),
    /// `\set`; the name may be invalid, which is an error at execution.
    Set {
        /// The name as it was written.
        name: String,
        /// The variable, if the name is valid.
        slot: Option<Slot>,
        /// Its new value.
        value: Expression,
    },
    /// `\sleep`
    Sleep {
        /// Number of units.
        amount: Amount,
        /// The unit in microseconds.
        unit: i64,
    },
    /// `\if`
    If(Expression, Branches),
    /// `\elif`
    Elif(Expression, Branches),
    /// `\else`
    Else(Branches),
    /// `\endif`
    EndIf,
    /// `\startpipeline`
    StartPipeline,
    /// `\endpipeline`
    EndPipeline,
    /// `\syncpipeline`
    SyncPipeline,
}

impl Action {
    /// The command's name in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sql(sql) => match sql.store {
                Store::Nothing => "SQL",
                Store::LastRow(_) => "gset",
                Store::AnyRow(_) => "aset",
            },
            Self::Set { .. } => "set",
            Self::Sleep { .. } => "sleep",
            Self::If(..) => "if",
            Self::Elif(..) => "elif",
            Self::Else(_) => "else",
            Self::EndIf => "endif",
            Self::StartPipeline => "startpipeline",
            Self::EndPipeline => "endpipeline",
            Self::SyncPipeline => "syncpipeline",
        }
    }
}

/// How long to sleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Amount {
    /// This long.
    Constant(i64),
    /// The value of a variable.
    Variable(Slot),
}

/// Where a conditional block continues; indexes of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Branches {
    /// The next `\elif`, `\else` or `\endif` of the block.
    pub(crate) next: usize,
    /// Its `\endif`.
    pub(crate) end: usize,
}
