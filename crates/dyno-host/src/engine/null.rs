//! The null engine with canned replies, and HTTP services, which have nothing to query. The
//! workload queries the service itself; the database behind it is a separate system.

use super::queries::{EngineQueries, EngineSettings};
use crate::engine::setting::by_name;
use std::collections::BTreeMap;

pub(super) const QUERIES: EngineQueries = EngineQueries {
    settings: EngineSettings {
        that_matter: &[],
        reserved: &[],
        shaping: &[],
        unreported: &[],
        read: |_| Ok(BTreeMap::new()),
        listed: str::to_owned,
        find: by_name,
        is_same: |_, _, _| true,
        is_rounded: |_, _, _, _| false,
        size: |_, _, _| None,
        is_value: |_| true,
        spare: |_| {},
    },
    observe: None,
    versions: &[],
    tables: None,
    shared_storage: None,
    plain_table: "",
    server: None,
};
