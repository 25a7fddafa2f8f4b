//! The statements of the transactions. Each is a kind of its own and has its own figures.

use super::size::DISTRICTS;
use crate::session::StatementText;

dyno_model::named! {
    /// The statements in the order of the transactions; stock is the last, because it is prepared
    /// for each district.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(u16)]
    pub(super) enum Kind {
        WarehouseTax = "warehouse-tax",
        CustomerDiscount = "customer-discount",
        NextOrder = "next-order",
        AdvanceOrder = "advance-order",
        InsertOrder = "insert-order",
        InsertNewOrder = "insert-new-order",
        Item = "item",
        UpdateStock = "update-stock",
        InsertLine = "insert-line",
        PayWarehouse = "pay-warehouse",
        Warehouse = "warehouse",
        PayDistrict = "pay-district",
        District = "district",
        CustomersByName = "customers-by-name",
        PayingCustomer = "paying-customer",
        CustomerData = "customer-data",
        PayCustomer = "pay-customer",
        PayBadCustomer = "pay-bad-customer",
        InsertHistory = "insert-history",
        CustomerBalance = "customer-balance",
        LastOrder = "last-order",
        OrderLines = "order-lines",
        OldestOrder = "oldest-order",
        DeleteNewOrder = "delete-new-order",
        OrderCustomer = "order-customer",
        DeliverOrder = "deliver-order",
        DeliverLines = "deliver-lines",
        OrderAmount = "order-amount",
        DeliverCustomer = "deliver-customer",
        RecentOrders = "recent-orders",
        LowStock = "low-stock",
        Stock = "stock",
    }
}

/// Keys.
const CUSTOMER: &str = "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
const DISTRICT: &str = "WHERE d_w_id = ? AND d_id = ?";
const ORDER: &str = "WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?";
const LINES: &str = "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";

impl Kind {
    /// `lock` follows each SELECT whose row the transaction changes afterwards: under REPEATABLE
    /// READ of the MySQL family, reads without it are of a snapshot, in which the order that a read
    /// with it has just found may not exist yet.
    fn sql(self, lock: &str) -> String {
        match self {
            Self::WarehouseTax => "SELECT w_tax FROM warehouse WHERE w_id = ?".to_owned(),
            Self::CustomerDiscount => {
                format!("SELECT c_discount, c_last, c_credit FROM customer {CUSTOMER}")
            }
            Self::NextOrder => format!("SELECT d_next_o_id, d_tax FROM district {DISTRICT}{lock}"),
            Self::AdvanceOrder => format!("UPDATE district SET d_next_o_id = ? {DISTRICT}"),
            Self::InsertOrder => "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, \
                                  o_carrier_id, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, \
                                  CURRENT_TIMESTAMP, NULL, ?, ?)"
                .to_owned(),
            Self::InsertNewOrder => {
                "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)".to_owned()
            }
            Self::Item => "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?".to_owned(),
            Self::Stock => stock(1, lock),
            Self::UpdateStock => "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt \
                                  = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? WHERE s_w_id \
                                  = ? AND s_i_id = ?"
                .to_owned(),
            Self::InsertLine => "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, \
                                 ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) \
                                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                .to_owned(),
            Self::PayWarehouse => {
                "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?".to_owned()
            }
            Self::Warehouse => "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip \
                                FROM warehouse WHERE w_id = ?"
                .to_owned(),
            Self::PayDistrict => format!("UPDATE district SET d_ytd = d_ytd + ? {DISTRICT}"),
            Self::District => format!(
                "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
                 {DISTRICT}"
            ),
            Self::CustomersByName => "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? \
                                      AND c_last = ? ORDER BY c_first"
                .to_owned(),
            Self::PayingCustomer => format!(
                "SELECT c_balance, c_ytd_payment, c_payment_cnt, c_credit, c_first, c_middle, \
                 c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, \
                 c_credit_lim, c_discount FROM customer {CUSTOMER}{lock}"
            ),
            Self::CustomerData => format!("SELECT c_data FROM customer {CUSTOMER}{lock}"),
            Self::PayCustomer => format!(
                "UPDATE customer SET c_balance = ?, c_ytd_payment = ?, c_payment_cnt = ? {CUSTOMER}"
            ),
            Self::PayBadCustomer => format!(
                "UPDATE customer SET c_balance = ?, c_ytd_payment = ?, c_payment_cnt = ?, c_data = \
                 ? {CUSTOMER}"
            ),
            Self::InsertHistory => "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, \
                                    h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, \
                                    CURRENT_TIMESTAMP, ?, ?)"
                .to_owned(),
            Self::CustomerBalance => {
                format!("SELECT c_balance, c_first, c_middle, c_last FROM customer {CUSTOMER}")
            }
            Self::LastOrder => "SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? \
                                AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1"
                .to_owned(),
            Self::OrderLines => format!(
                "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM \
                 order_line {LINES}"
            ),
            Self::OldestOrder => format!(
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id \
                 LIMIT 1{lock}"
            ),
            Self::DeleteNewOrder => {
                "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?".to_owned()
            }
            Self::OrderCustomer => format!("SELECT o_c_id FROM orders {ORDER}{lock}"),
            Self::DeliverOrder => format!("UPDATE orders SET o_carrier_id = ? {ORDER}"),
            Self::DeliverLines => {
                format!("UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP {LINES}")
            }
            Self::OrderAmount => format!("SELECT SUM(ol_amount) FROM order_line {LINES}"),
            Self::DeliverCustomer => format!(
                "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + \
                 1 {CUSTOMER}"
            ),
            Self::RecentOrders => format!("SELECT d_next_o_id FROM district {DISTRICT}"),
            Self::LowStock => "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id \
                               = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_w_id = ? \
                               AND s_i_id = ol_i_id AND s_quantity < ?"
                .to_owned(),
        }
    }
}

fn stock(district: i64, lock: &str) -> String {
    format!(
        "SELECT s_quantity, s_dist_{district:02}, s_data FROM stock WHERE s_w_id = ? AND s_i_id = \
         ?{lock}"
    )
}

/// The statements as every connection prepares them, at the indexes of their kinds.
pub(super) fn all(lock: &str) -> Vec<StatementText> {
    let text = |kind: Kind, sql| StatementText { sql, kind_index: kind as u16 };
    let simple = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Stock);
    let stocks = (1..=DISTRICTS).map(|district| text(Kind::Stock, stock(district, lock)));
    simple.map(|kind| text(kind, kind.sql(lock))).chain(stocks).collect()
}

/// The index of the statement that reads the stock for a district's order.
pub(super) fn stock_for(district: i64) -> usize {
    Kind::Stock as usize + district as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::engine::Engine;

    #[test]
    fn statements_are_at_the_indexes_of_their_kinds() {
        let all = all(Engine::Postgres.dialect().row_lock);
        assert_eq!(all.len(), Kind::ALL.len() + 9);
        for kind in Kind::ALL {
            assert_eq!(all[kind as usize].kind_index, kind as u16, "{kind}");
        }
        assert!(all[stock_for(10)].sql.contains("s_dist_10"));
        let locking =
            |all: &[StatementText]| all.iter().filter(|it| it.sql.ends_with(" FOR UPDATE")).count();
        assert_eq!(locking(&all), 15, "district, twice customer, twice order, ten times stock");
        assert_eq!(locking(&super::all("")), 0);
        assert_eq!(locking(&super::all(Engine::Sqlite.dialect().row_lock)), 0);
    }
}
