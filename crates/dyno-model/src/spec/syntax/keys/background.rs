//! Keys of `[[background]]`, background workloads.

use super::section::{CLIENTS_MAX, Section, ValueType, key, typed_key};

/// A background workload.
pub static BACKGROUND: Section = Section {
    heading: "[[background]]",
    prefix: "background.",
    about: "A background workload: it runs at the same time as `[workload]`, in every trial and on \
            the same system, with its own clients, such as a report on a shop's data. It starts \
            and ends with the trial, including the warm-up, and has separate results, a separate \
            audit and, optionally, limits; comparisons and questions apply to `[workload]` only. \
            The factor `\"background.NAME.clients\"` varies its clients, 0 to disable it. Trials \
            must end by time.",
    keys: &[
        key("name", "string, unique", "required").help("name in levels, limits and reports"),
        key("workload", "table", "required").help(
            "its workload, with all keys of `[workload]`. It can use tables that `[workload]` \
             creates, but both must not change the same tables",
        ),
        typed_key("clients", ValueType::Integer(1..=CLIENTS_MAX), "`1`").help("number of clients"),
        typed_key("rate", ValueType::Rate, "none: a closed loop")
            .help("open loop: arrival rate, whether or not the system keeps up"),
        typed_key("think", ValueType::Duration { is_positive: true }, "none")
            .help("closed loop: mean think time before each transaction, as `load.think`"),
    ],
};
