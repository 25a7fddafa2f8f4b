//! The native workloads, which dyno knows by name.

use super::bulk_insert::{self, BulkInsert};
use super::contract::{Workload, WorkloadContext, statement_kinds};
use super::crud::{self, Crud};
use super::dbatest::{self, Dbatest};
use super::history::{self, Histories};
use super::http::{self, Http};
use super::mass_insert::{self, MassInsert};
use super::oltp::{self, Oltp};
use super::random_selects::{self, RandomSelects};
use super::rush::{self, Rush};
use super::tpcc::{self, Tpcc};
use super::ycsb::{self, Ycsb};
use crate::data_set::DataSet;
use crate::session::StatementText;
use dyno_model::catalog::{HTTP, WorkloadDescription};
use dyno_model::plan::WorkloadPlan;
use dyno_model::target::Engine;

/// Defines the type of any native workload, and conversions into each kind.
macro_rules! natives {
    ($($(#[$doc:meta])+ $kind:ident($workload:ty),)+) => {
        /// Any native workload.
        pub enum Native {
            $($(#[$doc])+ $kind($workload),)+
        }

        $(impl TryFrom<Native> for $workload {
            /// The workload is of another kind.
            type Error = ();

            fn try_from(native: Native) -> Result<Self, ()> {
                match native {
                    Native::$kind(workload) => Ok(workload),
                    _ => Err(()),
                }
            }
        })+
    };
}

natives! {
    /// Counters under a rush of clients.
    Rush(Rush),
    /// The OLTP family on the sbtest tables.
    Oltp(Oltp),
    /// `select_random_points` and `select_random_ranges`.
    RandomSelects(RandomSelects),
    /// Many rows per statement.
    BulkInsert(BulkInsert),
    /// Sets of rows with and without a temporary table.
    Dbatest(Dbatest),
    /// One table that only grows.
    MassInsert(MassInsert),
    /// A table per client, created and dropped repeatedly.
    Crud(Crud),
    /// Registers and lists, with a history of reads and writes.
    History(Histories),
    /// The transactions of a wholesaler.
    Tpcc(Tpcc),
    /// Operations on keys.
    Ycsb(Ycsb),
    /// Requests to a service.
    Http(Http),
}

/// Runs code for the concrete type of a native workload.
macro_rules! with_native {
    ($native:expr, $workload:ident => $call:expr) => {
        match $native {
            $crate::workload::Native::Rush($workload) => $call,
            $crate::workload::Native::Oltp($workload) => $call,
            $crate::workload::Native::RandomSelects($workload) => $call,
            $crate::workload::Native::BulkInsert($workload) => $call,
            $crate::workload::Native::Dbatest($workload) => $call,
            $crate::workload::Native::MassInsert($workload) => $call,
            $crate::workload::Native::Crud($workload) => $call,
            $crate::workload::Native::History($workload) => $call,
            $crate::workload::Native::Tpcc($workload) => $call,
            $crate::workload::Native::Ycsb($workload) => $call,
            $crate::workload::Native::Http($workload) => $call,
        }
    };
}

pub(crate) use with_native;

impl Native {
    /// Creates a workload from a plan whose options were checked against [`catalog`].
    ///
    /// # Errors
    /// A description, when the dialect does not support the options.
    pub fn build(plan: &WorkloadPlan, setting: WorkloadContext) -> Result<Self, String> {
        let options = &plan.options;
        match plan.kind.as_str() {
            "rush" => Rush::build(options, setting).map(Self::Rush),
            "bulk_insert" => Ok(Self::BulkInsert(BulkInsert::build(options, setting))),
            "mass-insert" => MassInsert::build(options, setting).map(Self::MassInsert),
            "history" => Histories::build(options, setting).map(Self::History),
            "tpcc" => Tpcc::build(options, setting).map(Self::Tpcc),
            HTTP => Http::build(plan).map(Self::Http),
            "crud" => Ok(Self::Crud(Crud::build(options, setting))),
            "select_random_points" | "select_random_ranges" => {
                Ok(Self::RandomSelects(RandomSelects::build(&plan.kind, options, setting)))
            }
            kind if ycsb::Preset::named(kind).is_some() => {
                Ycsb::build(options, setting).map(Self::Ycsb)
            }
            kind if let Some(variant) = dbatest::Variant::named(kind) => {
                Dbatest::build(variant, options, setting).map(Self::Dbatest)
            }
            kind => oltp::Preset::named(kind)
                .map(|preset| Self::Oltp(Oltp::build(preset, options, setting)))
                .ok_or_else(|| format!("there is no workload {kind}")),
        }
    }

    /// Its tables and rows.
    #[must_use]
    pub fn data(&self) -> &dyn DataSet {
        with_native!(self, workload => workload.data())
    }

    /// Its statements, or examples of them.
    #[must_use]
    pub fn examples(&self) -> Vec<StatementText> {
        with_native!(self, workload => workload.examples())
    }

    /// As [`Workload::reason_not_distributable`].
    #[must_use]
    pub fn reason_not_distributable(&self) -> Option<&'static str> {
        with_native!(self, workload => workload.reason_not_distributable())
    }

    /// As [`Workload::session_setup`].
    #[must_use]
    pub fn session_setup(&self) -> Vec<String> {
        with_native!(self, workload => workload.session_setup())
    }

    /// True when each of its transactions leaves a row in the commit ledger.
    #[must_use]
    pub fn keeps_ledger(&self) -> bool {
        with_native!(self, workload => workload.keeps_ledger())
    }

    /// Names of its transactions, if any.
    #[must_use]
    pub fn transactions(&self) -> Vec<&'static str> {
        with_native!(self, workload => workload.transactions())
    }

    /// Names of its kinds of statements.
    #[must_use]
    pub fn statement_kinds(&self) -> Vec<&'static str> {
        with_native!(self, workload => statement_kinds(workload))
    }
}

/// All native workloads with their options.
#[must_use]
pub fn catalog() -> Vec<WorkloadDescription> {
    let mut all = vec![rush::description()];
    all.extend(oltp::descriptions());
    all.extend(random_selects::descriptions());
    all.push(bulk_insert::description());
    all.extend(dbatest::descriptions());
    all.push(mass_insert::description());
    all.push(crud::description());
    all.push(history::description());
    all.push(tpcc::description());
    all.extend(ycsb::descriptions());
    all.push(http::description());
    all
}

/// The statements of a workload with default options, for `dyno workloads NAME`: kind and SQL.
#[must_use]
pub fn sample_statements(plan: &WorkloadPlan, engine: Engine) -> Vec<(String, String)> {
    let setting = WorkloadContext { engine, clients: 1, seed: 1 };
    let Ok(native) = Native::build(plan, setting) else { return Vec::new() };
    with_native!(&native, workload => {
        let kinds = workload.kinds();
        workload.examples().into_iter().map(|text| (kinds[usize::from(text.kind_index)].to_owned(), text.sql)).collect()
    })
}
