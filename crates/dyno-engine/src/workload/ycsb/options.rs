//! The workloads of the family with their options, named as in YCSB's core properties.

use super::super::sbtest::{choice, flag, flag_on, integer, ledger, storage_engine};
use super::operation::Operation;
use dyno_model::catalog::{ForeignProperty, OptionDescription, OptionKind, OptionValue};
use dyno_model::catalog::{PROPERTIES, WorkloadDescription};

dyno_model::named! {
    /// Workloads A to F, and the defaults of YCSB.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Preset {
        Core = "ycsb",
        A = "ycsb-a",
        B = "ycsb-b",
        C = "ycsb-c",
        D = "ycsb-d",
        E = "ycsb-e",
        F = "ycsb-f",
    }
}

const UNIFORM: &[&str] = &["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"];
const ZIPFIAN: &[&str] = &["zipfian", "uniform", "latest", "hotspot", "exponential", "sequential"];
const LATEST: &[&str] = &["latest", "uniform", "zipfian", "hotspot", "exponential", "sequential"];

impl Preset {
    fn summary(self) -> &'static str {
        match self {
            Self::Core => {
                "Key-value operations of YCSB on one table, in any mix; a property file of YCSB \
                 can set the options."
            }
            Self::A => "YCSB's workload A: half reads, half updates, zipfian.",
            Self::B => "YCSB's workload B: 95 % reads, 5 % updates, zipfian.",
            Self::C => "YCSB's workload C: reads, zipfian.",
            Self::D => "YCSB's workload D: 95 % reads of the latest records, 5 % inserts.",
            Self::E => "YCSB's workload E: 95 % short scans, 5 % inserts, zipfian.",
            Self::F => "YCSB's workload F: half reads, half read-modify-writes, zipfian.",
        }
    }

    /// The share of an operation.
    fn share(self, operation: Operation) -> f64 {
        use Operation::{Insert, Read, ReadModifyWrite, Scan, Update};
        match (self, operation) {
            (Self::C, Read) => 1.0,
            (Self::A, Read | Update) | (Self::F, Read | ReadModifyWrite) => 0.5,
            (Self::Core | Self::B | Self::D, Read) | (Self::E, Scan) => 0.95,
            (Self::Core | Self::B, Update) | (Self::D | Self::E, Insert) => 0.05,
            _ => 0.0,
        }
    }

    /// Distributions of requests, the default first.
    fn distributions(self) -> &'static [&'static str] {
        match self {
            Self::Core => UNIFORM,
            Self::D => LATEST,
            Self::A | Self::B | Self::C | Self::E | Self::F => ZIPFIAN,
        }
    }
}

fn share(name: &'static str, default: f64, help: &'static str) -> OptionDescription {
    let (kind, default) = (OptionKind::Number { min: 0.0, max: 1.0 }, OptionValue::Number(default));
    OptionDescription { name, kind, default, help }
}

/// Keys of property files that concern YCSB's own program.
const FOREIGN: &[ForeignProperty] = &[
    ForeignProperty::skipped("operationcount"),
    ForeignProperty::only(
        "workload",
        &["site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload"],
        "dyno has YCSB's core workload only",
    ),
    ForeignProperty::only("table", &["usertable"], "dyno's table is `usertable`"),
    ForeignProperty::only("fieldnameprefix", &["field"], "fields are called field0, field1, ..."),
    ForeignProperty::only(
        "fieldlengthdistribution",
        &["constant"],
        "all values have the same length",
    ),
    ForeignProperty::only(
        "dataintegrity",
        &["true"],
        "values always have checksums; remove the line",
    ),
    ForeignProperty::only(
        "exponential.percentile",
        &["95"],
        "95 % of exponential requests go to `exponential.frac` of the records",
    ),
    ForeignProperty::only(
        "exponential.frac",
        &["0.8571428571"],
        "this share of the records gets 95 % of exponential requests",
    ),
    ForeignProperty::only("insertstart", &["0"], "records are numbered from 0"),
    ForeignProperty::refused("threadcount", "set `load.clients`"),
    ForeignProperty::refused("target", "set `load.rate`"),
    ForeignProperty::refused("maxexecutiontime", "set `load.duration`"),
    ForeignProperty::refused("db", "the system's address says which database it is"),
    ForeignProperty::refused("insertcount", "all `recordcount` records are loaded"),
    ForeignProperty::refused(
        "measurementtype",
        "remove the line: dyno measures every transaction itself",
    ),
];

pub(crate) fn descriptions() -> Vec<WorkloadDescription> {
    Preset::ALL.into_iter().map(description).collect()
}

fn description(preset: Preset) -> WorkloadDescription {
    let mut options = Vec::new();
    if preset == Preset::Core {
        options.push(OptionDescription {
            name: PROPERTIES,
            kind: OptionKind::Properties(FOREIGN),
            default: OptionValue::Text(String::new()),
            help: "a property file of YCSB with values of the options below; those in the spec win",
        });
    }
    options.extend([
        integer("recordcount", 1, 1_000_000_000, 1_000, "records that are loaded"),
        integer("fieldcount", 1, 100, 10, "fields of a record"),
        integer("fieldlength", 1, 60_000, 100, "characters of a field"),
    ]);
    options.extend(Operation::ALL.map(|operation| {
        share(operation.option(), preset.share(operation), operation.share_help())
    }));
    options.extend([
        choice(
            "requestdistribution",
            preset.distributions(),
            "which records are read, updated and scanned from: all equally; by Zipf's law with \
             exponent 0.99, in no order or the latest first; a hot set of the first records; \
             exponentially, 95 % of them from the newest 85.7 % of the records; or one after the \
             other",
        ),
        share("hotspotdatafraction", 0.2, "hotspot: share of the loaded records in the hot set"),
        share("hotspotopnfraction", 0.8, "hotspot: share of the operations on the hot set"),
        integer("minscanlength", 1, 1_000_000, 1, "smallest number of records of a scan"),
        integer(
            "maxscanlength",
            1,
            1_000_000,
            if preset == Preset::E { 100 } else { 1_000 },
            "largest number of records of a scan",
        ),
        choice("scanlengthdistribution", &["uniform", "zipfian"], "how long scans are"),
        flag_on("readallfields", "reads and scans return all fields; false: one"),
        flag("writeallfields", "updates write all fields; false: one"),
        choice(
            "insertorder",
            &["hashed", "ordered"],
            "keys of consecutive inserts: in no order, or increasing",
        ),
        integer("zeropadding", 1, 60, 1, "digits that the number in a key has at least"),
        storage_engine(),
        ledger(),
    ]);
    WorkloadDescription {
        name: preset.name(),
        summary: preset.summary(),
        audit: "The table must have the loaded records and one for each acknowledged insert; each \
                value carries its key, its field and a checksum, which must agree.",
        options,
    }
}
