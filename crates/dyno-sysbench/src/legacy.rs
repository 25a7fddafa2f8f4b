//! The bundled scripts of sysbench 0.5, which tutorials still name:
//! `--test=/usr/share/doc/sysbench/tests/db/oltp.lua`, `tests/include/oltp_legacy/select.lua`.
//! Where such a file does not exist, the current script does the same work, with the old names of
//! its options.

use crate::options::Options;
use std::path::Path;

/// Old scripts, and their current replacements.
const SCRIPTS: [(&str, &str); 9] = [
    ("oltp", "oltp_read_write"),
    ("oltp_simple", "oltp_point_select"),
    ("select", "oltp_point_select"),
    ("insert", "oltp_insert"),
    ("delete", "oltp_delete"),
    ("update_index", "oltp_update_index"),
    ("update_non_index", "oltp_update_non_index"),
    ("parallel_prepare", "oltp_read_write"),
    ("common", "oltp_read_write"),
];

/// Old and new names of options.
const OPTIONS: [(&str, &str); 17] = [
    ("oltp_table_size", "table_size"),
    ("oltp_tables_count", "tables"),
    ("oltp_range_size", "range_size"),
    ("oltp_point_selects", "point_selects"),
    ("oltp_simple_ranges", "simple_ranges"),
    ("oltp_sum_ranges", "sum_ranges"),
    ("oltp_order_ranges", "order_ranges"),
    ("oltp_distinct_ranges", "distinct_ranges"),
    ("oltp_index_updates", "index_updates"),
    ("oltp_non_index_updates", "non_index_updates"),
    ("oltp_delete_inserts", "delete_inserts"),
    ("oltp_range_selects", "range_selects"),
    ("oltp_auto_inc", "auto_inc"),
    ("oltp_create_secondary", "create_secondary"),
    ("oltp_secondary", "secondary"),
    ("oltp_skip_trx", "skip_trx"),
    ("mysql_table_engine", "mysql_storage_engine"),
];

/// Folders of the old scripts.
const FOLDERS: [&str; 2] = ["oltp_legacy", "tests/db"];

/// The current script for the path of an old one; `None` for other paths. Names such as `select`
/// are only recognised in the old folders; `oltp.lua` is always recognised.
pub(crate) fn script(path: &str) -> Option<&'static str> {
    let stem = Path::new(path).file_name()?.to_str()?.strip_suffix(".lua")?;
    let is_in_folder = FOLDERS.iter().any(|folder| path.contains(folder));
    let known = SCRIPTS.iter().find(|(old, _)| *old == stem)?;
    (is_in_folder || stem == "oltp").then_some(known.1)
}

/// Translates the options to their current names; returns the script that matches them.
pub(crate) fn translate(script: &'static str, options: &mut Options) -> &'static str {
    options.rename(&OPTIONS);
    let read_only = options.take_switch("oltp_read_only");
    let write_only = options.take_switch("oltp_write_only");
    match script {
        "oltp_read_write" if read_only => "oltp_read_only",
        "oltp_read_write" if write_only => "oltp_write_only",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn old_scripts_are_recognised_by_their_folders() {
        for (path, expected) in [
            ("/usr/share/doc/sysbench/tests/db/oltp.lua", Some("oltp_read_write")),
            ("tests/include/oltp_legacy/select.lua", Some("oltp_point_select")),
            ("oltp.lua", Some("oltp_read_write")),
            ("select.lua", None),
            ("mine/insert.lua", None),
            ("oltp", None),
        ] {
            assert_eq!(script(path), expected, "{path}");
        }
    }

    #[test]
    fn old_option_names_reach_the_current_script() {
        let line =
            ["--oltp-table-size=7", "--oltp-tables-count=3", "--oltp-read-only=on", "--strange=1"];
        let mut options = Options::parse(&line.map(OsString::from)).unwrap();
        assert_eq!(translate("oltp_read_write", &mut options), "oltp_read_only");
        options.accept_all().unwrap();
        assert_eq!(
            (options.value("table_size").text(), options.value("tables").text()),
            ("7".into(), "3".into())
        );
        assert!(options.is_given("strange") && !options.is_given("oltp_read_only"));
    }
}
