//! The consistency conditions of the standard (clause 3.3.2), and the size of the tables that were
//! found.

use super::size::{DISTRICTS, Size};
use crate::workload::contract::scalar;
use dyno_drivers::{Connection, Driver, Table};
use dyno_model::audit::AuditCheck;
use dyno_model::failure::{FailureKind, OperationFailure};

/// A query with a column for each condition: the number of rows that violate it. Conditions on the
/// same rows share one query, so that the order lines are read three times instead of six.
struct Query {
    conditions: &'static [(u32, &'static str)],
    sql: &'static str,
}

/// SQLite adds up binary fractions: amounts are compared to the cent.
const QUERIES: [Query; 4] = [
    Query {
        conditions: &[
            (1, "warehouses whose w_ytd is not the sum of d_ytd"),
            (8, "warehouses whose w_ytd is not the sum of h_amount"),
        ],
        sql: "SELECT SUM(CASE WHEN ROUND(w_ytd, 2) = COALESCE(d_sum, 0) THEN 0 ELSE 1 END), \
              SUM(CASE WHEN ROUND(w_ytd, 2) = COALESCE(h_sum, 0) THEN 0 ELSE 1 END) \
              FROM warehouse \
              LEFT JOIN (SELECT d_w_id, ROUND(SUM(d_ytd), 2) AS d_sum FROM district \
              GROUP BY d_w_id) d ON d_w_id = w_id \
              LEFT JOIN (SELECT h_w_id, ROUND(SUM(h_amount), 2) AS h_sum FROM history \
              GROUP BY h_w_id) h ON h_w_id = w_id",
    },
    Query {
        conditions: &[
            (2, "districts whose d_next_o_id does not follow the greatest o_id and no_o_id"),
            (3, "districts whose numbers no_o_id have gaps"),
            (4, "districts whose sum of o_ol_cnt is not the number of their order lines"),
            (9, "districts whose d_ytd is not the sum of h_amount"),
            (
                11,
                "districts where other orders are delivered than those of the beginning and the \
                 sum of c_delivery_cnt",
            ),
        ],
        sql: "SELECT SUM(CASE WHEN d_next_o_id - 1 = COALESCE(o_max, 0) \
              AND d_next_o_id - 1 = COALESCE(no_max, d_next_o_id - 1) THEN 0 ELSE 1 END), \
              SUM(CASE WHEN no_max - no_min + 1 <> no_rows THEN 1 ELSE 0 END), \
              SUM(CASE WHEN COALESCE(o_lines, 0) <> COALESCE(ol_rows, 0) THEN 1 ELSE 0 END), \
              SUM(CASE WHEN ROUND(d_ytd, 2) = COALESCE(h_sum, 0) THEN 0 ELSE 1 END), \
              SUM(CASE WHEN COALESCE(o_rows, 0) - COALESCE(no_rows, 0) <> \
              {delivered} + COALESCE(c_sum, 0) THEN 1 ELSE 0 END) \
              FROM district \
              LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS o_max, SUM(o_ol_cnt) AS o_lines, \
              COUNT(*) AS o_rows FROM orders GROUP BY o_w_id, o_d_id) o \
              ON o_w_id = d_w_id AND o_d_id = d_id \
              LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS no_max, MIN(no_o_id) AS no_min, \
              COUNT(*) AS no_rows FROM new_order GROUP BY no_w_id, no_d_id) n \
              ON no_w_id = d_w_id AND no_d_id = d_id \
              LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS ol_rows FROM order_line \
              GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = d_w_id AND ol_d_id = d_id \
              LEFT JOIN (SELECT h_w_id, h_d_id, ROUND(SUM(h_amount), 2) AS h_sum FROM history \
              GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id \
              LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS c_sum FROM customer \
              GROUP BY c_w_id, c_d_id) c ON c_w_id = d_w_id AND c_d_id = d_id",
    },
    Query {
        conditions: &[
            (5, "orders with a carrier in new_order, or without one and not there"),
            (6, "orders whose o_ol_cnt is not the number of their lines"),
            (7, "orders with a carrier and undelivered lines, or without one and delivered lines"),
        ],
        sql: "SELECT SUM(CASE WHEN (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL) THEN 1 ELSE 0 \
              END), \
              SUM(CASE WHEN o_ol_cnt = COALESCE(ol_rows, 0) THEN 0 ELSE 1 END), \
              SUM(CASE WHEN o_carrier_id IS NULL THEN CASE WHEN ol_delivered > 0 THEN 1 ELSE 0 END \
              WHEN ol_delivered <> ol_rows THEN 1 ELSE 0 END) \
              FROM orders \
              LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
              LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS ol_rows, \
              COUNT(ol_delivery_d) AS ol_delivered FROM order_line \
              GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
              ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id",
    },
    Query {
        conditions: &[
            (10, "customers whose c_balance is not their delivered ol_amount less their h_amount"),
            (12, "customers whose c_balance and c_ytd_payment are not their delivered ol_amount"),
        ],
        sql: "SELECT SUM(CASE WHEN ROUND(c_balance, 2) = ROUND(COALESCE(ol_sum, 0) - \
              COALESCE(h_sum, 0), 2) THEN 0 ELSE 1 END), \
              SUM(CASE WHEN ROUND(c_balance + c_ytd_payment, 2) = ROUND(COALESCE(ol_sum, 0), 2) \
              THEN 0 ELSE 1 END) \
              FROM customer \
              LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS ol_sum FROM orders \
              JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
              WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o \
              ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
              LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS h_sum FROM history \
              GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
              ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id",
    },
];

