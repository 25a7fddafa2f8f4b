//! The nine tables, their keys and indexes (clause 1.3).

use super::size::{DISTRICTS, Size};
use crate::data_set::TableDefinition;
use dyno_model::engine::Dialect;

/// A table. Its columns have `{time}` for the engine's type of a date and time.
struct Table {
    name: &'static str,
    columns: &'static [(&'static str, &'static str)],
    /// Empty: none.
    primary_key: &'static str,
    /// Name and columns of a secondary index.
    index: Option<(&'static str, &'static str)>,
    /// Columns, and what they refer to.
    foreign_keys: &'static [(&'static str, &'static str)],
}

/// Indexes in [`TABLES`].
pub(super) const ORDER_LINE: usize = 0;
pub(super) const NEW_ORDER: usize = 1;
pub(super) const HISTORY: usize = 2;
pub(super) const ORDERS: usize = 3;
pub(super) const STOCK: usize = 4;
pub(super) const CUSTOMER: usize = 5;
pub(super) const DISTRICT: usize = 6;
pub(super) const WAREHOUSE: usize = 7;
pub(super) const ITEM: usize = 8;

/// Tables before those that they refer to, so that they can be dropped in this order.
const TABLES: [Table; 9] = [
    Table {
        name: "order_line",
        columns: &[
            ("ol_o_id", "INTEGER NOT NULL"),
            ("ol_d_id", "INTEGER NOT NULL"),
            ("ol_w_id", "INTEGER NOT NULL"),
            ("ol_number", "INTEGER NOT NULL"),
            ("ol_i_id", "INTEGER NOT NULL"),
            ("ol_supply_w_id", "INTEGER NOT NULL"),
            ("ol_delivery_d", "{time}"),
            ("ol_quantity", "INTEGER NOT NULL"),
            ("ol_amount", "DECIMAL(6,2) NOT NULL"),
            ("ol_dist_info", "CHAR(24) NOT NULL"),
        ],
        primary_key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
        index: None,
        foreign_keys: &[
            ("ol_w_id, ol_d_id, ol_o_id", "orders (o_w_id, o_d_id, o_id)"),
            ("ol_supply_w_id, ol_i_id", "stock (s_w_id, s_i_id)"),
        ],
    },
    Table {
        name: "new_order",
        columns: &[
            ("no_o_id", "INTEGER NOT NULL"),
            ("no_d_id", "INTEGER NOT NULL"),
            ("no_w_id", "INTEGER NOT NULL"),
        ],
        primary_key: "no_w_id, no_d_id, no_o_id",
        index: None,
        foreign_keys: &[("no_w_id, no_d_id, no_o_id", "orders (o_w_id, o_d_id, o_id)")],
    },
    Table {
        name: "history",
        columns: &[
            ("h_c_id", "INTEGER NOT NULL"),
            ("h_c_d_id", "INTEGER NOT NULL"),
            ("h_c_w_id", "INTEGER NOT NULL"),
            ("h_d_id", "INTEGER NOT NULL"),
            ("h_w_id", "INTEGER NOT NULL"),
            ("h_date", "{time} NOT NULL"),
            ("h_amount", "DECIMAL(6,2) NOT NULL"),
            ("h_data", "VARCHAR(24) NOT NULL"),
        ],
        primary_key: "",
        index: None,
        foreign_keys: &[
            ("h_c_w_id, h_c_d_id, h_c_id", "customer (c_w_id, c_d_id, c_id)"),
            ("h_w_id, h_d_id", "district (d_w_id, d_id)"),
        ],
    },
    Table {
        name: "orders",
        columns: &[
            ("o_id", "INTEGER NOT NULL"),
            ("o_d_id", "INTEGER NOT NULL"),
            ("o_w_id", "INTEGER NOT NULL"),
            ("o_c_id", "INTEGER NOT NULL"),
            ("o_entry_d", "{time} NOT NULL"),
            ("o_carrier_id", "INTEGER"),
            ("o_ol_cnt", "INTEGER NOT NULL"),
            ("o_all_local", "INTEGER NOT NULL"),
        ],
        primary_key: "o_w_id, o_d_id, o_id",
        index: Some(("orders_of_customer", "o_w_id, o_d_id, o_c_id, o_id")),
        foreign_keys: &[("o_w_id, o_d_id, o_c_id", "customer (c_w_id, c_d_id, c_id)")],
    },
    Table {
        name: "stock",
        columns: &[
            ("s_i_id", "INTEGER NOT NULL"),
            ("s_w_id", "INTEGER NOT NULL"),
            ("s_quantity", "INTEGER NOT NULL"),
            ("s_dist_01", "CHAR(24) NOT NULL"),
            ("s_dist_02", "CHAR(24) NOT NULL"),
            ("s_dist_03", "CHAR(24) NOT NULL"),
            ("s_dist_04", "CHAR(24) NOT NULL"),
            ("s_dist_05", "CHAR(24) NOT NULL"),
            ("s_dist_06", "CHAR(24) NOT NULL"),
            ("s_dist_07", "CHAR(24) NOT NULL"),
            ("s_dist_08", "CHAR(24) NOT NULL"),
            ("s_dist_09", "CHAR(24) NOT NULL"),
            ("s_dist_10", "CHAR(24) NOT NULL"),
            ("s_ytd", "INTEGER NOT NULL"),
            ("s_order_cnt", "INTEGER NOT NULL"),
            ("s_remote_cnt", "INTEGER NOT NULL"),
            ("s_data", "VARCHAR(50) NOT NULL"),
        ],
        primary_key: "s_w_id, s_i_id",
        index: None,
        foreign_keys: &[("s_w_id", "warehouse (w_id)"), ("s_i_id", "item (i_id)")],
    },
    Table {
        name: "customer",
        columns: &[
            ("c_id", "INTEGER NOT NULL"),
            ("c_d_id", "INTEGER NOT NULL"),
            ("c_w_id", "INTEGER NOT NULL"),
            ("c_first", "VARCHAR(16) NOT NULL"),
            ("c_middle", "CHAR(2) NOT NULL"),
            ("c_last", "VARCHAR(16) NOT NULL"),
            ("c_street_1", "VARCHAR(20) NOT NULL"),
            ("c_street_2", "VARCHAR(20) NOT NULL"),
            ("c_city", "VARCHAR(20) NOT NULL"),
            ("c_state", "CHAR(2) NOT NULL"),
            ("c_zip", "CHAR(9) NOT NULL"),
            ("c_phone", "CHAR(16) NOT NULL"),
            ("c_since", "{time} NOT NULL"),
            ("c_credit", "CHAR(2) NOT NULL"),
            ("c_credit_lim", "DECIMAL(12,2) NOT NULL"),
            ("c_discount", "DECIMAL(4,4) NOT NULL"),
            ("c_balance", "DECIMAL(12,2) NOT NULL"),
            ("c_ytd_payment", "DECIMAL(12,2) NOT NULL"),
            ("c_payment_cnt", "INTEGER NOT NULL"),
            ("c_delivery_cnt", "INTEGER NOT NULL"),
            ("c_data", "VARCHAR(500) NOT NULL"),
        ],
        primary_key: "c_w_id, c_d_id, c_id",
        index: Some(("customer_by_name", "c_w_id, c_d_id, c_last, c_first")),
        foreign_keys: &[("c_w_id, c_d_id", "district (d_w_id, d_id)")],
    },
    Table {
        name: "district",
        columns: &[
            ("d_id", "INTEGER NOT NULL"),
            ("d_w_id", "INTEGER NOT NULL"),
            ("d_name", "VARCHAR(10) NOT NULL"),
            ("d_street_1", "VARCHAR(20) NOT NULL"),
            ("d_street_2", "VARCHAR(20) NOT NULL"),
            ("d_city", "VARCHAR(20) NOT NULL"),
            ("d_state", "CHAR(2) NOT NULL"),
            ("d_zip", "CHAR(9) NOT NULL"),
            ("d_tax", "DECIMAL(4,4) NOT NULL"),
            ("d_ytd", "DECIMAL(12,2) NOT NULL"),
            ("d_next_o_id", "INTEGER NOT NULL"),
        ],
        primary_key: "d_w_id, d_id",
        index: None,
        foreign_keys: &[("d_w_id", "warehouse (w_id)")],
    },
    Table {
        name: "warehouse",
        columns: &[
            ("w_id", "INTEGER NOT NULL"),
            ("w_name", "VARCHAR(10) NOT NULL"),
            ("w_street_1", "VARCHAR(20) NOT NULL"),
            ("w_street_2", "VARCHAR(20) NOT NULL"),
            ("w_city", "VARCHAR(20) NOT NULL"),
            ("w_state", "CHAR(2) NOT NULL"),
            ("w_zip", "CHAR(9) NOT NULL"),
            ("w_tax", "DECIMAL(4,4) NOT NULL"),
            ("w_ytd", "DECIMAL(12,2) NOT NULL"),
        ],
        primary_key: "w_id",
        index: None,
        foreign_keys: &[],
    },
    Table {
        name: "item",
        columns: &[
            ("i_id", "INTEGER NOT NULL"),
            ("i_im_id", "INTEGER NOT NULL"),
            ("i_name", "VARCHAR(24) NOT NULL"),
            ("i_price", "DECIMAL(5,2) NOT NULL"),
            ("i_data", "VARCHAR(50) NOT NULL"),
        ],
        primary_key: "i_id",
        index: None,
        foreign_keys: &[],
    },
];

