//! Arguments of commands for Kubernetes.

use super::experiment::SpecArguments;
use super::values::Language;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// Where `dyno launch` runs experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LaunchEngine {
    /// Kubernetes: coordinator and generators as Jobs
    Kubernetes,
}

/// `dyno launch`.
#[derive(Debug, Args)]
pub(crate) struct LaunchArguments {
    /// Where it runs
    #[arg(value_name = "ENGINE", value_enum)]
    pub(crate) engine: LaunchEngine,

    #[command(flatten)]
    pub(crate) spec: SpecArguments,

    /// Image with dyno, of the same version, as nodes pull it; scripts/package writes one
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: String,

    /// Namespace [default: with --apply that of the context, otherwise `default`]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) namespace: Option<String>,

    /// Context of the configuration of kubectl [default: the current one]
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Environment variable of the run whose value is in a secret, such as
    /// PGPASSWORD=shop-db/password; can be repeated
    #[arg(long, value_name = "VARIABLE=SECRET/KEY")]
    pub(crate) secret: Vec<SecretVariable>,

    /// Make the objects with kubectl, follow the run, copy its results, and remove everything
    #[arg(long)]
    pub(crate) apply: bool,

    /// Folder for the results; must be empty or not exist yet [default: results/<experiment>/<utc
    /// time>-<id>]
    #[arg(long, value_name = "DIR", requires = "apply")]
    pub(crate) out: Option<PathBuf>,

    /// Resume the run in this folder, which is copied into the cluster and back
    #[arg(long, value_name = "RESULTS", requires = "apply", conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,

    /// As for `dyno run`
    #[arg(long, value_name = "DATABASE")]
    pub(crate) yes_write_to: Option<String>,

    #[command(flatten)]
    pub(crate) language: Language,
}

/// A variable whose value is in a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretVariable {
    pub(crate) variable: String,
    pub(crate) secret: String,
    pub(crate) key: String,
}

impl FromStr for SecretVariable {
    type Err = String;

    /// Parses `VARIABLE=SECRET/KEY`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(variable, rest)| {
            let (secret, key) = rest.split_once('/')?;
            [variable, secret, key].iter().all(|part| !part.is_empty()).then_some(Self {
                variable: variable.to_owned(),
                secret: secret.to_owned(),
                key: key.to_owned(),
            })
        });
        parts.ok_or_else(|| {
            "write VARIABLE=SECRET/KEY, for example PGPASSWORD=shop-db/password".to_owned()
        })
    }
}

/// `dyno kubernetes-job`.
#[derive(Debug, Args)]
pub(crate) struct KubernetesJobArguments {
    /// Name of the Job
    #[arg(long)]
    pub(crate) name: String,
    /// Delete the Job
    #[arg(long)]
    pub(crate) delete: bool,
    /// Number of generators
    #[arg(long, default_value_t = 1)]
    pub(crate) generators: u32,
    /// Path of dyno in the image
    #[arg(long, default_value = "/dyno")]
    pub(crate) program: String,
    /// Processors of each
    #[arg(long, default_value_t = 1)]
    pub(crate) cpus: u32,
    /// Memory of each
    #[arg(long, default_value = "1Gi")]
    pub(crate) memory: String,
    /// Variable to pass on to them; can be repeated
    #[arg(long)]
    pub(crate) variable: Vec<String>,
    /// Labels of pods whose nodes get none
    #[arg(long)]
    pub(crate) anti_affinity: Option<String>,
}

/// `dyno volume`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum VolumeCommand {
    /// Wait until it is released
    Hold {
        /// Where it is mounted
        folder: PathBuf,
    },
    /// End that wait
    Release {
        /// Where it is mounted
        folder: PathBuf,
    },
    /// Write its results to stdout
    Send {
        /// Where it is mounted
        folder: PathBuf,
    },
    /// Read results from stdin
    Receive {
        /// Where it is mounted
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_a_secret_has_three_parts() {
        for wrong in ["PGPASSWORD", "PGPASSWORD=", "PGPASSWORD=a", "=a/b", "X=/b", "X=a/"] {
            assert!(wrong.parse::<SecretVariable>().is_err(), "{wrong}");
        }
    }
}