type Result<T> = std::result::Result<T, OperationFailure>;

/// Checks all conditions, in the order of their numbers.
pub(super) async fn check(connection: &mut Connection, size: &Size) -> Result<Vec<AuditCheck>> {
    let mut checks = Vec::new();
    for query in &QUERIES {
        let sql = query.sql.replace("{delivered}", &size.delivered().to_string());
        let mut answer = Table::default();
        connection.query(&sql, &mut answer).await?;
        for (column, (number, violation)) in query.conditions.iter().enumerate() {
            let expression = format!("condition {number}: {violation}");
            let found = answer.number(column);
            let check = AuditCheck::Value { expression, expected_min: 0, expected_max: 0, found };
            checks.push((*number, check));
        }
    }
    checks.sort_by_key(|(number, _)| *number);
    Ok(checks.into_iter().map(|(_, check)| check).collect())
}

/// Whether tables have a size.
///
/// # Errors
/// When they do not: another one would be measured than the plan says.
pub(super) async fn check_size(connection: &mut Connection, size: &Size) -> Result<()> {
    let expected = [
        ("warehouses", "SELECT COUNT(*) FROM warehouse", size.warehouses),
        ("districts", "SELECT COUNT(*) FROM district", size.warehouses * DISTRICTS),
        ("items", "SELECT COUNT(*) FROM item", size.items),
        (
            "customers in the first district",
            "SELECT COUNT(*) FROM customer WHERE c_w_id = 1 AND c_d_id = 1",
            size.customers,
        ),
        (
            "stocks of the first warehouse",
            "SELECT COUNT(*) FROM stock WHERE s_w_id = 1",
            size.items,
        ),
    ];
    for (what, sql, expected) in expected {
        let found = scalar(connection, sql).await.map_err(|failure| {
            let message = format!(
                "the number of {what} cannot be read: {}; existing data need the tables of TPC-C",
                failure.message
            );
            OperationFailure { message, ..failure }
        })?;
        if found != expected {
            let message = format!(
                "the tables have {found} {what}, and the workload's options say {expected}: load \
                 tables of this size, or set `warehouses`, `items` and `customers` as they are"
            );
            return Err(FailureKind::BadStatement.failure(message));
        }
    }
    Ok(())
}