/// How the tables are made on an engine.
#[derive(Debug, Clone)]
pub(super) struct Schema {
    pub(super) dialect: &'static Dialect,
    /// What follows a table's definition.
    pub(super) storage: String,
    pub(super) has_foreign_keys: bool,
}

impl Schema {
    /// The tables with as many rows as a size has.
    pub(super) fn tables(&self, size: &Size) -> Vec<TableDefinition> {
        let tables = TABLES.iter().enumerate();
        tables.map(|(table, known)| self.table(known, rows(table, size))).collect()
    }

    fn table(&self, table: &Table, rows: u64) -> TableDefinition {
        let mut parts: Vec<String> = table
            .columns
            .iter()
            .map(|(name, kind)| {
                format!("{name} {}", kind.replace("{time}", self.dialect.date_and_time))
            })
            .collect();
        let mut indexes = Vec::new();
        let (name, key) = (table.name, table.primary_key);
        match (key.is_empty(), self.dialect.orders_by_key) {
            (true, _) => {}
            (false, true) => parts.push(format!("PRIMARY KEY ({key})")),
            (false, false) => indexes.push(format!("ALTER TABLE {name} ADD PRIMARY KEY ({key})")),
        }
        if let Some((index, columns)) = table.index {
            indexes.push(format!("CREATE INDEX {index} ON {name} ({columns})"));
        }
        let create = format!("CREATE TABLE {name} ({}){}", parts.join(", "), self.storage);
        let columns: Vec<_> = table.columns.iter().map(|(name, _)| *name).collect();
        TableDefinition { indexes, ..TableDefinition::new(name, create, columns, rows) }
    }

