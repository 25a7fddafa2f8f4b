//! The transactions as stored procedures: one statement each, which begins and ends the
//! transaction. They execute the statements of `statements.rs`, except that columns which only a
//! terminal shows are not read.

use crate::session::StatementText;
use dyno_model::engine::ProcedureLanguage;

dyno_model::named! {
    /// The calls; each is a kind of statement and has its own figures.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(u16)]
    pub(super) enum Call {
        NewOrder = "call-new-order",
        /// The same for an order that ends with a rollback, because a server does not count it as a
        /// commit.
        RolledBack = "call-new-order-rollback",
        Payment = "call-payment",
        OrderStatus = "call-order-status",
        Delivery = "call-delivery",
        StockLevel = "call-stock-level",
    }
}

/// What is created, in this order.
const ROUTINES: [&str; 6] = [
    "tpcc_customer",
    "tpcc_new_order",
    "tpcc_payment",
    "tpcc_order_status",
    "tpcc_delivery",
    "tpcc_stock_level",
];

impl Call {
    /// Kinds that commit.
    pub(super) fn commits(self) -> bool {
        self != Self::RolledBack
    }

    fn sql(self, language: ProcedureLanguage) -> String {
        let (routine, count, has_result) = match self {
            Self::NewOrder | Self::RolledBack => ("tpcc_new_order", 5, true),
            Self::Payment => ("tpcc_payment", 7, false),
            Self::OrderStatus => ("tpcc_order_status", 4, false),
            Self::Delivery => ("tpcc_delivery", 2, true),
            Self::StockLevel => ("tpcc_stock_level", 3, false),
        };
        let mut arguments = vec!["?"; count];
        // Its last parameter returns the result; others return it as a row.
        if language == ProcedureLanguage::PlPgSql && has_result {
            arguments.push("0");
        }
        format!("CALL {routine}({})", arguments.join(", "))
    }
}

/// The calls as every connection prepares them, at the indexes of their kinds.
pub(super) fn calls(language: ProcedureLanguage) -> Vec<StatementText> {
    let text = |call: Call| StatementText { sql: call.sql(language), kind_index: call as u16 };
    Call::ALL.map(text).to_vec()
}

/// Statements that create the procedures. `lock` follows each SELECT whose row is changed.
pub(super) fn create(language: ProcedureLanguage, lock: &str) -> Vec<String> {
    let text = match language {
        ProcedureLanguage::None => return Vec::new(),
        ProcedureLanguage::Psm => include_str!("mysql.sql"),
        ProcedureLanguage::PlPgSql => include_str!("postgres.sql"),
    };
    text.split("\n\n").map(|routine| routine.trim_end().replace("{lock}", lock)).collect()
}

/// Statements that remove them.
pub(super) fn remove(language: ProcedureLanguage) -> Vec<String> {
    let drop = |routine: &str| {
        let kind = match language {
            ProcedureLanguage::PlPgSql => "ROUTINE",
            _ => "PROCEDURE",
        };
        format!("DROP {kind} IF EXISTS {routine}")
    };
    match language {
        ProcedureLanguage::None => Vec::new(),
        _ => ROUTINES.map(drop).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routines_are_dropped_as_created_and_lock_rows_on_request() {
        for (language, drop) in [
            (ProcedureLanguage::Psm, "DROP PROCEDURE IF EXISTS "),
            (ProcedureLanguage::PlPgSql, "DROP ROUTINE IF EXISTS "),
        ] {
            let (create, remove) = (create(language, " FOR UPDATE"), remove(language));
            assert_eq!((create.len(), remove.len()), (ROUTINES.len(), ROUTINES.len()));
            for (sql, (routine, removed)) in create.iter().zip(ROUTINES.iter().zip(&remove)) {
                assert!(
                    sql.starts_with("CREATE ") && sql.contains(&format!(" {routine}(")),
                    "{sql}"
                );
                assert_eq!(*removed, format!("{drop}{routine}"));
            }
            let locks = |texts: &[String]| -> usize {
                texts.iter().map(|sql| sql.matches(" FOR UPDATE").count()).sum()
            };
            assert_eq!(locks(&create), 6, "district, stock, twice customer, new_order, orders");
            assert_eq!(locks(&super::create(language, "")), 0);
        }
        assert!(create(ProcedureLanguage::None, "").is_empty());
    }
}
