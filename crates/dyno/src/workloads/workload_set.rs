//! The workloads of a configuration, one for each client group, with the data of each database as
//! one data set.
//!
//! Each workload audits the data by the operations of its own clients, so it must not find those of
//! another workload: two that change the same table are refused. The server prevents writes of a
//! read-only workload, which is not audited where another workload changes its tables.

use crate::workload::{AnyWorkload, DataSource, WorkloadSpec};
use dyno_drivers::RowWriter;
use dyno_engine::workload::{DataSet, TableDefinition};
use dyno_model::client_group::ClientGroup;
use dyno_model::lists;
use dyno_model::plan::{Configuration, Plan};
use dyno_model::target::{Engine, Target};
use dyno_pgbench::{mentions, reads};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;

pub(crate) struct WorkloadSet {
    /// Contents of each database that a group uses.
    pub(crate) databases: Vec<GroupData>,
}

/// The workloads of the groups in one database, and their data as one data set.
pub(crate) struct GroupData {
    /// `None`: the database of the system's address.
    pub(crate) database: Option<String>,
    pub(crate) members: Vec<Member>,
    /// Tables, each with its member and its position among the member's tables. A shared table
    /// occurs once.
    tables: Vec<(usize, usize, TableDefinition)>,
}

/// A client group and its workload.
pub(crate) struct Member {
    pub(crate) group: ClientGroup,
    pub(crate) workload: AnyWorkload,
    /// Its sessions are read-only.
    pub(crate) only_reads: bool,
    /// False when the workload that changes its tables audits them.
    pub(crate) is_audited: bool,
}

enum Changes {
    /// Tables among these words; empty if it only reads.
    Of(BTreeSet<String>),
    /// Cannot be determined.
    Unknown,
}

impl Changes {
    fn of(workload: &AnyWorkload, engine: Engine) -> Self {
        match workload {
            AnyWorkload::Lua(_) => Self::Unknown,
            AnyWorkload::Sql(sql) | AnyWorkload::Tpcb(sql) => {
                sql.changes().map_or(Self::Unknown, Self::Of)
            }
            AnyWorkload::Native(native) => {
                let sent = native.examples();
                let tables =
                    workload.data().tables().into_iter().map(|table| table.name.to_lowercase());
                // A workload that lists no statements may send anything, and the statement of the
                // ledger is not in the list.
                let is_known = engine.has_sql() && !sent.is_empty() && !native.keeps_ledger();
                match is_known
                    && sent.iter().all(|statement| reads(&statement.sql, engine.dialect().syntax))
                {
                    true => Self::Of(BTreeSet::new()),
                    false => Self::Of(tables.collect()),
                }
            }
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Self::Of(words) if words.is_empty())
    }

    /// The first possible change that satisfies the predicate, as text.
    fn any(&self, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        match self {
            Self::Of(words) => {
                words.iter().find(|word| is_meant(word)).map(|word| format!("changes {word}"))
            }
            Self::Unknown => Some("may change anything".to_owned()),
        }
    }
}

impl Member {
    fn new(plan: &Plan, configuration: &Configuration, group: ClientGroup) -> Result<Self, String> {
        let workload = AnyWorkload::of_group(plan, configuration, &group)?;
        Ok(Self { group, workload, only_reads: false, is_audited: true })
    }

