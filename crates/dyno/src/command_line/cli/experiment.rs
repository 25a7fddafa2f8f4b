//! Options that select an experiment.

use crate::failure::Failure;
use crate::one_line::OneLineArguments;
use clap::Args;
use dyno_model::address::Address;
use std::path::{Path, PathBuf};

/// Options that select an experiment.
#[derive(Debug, Default, Args)]
pub(crate) struct SpecArguments {
    /// Spec file (TOML), or the URL of a database; without it the built-in experiment on embedded
    /// SQLite
    #[arg(value_name = "SPEC")]
    pub(crate) spec: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) one_line: OneLineArguments,

    /// Apply the tables of [profile.NAME] to the spec
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Set a key of the spec, after the profile; can be repeated
    ///
    /// KEY is a dotted path such as load.clients, or system.NAME.server.settings.SETTING for the
    /// system of that name. VALUE is TOML; anything else is treated as text.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Number of blocks, which is the number of repeats; the same as --set design.blocks=N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,

    /// Seed of run order, keys and data; the same as --set design.seed=N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=9_223_372_036_854_775_807))]
    pub(crate) seed: Option<u64>,
}

impl SpecArguments {
    /// True when the arguments select an experiment.
    pub(crate) fn is_given(&self) -> bool {
        self.spec.is_some()
            || self.profile.is_some()
            || !self.overrides().is_ok_and(|keys| keys.is_empty())
    }

    /// The URL, if the command line names one instead of a file. A mistyped scheme is an error in
    /// a URL.
    pub(crate) fn url(&self) -> Option<&str> {
        let is_url = |text: &&str| Address::scheme(text).is_some() || text.contains("://");
        self.spec.as_deref().and_then(Path::to_str).filter(is_url)
    }

    /// The overrides of the file's keys, as `key=value`. Options given with a URL are already in
    /// the spec that is generated for it.
    ///
    /// # Errors
    /// When the command line combines scripts or a workload with a spec file.
    pub(crate) fn overrides(&self) -> Result<Vec<String>, Failure> {
        if self.url().is_some() {
            return Ok(self.set.clone());
        }
        let mut overrides = self.set.clone();
        overrides.extend(self.one_line.overrides()?);
        overrides.extend(self.blocks.map(|blocks| format!("design.blocks={blocks}")));
        overrides.extend(self.seed.map(|seed| format!("design.seed={seed}")));
        Ok(overrides)
    }
}
