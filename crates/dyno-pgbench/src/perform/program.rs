//! Scripts as all clients perform them.

use crate::script::{Action, Command, Script};
use crate::variables::Names;
use dyno_engine::text::lasting;
use dyno_model::target::{Engine, QueryMode};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Scripts, and what follows from them for every client.
pub(crate) struct Program {
    /// At least one.
    pub(crate) scripts: Vec<Script>,
    /// Sum of the weights.
    pub(crate) weights: u64,
    pub(crate) names: Names,
    pub(crate) engine: Engine,
    pub(crate) query_mode: QueryMode,
    /// Names of the kinds of statements, each of which is one command of one script.
    pub(crate) kinds: Vec<&'static str>,
    /// The kind of each command of each script; 0 for those that send nothing.
    pub(crate) kind_of: Vec<Vec<u16>>,
    /// The kinds that are sent as text because they cannot be prepared; nothing where that was not
    /// asked.
    pub(crate) sent_as_text: OnceLock<BTreeSet<u16>>,
}

impl Program {
    /// `name` says what a command that sends something is called: of the scripts, by the script's
    /// number and the command's, both from 0.
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
                kinds.push(lasting(name(&scripts, number, index)));
                (kinds.len() - 1) as u16
            };
            kind_of.push(script.commands.iter().enumerate().map(kind).collect());
        }
        let weights = scripts.iter().map(|script| u64::from(script.weight)).sum();
        let sent_as_text = OnceLock::new();
        Self { scripts, weights, names, engine, query_mode, kinds, kind_of, sent_as_text }
    }

    /// True when a statement of a kind is sent as text.
    pub(crate) fn is_text(&self, kind: u16) -> bool {
        self.query_mode == QueryMode::Simple
            || self.sent_as_text.get().is_some_and(|kinds| kinds.contains(&kind))
    }

    /// The script that a number below the sum of the weights stands for.
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

/// The first words of a statement, which stand for it in the name of its kind.
pub(crate) fn first_words(line: &str) -> String {
    let words = line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    words.trim_end_matches(';').to_owned()
}