    /// Adds the foreign keys to the loaded tables.
    pub(super) fn foreign_keys(&self) -> Vec<String> {
        if !self.has_foreign_keys {
            return Vec::new();
        }
        let keys = TABLES.iter().flat_map(|table| {
            table.foreign_keys.iter().map(move |(columns, other)| {
                format!("ALTER TABLE {} ADD FOREIGN KEY ({columns}) REFERENCES {other}", table.name)
            })
        });
        keys.collect()
    }
}

/// How many rows a table has in the beginning (clause 1.2.1). Orders have ten lines on average, and
/// here exactly.
fn rows(table: usize, size: &Size) -> u64 {
    let orders = size.districts() * size.customers;
    let rows = match table {
        ORDER_LINE => orders * 10,
        NEW_ORDER => size.districts() * (size.customers - size.delivered()),
        STOCK => size.warehouses * size.items,
        DISTRICT => size.warehouses * DISTRICTS,
        WAREHOUSE => size.warehouses,
        ITEM => size.items,
        _ => orders,
    };
    rows.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::size::STANDARD;
    use dyno_model::engine::Engine;

    fn schema(engine: Engine, has_foreign_keys: bool) -> Schema {
        Schema { dialect: engine.dialect(), storage: String::new(), has_foreign_keys }
    }

    #[test]
    fn a_warehouse_has_the_rows_of_the_standard() {
        let size = Size { warehouses: 3, ..STANDARD };
        let tables = schema(Engine::Mysql, false).tables(&size);
        let rows = |name: &str| tables.iter().find(|it| it.name == name).map(|it| it.rows);
        for (name, per_warehouse) in [
            ("warehouse", 1),
            ("district", 10),
            ("customer", 30_000),
            ("history", 30_000),
            ("orders", 30_000),
            ("new_order", 9_000),
            ("order_line", 300_000),
            ("stock", 100_000),
        ] {
            assert_eq!(rows(name), Some(3 * per_warehouse), "{name}");
        }
        assert_eq!((rows("item"), tables.len()), (Some(100_000), 9));
    }

    #[test]
    fn primary_key_is_in_create_table_only_for_clustered_tables() {
        let item = |engine| schema(engine, false).tables(&STANDARD).remove(ITEM);
        assert!(item(Engine::Mysql).create.contains("PRIMARY KEY (i_id)"));
        let postgres = item(Engine::Postgres);
        assert!(!postgres.create.contains("PRIMARY"), "{}", postgres.create);
        assert_eq!(postgres.indexes, ["ALTER TABLE item ADD PRIMARY KEY (i_id)"]);
    }

    #[test]
    fn foreign_keys_are_optional_and_reference_later_dropped_tables() {
        assert!(schema(Engine::Postgres, false).foreign_keys().is_empty());
        assert_eq!(schema(Engine::Postgres, true).foreign_keys().len(), 10);
        for (at, table) in TABLES.iter().enumerate() {
            for (_, other) in table.foreign_keys {
                let name = other.split(' ').next();
                let other = TABLES.iter().position(|it| Some(it.name) == name);
                assert!(other > Some(at), "{} is dropped after {other:?}", table.name);
            }
        }
    }
}
