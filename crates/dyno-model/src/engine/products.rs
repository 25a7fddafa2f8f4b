//! Two tables of what servers lack: of products that speak the protocol of another product, with
//! how they identify themselves, and of older versions. dyno tries every other feature and reports
//! those that the server rejects.
//!
//! The facts are those of the products' manuals; README says which products were tested:
//! CockroachDB "PostgreSQL Compatibility" and "Session Variables", YugabyteDB "YSQL", TiDB "MySQL
//! Compatibility" and "Server Status Variables", Vitess "MySQL Compatibility", ProxySQL
//! "Multiplexing", Amazon Aurora "Determining the version", and the flags of the managed services.

use super::{Engine, Identity, Product};

/// A feature of the product to which a protocol belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// VACUUM.
    Vacuum,
    /// The counter of commits contains those of all sessions as soon as they have ended.
    CommitCounter,
    /// Locks held by a session under a name or number that the client chooses.
    AdvisoryLocks,
}

/// A product that speaks the protocol of another.
#[derive(Debug)]
pub struct Compatible {
    /// The protocol.
    pub engine: Engine,
    /// Its name in files.
    pub name: &'static str,
    /// Its name in reports.
    pub title: &'static str,
    /// How it is recognised; one mark is enough.
    marks: &'static [Mark],
    /// What it lacks.
    lacks: &'static [Capability],
}

/// A part of what a server says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// A part of a version or a comment on it.
    Version(&'static str),
    /// The beginning of the name of a setting.
    Setting(&'static str),
}

use Capability::{AdvisoryLocks, CommitCounter, Vacuum};
use Engine::{Mysql, Postgres};
use Mark::{Setting, Version};

/// The first row with a mark applies: services come after the products that they may run.
const COMPATIBLE: &[Compatible] = &[
    row(Mysql, "tidb", "TiDB", &[Version("TiDB")], &[CommitCounter]),
    row(Mysql, "planetscale", "PlanetScale", &[Version("PlanetScale")], &[CommitCounter]),
    // Its status variables are those of one of the servers behind it.
    row(Mysql, "vitess", "Vitess", &[Version("Vitess")], &[CommitCounter]),
    // Its answer about counters is that of one of the servers behind it.
    row(Mysql, "proxysql", "ProxySQL", &[Version("(ProxySQL)")], &[CommitCounter]),
    row(Mysql, "oceanbase", "OceanBase", &[Version("OceanBase")], &[]),
    row(Mysql, "singlestore", "SingleStore", &[Version("SingleStore")], &[]),
    row(Mysql, "dolt", "Dolt", &[Version("Dolt")], &[]),
    row(Mysql, "percona-xtradb", "Percona XtraDB Cluster", &[Version("Percona XtraDB")], &[]),
    row(Mysql, "percona-server", "Percona Server", &[Version("Percona Server")], &[]),
    row(Mysql, "aurora-mysql", "Aurora MySQL", &[Setting("aurora_version")], &[]),
    // Its advisory locks always succeed and have no effect.
    row(
        Postgres,
        "cockroachdb",
        "CockroachDB",
        &[Version("CockroachDB")],
        &[Vacuum, AdvisoryLocks],
    ),
    // VACUUM only writes a notice.
    row(Postgres, "yugabytedb", "YugabyteDB", &[Version("-YB-")], &[Vacuum, CommitCounter]),
    row(Postgres, "redshift", "Amazon Redshift", &[Version("Redshift")], &[AdvisoryLocks]),
    row(Postgres, "greenplum", "Greenplum", &[Version("Greenplum Database")], &[]),
    row(Postgres, "edb", "EDB Advanced Server", &[Version("EnterpriseDB Advanced Server")], &[]),
    row(Postgres, "aurora-postgres", "Aurora PostgreSQL", &[Version("aurora_version")], &[]),
    row(Postgres, "alloydb", "AlloyDB", &[Setting("alloydb.")], &[]),
    row(Postgres, "cloud-sql", "Cloud SQL for PostgreSQL", &[Setting("cloudsql.")], &[]),
    row(Postgres, "azure", "Azure Database for PostgreSQL", &[Setting("azure.")], &[]),
    row(Postgres, "neon", "Neon", &[Setting("neon.")], &[]),
    row(Postgres, "rds", "Amazon RDS for PostgreSQL", &[Setting("rds.")], &[]),
];

/// The first version of an engine that has a capability.
const SINCE: &[(Engine, Capability, u32)] = &[
    // Before, sessions sent their counts to a process that published them later.
    (Postgres, CommitCounter, 15),
];

const fn row(
    engine: Engine,
    name: &'static str,
    title: &'static str,
    marks: &'static [Mark],
    lacks: &'static [Capability],
) -> Compatible {
    Compatible { engine, name, title, marks, lacks }
}

impl Compatible {
    /// The product with one of its marks in the versions and names of settings that a server
    /// reports.
    fn found(engine: Engine, versions: &str, settings: &[&str]) -> Option<&'static Self> {
        COMPATIBLE.iter().filter(|it| it.engine == engine).find(|it| {
            it.marks.iter().any(|mark| match mark {
                Version(part) => versions.contains(part),
                Setting(start) => settings.iter().any(|name| name.starts_with(start)),
            })
        })
    }
}

impl Identity {
    /// True when this version of the product is known to lack a feature.
    #[must_use]
    pub fn lacks(&self, capability: Capability) -> bool {
        let engine = self.product.engine();
        let since = SINCE.iter().find(|(of, what, _)| (*of, *what) == (engine, capability));
        let major = self.version.split('.').next().and_then(|text| text.parse::<u32>().ok());
        let is_older = since.zip(major).is_some_and(|((.., since), major)| major < *since);
        is_older || self.product.lacks(capability)
    }
}

