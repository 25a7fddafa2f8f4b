//! `[[storage]]`: storages for servers' data.

use crate::plan::{Storage, SystemPlan, SystemSource};
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::factors::{Factor, FactorTarget};
use crate::spec::keys::STORAGE;
use crate::spec::reader::Fields;
use crate::units::Nanos;
use crate::words::suggestion;
use std::path::PathBuf;

const TIME_LIMIT_DEFAULT: Nanos = Nanos::from_secs(600);

/// Reads all tables.
pub(in crate::spec) fn read(top: &Fields<'_>) -> Vec<Storage> {
    let mut storages: Vec<Storage> = Vec::new();
    for fields in top.each("storage", &STORAGE) {
        let name = fields.required_text("name", "add for example `name = \"raid1\"`");
        let data =
            fields.required_text("data", "name a folder, for example `data = \"/mnt/raid1\"`");
        let log = fields.text("log").map(PathBuf::from);
        let before = fields.text("before").map(str::to_owned);
        let after = fields.text("after").map(str::to_owned);
        let time_limit = fields.duration("time_limit").unwrap_or(TIME_LIMIT_DEFAULT);
        let (Some(name), Some(data)) = (name, data) else { continue };
        if storages.iter().any(|other| other.name == name) {
            let message = format!("two storages are called `{name}`");
            fields.refuse("name", message, "give each storage a unique name");
        }
        storages.push(Storage {
            name: name.to_owned(),
            data: data.into(),
            log,
            before,
            after,
            time_limit,
        });
    }
    storages
}

/// Levels must name existing storages, and dyno must start the systems.
pub(in crate::spec) fn check(
    factors: &[Factor],
    storages: &[Storage],
    systems: &[SystemPlan],
    problems: &Problems,
) {
    let names: Vec<&str> = storages.iter().map(|storage| storage.name.as_str()).collect();
    let mut first: Option<Span> = None;
    for change in factors
        .iter()
        .flat_map(Factor::changes)
        .filter(|change| change.target == FactorTarget::Storage)
    {
        first = first.or(Some(change.key_span));
        let name = change.node.value.scalar_text().unwrap_or_default();
        if !names.contains(&name.as_str()) {
            let message = format!("no storage is called `{name}`");
            let help = match names[..] {
                [] => "add for example:\n[[storage]]\nname = \"raid1\"\ndata = \"/mnt/raid1\""
                    .to_owned(),
                _ => suggestion(&name, &names, "storages"),
            };
            problems.report(
                Diagnostic::new(change.node.span, message).label("not a storage").help(help),
            );
        }
    }
    let Some(span) = first else { return };
    let refusal = |system: &SystemPlan| match &system.source {
        SystemSource::Managed(server) if server.kind.is_cluster() => {
            Some("storage of clusters is not supported")
        }
        SystemSource::Managed(server) if server.kind.engine().is_server() => None,
        _ => Some("dyno does not start its server"),
    };
    if let Some((system, why)) = systems.iter().find_map(|system| Some((system, refusal(system)?)))
    {
        let message = format!("the storage of `{}` cannot be varied: {why}", system.name);
        problems.refuse(span, message, "measure it in a separate experiment");
    }
}
