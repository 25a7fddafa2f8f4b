//! SQLite has no server: its database is a file, and only the file can be queried.

mod observer;
pub(crate) mod settings;

use super::queries::{EngineQueries, TableQueries};

pub(super) const QUERIES: EngineQueries = EngineQueries {
    settings: settings::SETTINGS,
    observe: Some(observer::observe),
    versions: &[],
    tables: Some(TableQueries {
        sizes: Some(
            "SELECT t.name, sum(d.pgsize) FROM sqlite_schema t JOIN sqlite_schema i ON i.tbl_name = t.name JOIN dbstat d ON d.name = i.name \
            WHERE t.type = 'table' GROUP BY t.name",
        ),
        indexes: "SELECT t.name, 'primary', 1, c.name, printf('\"%w\"', c.name), c.type LIKE '%INT%', 0 AS rank, c.pk AS place \
            FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk > 0 \
            UNION ALL SELECT t.name, i.name, 0, c.name, printf('\"%w\"', c.name), 0, 1, c.seqno \
            FROM sqlite_schema t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c \
            WHERE t.type = 'table' AND i.origin <> 'pk' AND c.name IS NOT NULL ORDER BY 1, rank, 2, place",
        cache: "SELECT 'cache_size', CASE WHEN cache_size < 0 THEN -1024 * cache_size ELSE cache_size * page_size END \
            FROM pragma_cache_size, pragma_page_size",
    }),
    shared_storage: None,
    plain_table: "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name =",
    server: None,
};