impl Product {
    /// The product behind the versions (with comments) that a server reports, and the names of its
    /// settings, as far as they are known.
    #[must_use]
    pub fn recognised(engine: Engine, versions: &str, settings: &[&str]) -> Self {
        let other = Compatible::found(engine, versions, settings);
        let own = || Self::ALL.into_iter().find(|product| product.engine() == engine);
        match other {
            Some(other) => Self::Other(engine, other.name),
            None if engine == Mysql && versions.contains("MariaDB") => Self::Mariadb,
            None => own().expect("every engine has a product"),
        }
    }

    /// Its name in reports; empty for what has no product: canned replies and HTTP services.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
            Self::Null | Self::Http => "",
            Self::Other(..) => self.compatible().map_or("", |it| it.title),
        }
    }

    /// The facts of a compatible product.
    #[must_use]
    pub fn compatible(self) -> Option<&'static Compatible> {
        let Self::Other(engine, name) = self else { return None };
        COMPATIBLE.iter().find(|it| it.engine == engine && it.name == name)
    }

    /// True when its server is started like that of another product: builds of it.
    #[must_use]
    pub fn has_programs_of(self, other: Self) -> bool {
        let is_build = matches!(self, Self::Other(_, name) if name.starts_with("percona"));
        self == other || is_build && other == Self::Mysql
    }

    /// True when it is known to lack a feature.
    #[must_use]
    pub fn lacks(self, capability: Capability) -> bool {
        self.compatible().is_some_and(|it| it.lacks.contains(&capability))
    }

    /// The statements that update the planner's statistics of the table whose name follows, best
    /// first: where one is refused, the next one is tried.
    #[must_use]
    pub fn analyze(self) -> &'static [&'static str] {
        let all = self.engine().traits().analyze;
        match all {
            [_, others @ ..] if self.lacks(Vacuum) => others,
            all => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_recognised_by_what_it_reports_and_not_by_its_protocol() {
        let rows: [(Engine, &str, &[&str], &str); 13] = [
            (Mysql, "8.0.11-TiDB-v8.5.1", &[], "TiDB"),
            (Mysql, "8.0.30-Vitess", &[], "Vitess"),
            (Mysql, "8.0.30-Vitess PlanetScale", &[], "PlanetScale"),
            (Mysql, "8.0.27 (ProxySQL)", &[], "ProxySQL"),
            (Mysql, "8.0.36-28 Percona Server (GPL), Release 28", &[], "Percona Server"),
            (Mysql, "8.0.28 Source distribution", &["aurora_version"], "Aurora MySQL"),
            (Postgres, "CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu)", &[], "CockroachDB"),
            (Postgres, "15.2-YB-2025.1.0.0-b0", &[], "YugabyteDB"),
            (Postgres, "16.4 aurora_version", &["rds.extensions"], "Aurora PostgreSQL"),
            (Postgres, "16.4", &["max_connections", "rds.extensions"], "Amazon RDS for PostgreSQL"),
            (Postgres, "17.2", &["neon.timeline_id"], "Neon"),
            (Postgres, "16.3", &["cloudsql.enable_pgaudit"], "Cloud SQL for PostgreSQL"),
            (Postgres, "16.3", &["azure.extensions"], "Azure Database for PostgreSQL"),
        ];
        for (engine, versions, settings, title) in rows {
            let product = Product::recognised(engine, versions, settings);
            assert_eq!(product.compatible().map(|it| it.title), Some(title), "{versions}");
            assert_eq!(product.engine(), engine);
        }
        let own = Product::recognised(Postgres, "18.1 (Debian 18.1-1)", &["max_connections"]);
        assert_eq!((own, own.compatible().is_none()), (Product::Postgres, true));
        let percona = Product::recognised(Mysql, "8.0.36-28 (Percona Server (GPL))", &[]);
        assert!(percona.has_programs_of(Product::Mysql));
        assert!(!percona.has_programs_of(Product::Mariadb));
        let mariadb = Product::recognised(Mysql, "5.5.5-10.11.11-MariaDB Percona", &[]);
        assert_eq!(mariadb, Product::Mariadb);
    }

    #[test]
    fn older_versions_lack_what_later_ones_have() {
        let lacks = |engine, version| Identity::reported(engine, version).lacks(CommitCounter);
        assert!(lacks(Postgres, "14.23") && lacks(Postgres, "15.2-YB-2025.1.0.0-b0"));
        assert!(!lacks(Postgres, "15.18 (Debian 15.18-0+deb12u1)") && !lacks(Postgres, "18.4"));
        assert!(!lacks(Mysql, "9.7.0") && lacks(Mysql, "8.0.11-TiDB-v8.5.1"));
    }

    #[test]
    fn every_row_has_its_own_name_and_a_mark() {
        let mut names: Vec<_> = COMPATIBLE.iter().map(|it| it.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMPATIBLE.len());
        assert!(COMPATIBLE.iter().all(|it| !it.marks.is_empty() && it.engine.is_server()));
    }

    #[test]
    fn statistics_are_updated_without_vacuum_where_it_is_lacking() {
        let product = |versions| Product::recognised(Postgres, versions, &[]);
        assert_eq!(product("15.18").analyze(), ["VACUUM ANALYZE", "ANALYZE"]);
        for compatible in ["15.2-YB-2025.1.0.0-b0", "CockroachDB CCL v25.2.0"] {
            assert_eq!(product(compatible).analyze(), ["ANALYZE"]);
        }
        assert_eq!(Product::Mysql.analyze(), ["ANALYZE TABLE"]);
        assert!(Product::Null.analyze().is_empty());
    }
}
