//! The clients' paths to an existing system, its own address and those of endpoints: whether the
//! workloads can run on each of them.

use crate::workload_set::{WorkloadSet, of_system, only_reads};
use dyno_host::pooler::{self, Pooler};
use dyno_host::probe;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::{DataPolicy, ExistingSystem, Plan, Via};
use dyno_model::target::Target;

/// Result of examining the paths of endpoints.
pub(crate) struct ClientPaths {
    /// A pooler is on one of them.
    pub(crate) is_pooled: bool,
    /// Why clients cannot work on some of them.
    pub(crate) problems: Vec<String>,
}

/// Why clients of a system of a plan cannot work at its own address.
pub(crate) fn obstacle(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    target: &Target,
    pooler: Option<&Pooler>,
) -> Option<String> {
    let of_pooler = pooler.and_then(|it| of_pooler(plan, index, target, it));
    let is_written = source.data != DataPolicy::Existing || !only_reads(plan, index);
    let refusal = || refusal(target).unwrap_or_else(|failure| Some(failure.to_string()));
    of_pooler.or_else(|| is_written.then(refusal).flatten())
}

/// Examines the paths of its endpoints, each of which must be usable.
pub(crate) fn examine(plan: &Plan, index: usize, target: &Target) -> ClientPaths {
    let mut paths = ClientPaths { is_pooled: false, problems: Vec::new() };
    for endpoint in &plan.endpoints {
        let Via::Address(address) = &endpoint.via else { continue };
        let target = target.at(address.clone());
        let problem = pooler::at(&target).and_then(|found| {
            paths.is_pooled |= found.is_some();
            match found.and_then(|it| of_pooler(plan, index, &target, &it)) {
                None if !only_reads(plan, index) => refusal(&target),
                problem => Ok(problem),
            }
        });
        let problem = problem.unwrap_or_else(|failure| Some(failure.to_string()));
        let text = |it| format!("endpoint {}: {it}", endpoint.name);
        paths.problems.extend(problem.map(text));
    }
    paths
}

fn of_pooler(plan: &Plan, index: usize, target: &Target, pooler: &Pooler) -> Option<String> {
    pooler.obstacle(target).or_else(|| {
        let members = of_system(plan, index).flatten().flat_map(WorkloadSet::into_members);
        members.filter_map(|member| member.workload.lasting()).find_map(|it| pooler.loses(&it))
    })
}

/// Why the server at this address refuses to write.
fn refusal(target: &Target) -> Result<Option<String>, OperationFailure> {
    let setting = probe::refuses_writes(target)?;
    Ok(setting.map(|setting| {
        format!(
            "the server refuses to write at this address, because {setting} is on there\n\
             hint: name an address that leads to the primary server, or use a workload that only \
             reads existing tables"
        )
    }))
}
