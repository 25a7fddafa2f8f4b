//! Checks before a run whether its generators can be started and can find this machine.

use super::{fleet, launch};
use crate::kubernetes::is_in_cluster;
use dyno_model::launcher::LauncherKind;
use dyno_model::plan::Plan;
use dyno_model::preflight::Obstacle;

/// What prevents generators from starting; nothing for a plan without any.
pub(crate) fn obstacles(plan: &Plan) -> Vec<Obstacle> {
    let launcher = &plan.launcher;
    if plan.most_generators() == 0 {
        return Vec::new();
    }
    if launcher.kind == LauncherKind::Kubernetes && !is_in_cluster() {
        return vec![Obstacle::NotInCluster];
    }
    let missing = launch::missing(launcher).map(|program| match launcher.kind {
        LauncherKind::Command => {
            Obstacle::NoProgram { key: "launcher.command".to_owned(), program }
        }
        kind => Obstacle::NoLauncher { launcher: kind.name().to_owned(), program },
    });
    let address = fleet::listen(launcher).err().map(|reason| {
        let address = launcher.address.clone().unwrap_or_default();
        Obstacle::NoAddress { address, reason }
    });
    missing.into_iter().chain(address).collect()
}
