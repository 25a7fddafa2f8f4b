//! Scripts in the form shared by all clients.

use crate::expression::variables::Names;
use crate::script::{Action, Command, Script};
use dyno_engine::text::intern;
use dyno_model::target::{Engine, QueryMode};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Scripts, with derived data that is the same for every client.
pub(crate) struct Program {
    /// At least one.
    pub(crate) scripts: Vec<Script>,
    /// Sum of the weights.
    pub(crate) weights: u64,
    pub(crate) names: Names,
    pub(crate) engine: Engine,
    pub(crate) query_mode: QueryMode,
    /// Names of the kinds of statements; each is one command of one script.
    pub(crate) kinds: Vec<&'static str>,
    /// The kind of each command of each script; 0 for commands that send nothing.
    pub(crate) kind_of: Vec<Vec<u16>>,
    /// The kinds that are sent as text because they cannot be prepared; unset where that was not
    /// checked.
    pub(crate) sent_as_text: OnceLock<BTreeSet<u16>>,
}

impl Program {
    /// `name` returns the name of a command that sends something, from the scripts, the script's
    /// index and the command's index.
    pub(crate) fn new(
        scripts: Vec<Script>,
        names: Names,
        engine: Engine,
        query_mode: QueryMode,
        name: impl Fn(&[Script], usize, usize) -> String,
    ) -> Self {
        let mut kinds = Vec::new();
        let mut kind_of = Vec::new();
        for (number, script) in scripts.iter().enumerate() {
            let kind = |(index, command): (usize, &Command)| {
                if !matches!(command.action, Action::Sql(_) | Action::EndPipeline) {
                    return 0;
                }
                kinds.push(intern(&name(&scripts, number, index)));
                (kinds.len() - 1) as u16
            };
            kind_of.push(script.commands.iter().enumerate().map(kind).collect());
        }
        let weights = scripts.iter().map(|script| u64::from(script.weight)).sum();
        let sent_as_text = OnceLock::new();
        Self { scripts, weights, names, engine, query_mode, kinds, kind_of, sent_as_text }
    }

    /// True when statements of this kind are sent as text.
    pub(crate) fn is_text(&self, kind_index: u16) -> bool {
        self.query_mode == QueryMode::Simple
            || self.sent_as_text.get().is_some_and(|kinds| kinds.contains(&kind_index))
    }

    /// The script for a number below the sum of the weights.
    pub(crate) fn chosen(&self, mut drawn: u64) -> usize {
        for (index, script) in self.scripts.iter().enumerate() {
            match drawn.checked_sub(u64::from(script.weight)) {
                None => return index,
                Some(rest) => drawn = rest,
            }
        }
        unreachable!("a number below the sum of the weights falls into one of them")
    }
}

/// The first words of a statement, used in the name of its kind.
pub(crate) fn first_words(line: &str) -> String {
    let words = line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    words.trim_end_matches(';').to_owned()
}
