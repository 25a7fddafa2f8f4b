//! Where made-up reports were measured.

use super::Shape;
use dyno_analysis::model::*;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::units::Nanos;
use dyno_store::environment::Environment;
use std::collections::BTreeMap;

pub(super) fn provenance(shape: &Shape) -> Provenance {
    let systems = shape.systems.iter().map(|name| SystemRow {
        name: (*name).to_owned(),
        kind: "mariadb".to_owned(),
        is_managed: true,
        address: String::new(),
        version: "10.11.14-MariaDB-0+deb12u2".to_owned(),
        query_mode: "prepared".to_owned(),
        settings_asked: BTreeMap::from([("innodb_buffer_pool_size".to_owned(), "1G".to_owned())]),
        settings_read: BTreeMap::from([
            ("innodb_buffer_pool_size".to_owned(), "1073741824".to_owned()),
            ("transaction_isolation".to_owned(), "REPEATABLE-READ".to_owned()),
        ]),
        failure: None,
        starts: Some(SystemStarts {
            mean_s: 1.2,
            max_s: 1.2,
            restoring_mean_s: Some(0.4),
            all: vec![SystemStart { starting_s: 1.2, restoring_s: Some(0.4) }; 3],
        }),
    });
    Provenance {
        experiment: "rush".to_owned(),
        run: "20261121T090000Z-4f2a".to_owned(),
        started_at: "2026-11-21T09:00:00.000Z".to_owned(),
        ended_at: "2026-11-21T09:42:10.000Z".to_owned(),
        dyno_version: "0.1.0".to_owned(),
        profile: Some("full".to_owned()),
        seed: 42,
        blocks: shape.blocks,
        environment: Environment {
            cpu_model: "Example CPU 3000".to_owned(),
            cpu_usable: 2,
            cpu_logical: 2,
            cpu_cores: 1,
            memory_bytes: 8_000_000_000,
            kernel: "Linux 6.1.0".to_owned(),
            os_release: "Debian GNU/Linux 12 (bookworm)".to_owned(),
            architecture: "x86_64".to_owned(),
            virtualisation: "virtual machine".to_owned(),
            dyno_version: "0.1.0".to_owned(),
            build_profile: "release".to_owned(),
            kernel_settings: BTreeMap::from([("vm.swappiness".to_owned(), "60".to_owned())]),
            proxies: BTreeMap::from([("haproxy".to_owned(), "2.6.12".to_owned())]),
        },
        systems: systems.collect(),
        workloads: vec![WorkloadRow {
            kind: "rush".to_owned(),
            options: BTreeMap::from([("rows".to_owned(), "100".to_owned())]),
        }],
        loads: vec![LoadPlan {
            warmup: Nanos(2_000_000_000),
            grace: Nanos(5_000_000_000),
            time_limit: Nanos(600_000_000_000),
            ..LoadPlan::new(StopRule::Transactions(10_000))
        }],
        spec: "title = \"SELECT + UPDATE + COMMIT under a rush of clients\"\n\n[workload]\nkind = \"rush\"\n"
            .to_owned(),
    }
}
