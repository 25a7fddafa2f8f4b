//! Provenance of a run: time, machine and software.

use crate::model::{
    IMPORTED, Provenance, SystemRow, SystemStart, SystemStarts, SystemVersion, WorkloadRow,
};
use dyno_model::engine::Product;
use dyno_model::event::StartTimes;
use dyno_model::lists;
use dyno_model::plan::{Configuration, Plan, SystemPlan, SystemSource, WorkloadPlan};
use dyno_model::units::Nanos;
use dyno_store::{Run, add_value};
use std::collections::BTreeMap;

pub(crate) fn provenance(run: &Run) -> Provenance {
    let plan = &run.plan;
    let mut workloads: Vec<WorkloadRow> = Vec::new();
    let mut loads = Vec::new();
    // The load of imported results is unknown.
    let is_ours = |configuration: &&Configuration| {
        plan.systems[configuration.system].source != SystemSource::Imported
    };
    for configuration in plan.configurations.iter().filter(is_ours) {
        let background =
            configuration.background.iter().map(|it| workload_row(&it.workload, Some(&it.name)));
        let own = workload_row(&configuration.workload, None);
        [own]
            .into_iter()
            .chain(background)
            .for_each(|workload| lists::add(&mut workloads, workload));
        lists::add(&mut loads, configuration.load.clone());
    }
    Provenance {
        experiment: plan.name.clone(),
        run: run.name.clone(),
        started_at: run.started_at.clone(),
        ended_at: run.ended_at.clone(),
        dyno_version: if run.dyno_version.is_empty() {
            run.environment.dyno_version.clone()
        } else {
            run.dyno_version.clone()
        },
        profile: plan.profile.clone(),
        seed: plan.seed,
        blocks: plan.blocks,
        environment: run.environment.clone(),
        systems: plan.systems.iter().map(|system| system_row(run, system)).collect(),
        workloads,
        loads,
        spec: run.spec.clone(),
    }
}

fn workload_row(plan: &WorkloadPlan, background: Option<&str>) -> WorkloadRow {
    let options = plan.options.0.iter().map(|(name, value)| (name.clone(), value.to_string()));
    WorkloadRow {
        kind: plan.kind.clone(),
        background: background.map(str::to_owned),
        options: options.collect(),
    }
}

/// Every value requested for a system's settings: its own, and those of levels.
fn requested_settings(plan: &Plan, system: &SystemPlan) -> BTreeMap<String, String> {
    let mut requested: BTreeMap<String, String> = BTreeMap::new();
    let of_system = plan
        .configurations
        .iter()
        .filter(|configuration| plan.systems[configuration.system].name == system.name);
    for (name, value) in of_system
        .filter_map(|configuration| plan.server(configuration))
        .flat_map(|server| server.settings)
    {
        match requested.get_mut(&name) {
            Some(values) => add_value(values, &value),
            None => drop(requested.insert(name, value)),
        }
    }
    requested
}

fn starts(times: &[StartTimes]) -> Option<SystemStarts> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let all: Vec<SystemStart> = times
        .iter()
        .map(|times| SystemStart {
            starting_s: times.starting.as_secs_f64(),
            restoring_s: times.restoring.map(Nanos::as_secs_f64),
        })
        .collect();
    let starting: Vec<f64> = all.iter().map(|start| start.starting_s).collect();
    let restoring: Vec<f64> = all.iter().filter_map(|start| start.restoring_s).collect();
    Some(SystemStarts {
        mean_s: mean(&starting),
        max_s: starting.iter().copied().max_by(f64::total_cmp)?,
        restoring_mean_s: (!restoring.is_empty()).then(|| mean(&restoring)),
        all,
    })
}

/// The product of the servers of a system; of one that dyno did not start, from what it reported.
fn product(run: &Run, system: &SystemPlan) -> &'static str {
    let product = match &system.source {
        SystemSource::Managed(server) => server.kind.product(),
        SystemSource::Existing(existing) => {
            let Some(report) = run.systems.get(&system.name) else { return "" };
            let settings: Vec<&str> = report.settings.keys().map(String::as_str).collect();
            Product::recognised(existing.engine, report.version.of_server(), &settings)
        }
        SystemSource::Imported => return "",
    };
    product.title()
}

/// A system with its product and the version that it reported.
pub(crate) fn system_version(run: &Run, system: &SystemPlan) -> SystemVersion {
    let report = run.systems.get(&system.name);
    SystemVersion {
        name: system.name.clone(),
        product: product(run, system).to_owned(),
        version: report.map(|it| it.version.clone()).unwrap_or_default(),
    }
}

fn system_row(run: &Run, system: &SystemPlan) -> SystemRow {
    let SystemVersion { name, product, version } = system_version(run, system);
    let report = run.systems.get(&name).cloned().unwrap_or_default();
    let (kind, address) = match &system.source {
        SystemSource::Managed(server) => (server.kind.name(), String::new()),
        SystemSource::Existing(existing) => (existing.engine.name(), existing.endpoint.to_string()),
        SystemSource::Imported => (IMPORTED, String::new()),
    };
    let cluster = match &system.source {
        SystemSource::Managed(server) if server.kind.is_cluster() => {
            (server.nodes, server.data_nodes)
        }
        _ => (0, 0),
    };
    SystemRow {
        name,
        nodes: cluster.0,
        data_nodes: cluster.1,
        kind: kind.to_owned(),
        product,
        is_managed: matches!(system.source, SystemSource::Managed(_)),
        address,
        version,
        query_mode: system.query_mode.name().to_owned(),
        requested_settings: requested_settings(&run.plan, system),
        settings_read: report.settings,
        settings_unread: report.unread,
        failure: report.failure,
        starts: starts(&report.starts),
    }
}