    fn has_table(&self, name: &str) -> bool {
        self.workload.data().tables().iter().any(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// True when the user's audit queries a table.
    fn asks_for(&self, name: &str) -> bool {
        self.custom_audit().iter().any(|text| mentions(text, name))
    }

    /// The SQL of the user's audit.
    fn custom_audit(&self) -> Vec<&str> {
        match &self.workload {
            AnyWorkload::Native(_) | AnyWorkload::Tpcb(_) => Vec::new(),
            AnyWorkload::Sql(sql) => sql.audited().collect(),
            AnyWorkload::Lua(lua) => lua.audited().collect(),
        }
    }
}

impl WorkloadSet {
    /// The workloads of all groups of a configuration.
    ///
    /// # Errors
    /// A description of what is wrong with one, or why two cannot run concurrently.
    pub(crate) fn new(plan: &Plan, configuration: &Configuration) -> Result<Self, String> {
        let engine = plan.systems[configuration.system].engine();
        let groups =
            plan.groups(configuration).into_iter().map(|group| (group.database.clone(), group));
        let databases = lists::grouped(groups).into_iter().map(|(database, groups)| {
            let members = groups.into_iter().map(|group| Member::new(plan, configuration, group));
            GroupData::new(database, members.collect::<Result<_, _>>()?, engine)
        });
        Ok(Self { databases: databases.collect::<Result<_, _>>()? })
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.databases.iter().flat_map(|it| &it.members)
    }

    pub(crate) fn into_members(self) -> impl Iterator<Item = Member> {
        self.databases.into_iter().flat_map(|it| it.members)
    }

    /// Equal for sets with equal data.
    pub(crate) fn fingerprint(&self) -> String {
        let of = |it: &GroupData| match &it.database {
            None => it.fingerprint(),
            Some(name) => format!("{name}: {}", it.fingerprint()),
        };
        self.databases.iter().map(of).collect::<Vec<_>>().join("\n")
    }

    /// True when all data are reusable after a trial.
    pub(crate) fn is_reusable(&self) -> bool {
        self.databases.iter().all(DataSet::is_reusable)
    }

    /// As [`DataSet::is_created_once`].
    pub(crate) fn is_created_once(&self) -> bool {
        self.databases.iter().any(DataSet::is_created_once)
    }

    /// True when there is data to create.
    pub(crate) fn brings_data(&self) -> bool {
        self.members().any(|it| brings(it.workload.data()))
    }

    /// True when something other than SQL setup scripts creates data.
    pub(crate) fn brings_others_data(&self) -> bool {
        let others = self.members().filter(|it| !matches!(it.workload, AnyWorkload::Sql(_)));
        others.map(|it| it.workload.data()).any(brings)
    }

    /// SQL setup scripts, each once.
    pub(crate) fn setups(&self) -> impl Iterator<Item = &dyn DataSet> {
        let makers = self.databases.iter().flat_map(GroupData::makers);
        makers.filter(|workload| matches!(workload, AnyWorkload::Sql(_))).map(AnyWorkload::data)
    }

    /// Rows of all tables, in all databases.
    pub(crate) fn rows(&self) -> u64 {
        self.databases.iter().flat_map(|it| &it.tables).map(|(_, _, table)| table.rows).sum()
    }
}

impl GroupData {
    fn new(
        database: Option<String>,
        mut members: Vec<Member>,
        engine: Engine,
    ) -> Result<Self, String> {
        if members.len() > 1 {
            let changes = members.iter().map(|member| Changes::of(&member.workload, engine));
            let changes: Vec<Changes> = changes.collect();
            agree(&mut members, &changes)?;
        }
        for at in 1..members.len() {
            let (before, rest) = members.split_at_mut(at);
            before.iter_mut().for_each(|it| rest[0].workload.leave_to(&mut it.workload));
        }
        let mut tables: Vec<(usize, usize, TableDefinition)> = Vec::new();
        for (owner, member) in members.iter().enumerate() {
            let data = member.workload.data();
            for (index, table) in data.tables().into_iter().enumerate() {
                match tables.iter().find(|(_, _, other)| other.name == table.name) {
                    None => tables.push((owner, index, table)),
                    Some((other, _, _))
                        if members[*other].workload.data().fingerprint() != data.fingerprint() =>
                    {
                        return Err(format!(
                            "{} and {} both create a table {}, but with different \
                             definitions\nhint: use the same table options for both",
                            members[*other].group.section(),
                            member.group.section(),
                            table.name
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(Self { database, members, tables })
    }

    /// What is needed to make its rows elsewhere.
    pub(crate) fn source(&self, plan: &Plan, configuration: &Configuration) -> DataSource {
        let spec = |member: &Member| WorkloadSpec::of_group(plan, configuration, &member.group);
        DataSource {
            specs: self.members.iter().map(spec).collect(),
            tables: self.tables.iter().map(|(owner, index, _)| (*owner, *index)).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &dyn DataSet> {
        self.members.iter().map(|member| member.workload.data())
    }

    /// The workloads that create data; equal data is created once.
    fn makers(&self) -> impl Iterator<Item = &AnyWorkload> {
        let is_first = |at: &usize| {
            let (before, rest) = self.members.split_at(*at);
            !before.iter().any(|it| it.workload.makes_all_of(&rest[0].workload))
        };
        (0..self.members.len()).filter(is_first).map(|at| &self.members[at].workload)
    }
}

/// True when there is data to create.
fn brings(data: &dyn DataSet) -> bool {
    !data.tables().is_empty() || data.is_created_once()
}

/// Ensures that no audit finds changes of another workload.
fn agree(members: &mut [Member], changes: &[Changes]) -> Result<(), String> {
    for at in 0..members.len() {
        members[at].only_reads =
            matches!(members[at].workload, AnyWorkload::Sql(_)) && changes[at].is_nothing();
        for other in (0..members.len()).filter(|other| *other != at) {
            let member = &members[at];
            let is_native = matches!(member.workload, AnyWorkload::Native(_));
            let found = match is_native {
                true => changes[other].any(|word| member.has_table(word)),
                false if !member.custom_audit().is_empty() => {
                    changes[other].any(|word| member.asks_for(word))
                }
                false => None,
            };
            let Some(found) = found else { continue };
            if is_native && changes[at].is_nothing() {
                members[at].is_audited = false;
                continue;
            }
            let (audited, other) = (member.group.section(), members[other].group.section());
            let remedy = match is_native {
                true => {
                    "make one of them read-only, or use separate tables; dyno knows the changes of \
                     scripts in SQL that use INSERT, UPDATE, DELETE, REPLACE, MERGE or TRUNCATE"
                }
                false => "remove that line of the audit, or let only one of them change the table",
            };
            return Err(format!(
                "{other} {found}, which the audit of {audited} would report as an error\nhint: \
                 {remedy}"
            ));
        }
    }
    Ok(())
}

/// The workloads of each of a system's configurations, or the error in one.
pub(crate) fn of_system(
    plan: &Plan,
    system: usize,
) -> impl Iterator<Item = Result<WorkloadSet, String>> {
    let configurations =
        plan.configurations.iter().filter(move |configuration| configuration.system == system);
    configurations.map(|configuration| WorkloadSet::new(plan, configuration))
}

/// True when only statements that are known not to write are sent to a system. Its sessions are
/// then read-only, so the database need not belong to dyno.
pub(crate) fn only_reads(plan: &Plan, system: usize) -> bool {
    let engine = plan.systems[system].engine();
    of_system(plan, system)
        .all(|set| set.is_ok_and(|it| it.members().all(|member| only_reading(member, engine))))
}

fn only_reading(member: &Member, engine: Engine) -> bool {
    match &member.workload {
        AnyWorkload::Sql(sql) | AnyWorkload::Tpcb(sql) => sql.writing().is_none(),
        // The statements of a program are not known in advance; the server checks them.
        AnyWorkload::Lua(_) => true,
        AnyWorkload::Native(_) => Changes::of(&member.workload, engine).is_nothing(),
    }
}

/// Lets scripts remove what they created in a system's default database.
pub(crate) fn remove_data(plan: &Plan, system: usize, target: &Target) {
    let mut known = BTreeSet::new();
    let sets = of_system(plan, system).flatten().filter(|it| known.insert(it.fingerprint()));
    for data in sets.flat_map(|it| it.databases).filter(|it| it.database.is_none()) {
        data.remove(target, &AtomicUsize::new(0));
    }
}

impl DataSet for GroupData {
    fn fingerprint(&self) -> String {
        if let [alone] = self.members.as_slice() {
            return alone.workload.data().fingerprint();
        }
        let mut all: Vec<String> =
            self.all().filter(|data| brings(*data)).map(DataSet::fingerprint).collect();
        all.dedup();
        all.join("\n")
    }

    fn is_reusable(&self) -> bool {
        let leaves = |member: &Member| {
            let data = member.workload.data();
            data.is_reusable() || member.only_reads && !brings(data)
        };
        self.members.iter().all(leaves)
    }

    fn tables(&self) -> Vec<TableDefinition> {
        self.tables.iter().map(|(_, _, table)| table.clone()).collect()
    }

    fn data_sets(&self) -> Vec<&dyn DataSet> {
        self.makers().map(AnyWorkload::data).collect()
    }

    fn is_created_once(&self) -> bool {
        self.all().any(DataSet::is_created_once)
    }

    fn remove(&self, target: &Target, interrupts: &AtomicUsize) {
        self.data_sets().into_iter().rev().for_each(|data| data.remove(target, interrupts));
    }

    fn row(&self, table: usize, row: u64, out: &mut dyn RowWriter) {
        let (owner, index, _) = &self.tables[table];
        self.members[*owner].workload.data().row(*index, row, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::catalog;
    use dyno_model::spec::{Input, parse};

    /// A spec with a background workload, on SQLite.
    fn plan(own: &str, beside: &str) -> Plan {
        let text = format!(
            "title = \"t\"\n[[system]]\nname = \"A\"\nserver = {{ kind = \"sqlite\" }}\n[load]\nclients = 2\nduration = \"1s\"\n\
             [workload]\n{own}\n[[background]]\nname = \"night\"\n[background.workload]\n{beside}\n"
        );
        let script = |file: &std::path::Path, _: dyno_model::spec::TextKind| match file
            .extension()
            .and_then(|extension| extension.to_str())
        {
            Some("lua") => Ok("function prepare() end function event() end".to_owned()),
            _ => Err("no such file".to_owned()),
        };
        let input = Input {
            file_name: "t.toml",
            text: &text,
            script: Some(script),
            declared: Some(dyno_sysbench::declared_options),
            ..Input::default()
        };
        parse(input, &catalog()).unwrap_or_else(|errors| panic!("{errors}")).1
    }

    fn sql(text: &str) -> String {
        format!("kind = \"sql\"\n[[WORKLOAD.scripts]]\nname = \"q\"\nsql = '''{text}'''\n")
    }

    /// Why both cannot run concurrently.
    fn refusal(own: &str, beside: &str) -> String {
        let own = own.replace("WORKLOAD", "workload");
        let plan = plan(&own, &beside.replace("WORKLOAD", "background.workload"));
        WorkloadSet::new(&plan, &plan.configurations[0]).err().unwrap_or_default()
    }

    const RUSH: &str = "kind = \"rush\"";
    const MIX: &str = "kind = \"oltp_read_write\"\ntables = 2";
    const BULK: &str = "kind = \"bulk_insert\"";
    const LEDGER: &str = "kind = \"oltp_point_select\"\ntables = 1\nledger = true";
    const LUA: &str = "kind = \"lua\"\nscript = \"a.lua\"";

    #[test]
    fn writes_to_tables_that_another_workload_audits_are_refused() {
        let reading = sql("SELECT sum(c2) FROM rush;");
        let writing = sql("UPDATE rush SET c2 = 0 WHERE c1 = 1;");
        let elsewhere = sql("INSERT INTO report SELECT sum(c2) FROM rush;");
        let audited =
            |texts: &str| format!("{reading}[WORKLOAD.audit]\n\"{texts}\" = \"unchanged\"\n");
        for (own, beside, expected) in [
            (RUSH, &reading, ""),
            (RUSH, &elsewhere, ""),
            (&reading, &RUSH.to_owned(), ""),
            (
                RUSH,
                &writing,
                "[[background]] \"night\" changes rush, which the audit of [workload] would report \
                 as an error\nhint: make one of them read-only",
            ),
            (
                &writing,
                &RUSH.to_owned(),
                "[workload] changes rush, which the audit of [[background]] \"night\"",
            ),
            (
                RUSH,
                &sql("CREATE TABLE x (id INTEGER);"),
                "[[background]] \"night\" may change anything, which the audit of [workload]",
            ),
            (RUSH, &LUA.to_owned(), "[[background]] \"night\" may change anything"),
            (LUA, &reading, ""),
            (MIX, &MIX.to_owned(), "changes sbtest1, which the audit of"),
            (MIX, &"kind = \"oltp_point_select\"\ntables = 2".to_owned(), ""),
            ("kind = \"oltp_point_select\"\ntables = 2", &MIX.to_owned(), ""),
            (
                MIX,
                &"kind = \"oltp_point_select\"\ntables = 3".to_owned(),
                "both create a table sbtest1, but with different definitions\nhint: use the same \
                 table options",
            ),
            (MIX, &RUSH.to_owned(), ""),
            (
                RUSH,
                &audited("sum(c2) from rush"),
                "[workload] changes rush, which the audit of [[background]] \"night\" would report \
                 as an error\nhint: remove that line",
            ),
            (RUSH, &audited("count(*) from orders"), ""),
            // It lists no statements, and writes.
            (
                BULK,
                &sql("INSERT INTO sbtest1 VALUES (1, 1);"),
                "[[background]] \"night\" changes sbtest1, which the audit of",
            ),
            (BULK, &BULK.to_owned(), "changes sbtest1, which the audit of"),
            (
                BULK,
                &audited("count(*) from sbtest1"),
                "[workload] changes sbtest1, which the audit of",
            ),
            // Its statements only read, but each transaction inserts a row into the ledger.
            (LEDGER, &LEDGER.to_owned(), "changes dyno_ledger, which the audit of"),
            (
                LEDGER,
                &audited("count(*) from dyno_ledger"),
                "[workload] changes dyno_ledger, which the audit of",
            ),
        ] {
            let found = refusal(own, beside);
            let is_right =
                if expected.is_empty() { found.is_empty() } else { found.contains(expected) };
            assert!(is_right, "{own} beside {beside}: {found:?} in place of {expected:?}");
        }
    }

    #[test]
    fn read_only_members_cannot_write_or_audit_tables_others_change() {
        let of = |own: &str, beside: &str| {
            let plan = plan(own, &beside.replace("WORKLOAD", "background.workload"));
            let set = WorkloadSet::new(&plan, &plan.configurations[0]).expect("they get along");
            set.members().map(|it| (it.only_reads, it.is_audited)).collect::<Vec<_>>()
        };
        assert_eq!(of(RUSH, &sql("SELECT 1;")), [(false, true), (true, true)]);
        assert_eq!(of(RUSH, &sql("INSERT INTO x VALUES (1);")), [(false, true), (false, true)]);
        let reads = "kind = \"oltp_point_select\"\ntables = 2";
        assert_eq!(of(MIX, reads), [(false, true), (false, false)]);
        assert_eq!(of(reads, reads), [(false, true), (false, true)]);
    }

    #[test]
    fn data_of_all_are_one_data_set() {
        let reads = "kind = \"oltp_point_select\"\ntables = 2";
        let tables = |own: &str, beside: &str| {
            let plan = plan(own, &beside.replace("WORKLOAD", "background.workload"));
            let set = WorkloadSet::new(&plan, &plan.configurations[0]).expect("they get along");
            let names: Vec<String> =
                set.databases[0].tables().into_iter().map(|table| table.name).collect();
            (names.join(" "), set.is_reusable(), set.fingerprint())
        };
        let (both, is_reusable, fingerprint) = tables(MIX, reads);
        assert_eq!(
            (both.as_str(), is_reusable),
            ("sbtest1 sbtest2", true),
            "once, and as good as new"
        );
        assert!(!fingerprint.contains('\n'), "{fingerprint}");
        let (both, is_reusable, fingerprint) = tables(MIX, RUSH);
        assert_eq!((both.as_str(), is_reusable), ("sbtest1 sbtest2 rush", false));
        assert!(fingerprint.contains("sbtest") && fingerprint.contains("rush"), "{fingerprint}");
        let (_, is_reusable, _) = tables(MIX, &sql("SELECT 1;"));
        assert!(is_reusable, "a script that reads leaves what the mix leaves");
        let (_, is_reusable, _) = tables(MIX, &sql("INSERT INTO x VALUES (1);"));
        assert!(!is_reusable, "one that writes does not");
    }
}
