//! What travels to generators.

use dyno_model::plan::WorkloadPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What the threads of a run do.
#[derive(Debug, Clone)]
pub enum SysbenchWork {
    /// A bundled script as a workload of dyno.
    Native(WorkloadPlan),
    /// A script in Lua.
    Script(ScriptWork),
}

/// A script with its options, which include passwords.
#[derive(Clone, Serialize, Deserialize)]
pub struct ScriptWork {
    /// Path of the script, or its name as a module.
    pub(crate) name: String,
    pub(crate) is_module: bool,
    /// The script and what it has loaded, by path.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// The given options.
    pub(crate) options: Vec<String>,
    /// What the script sees as its command line.
    pub(crate) argv: Vec<String>,
    pub(crate) seed: u64,
}

impl fmt::Debug for ScriptWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptWork").field("name", &self.name).finish_non_exhaustive()
    }
}
