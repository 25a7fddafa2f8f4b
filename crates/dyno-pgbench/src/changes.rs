//! Which tables statements may change, read off their text.

use dyno_model::words::begins_with;
use std::collections::BTreeSet;

/// First words of statements that change nothing by themselves.
const READING: [&str; 18] = [
    "select",
    "with",
    "values",
    "table",
    "show",
    "explain",
    "describe",
    "begin",
    "start",
    "commit",
    "end",
    "rollback",
    "abort",
    "savepoint",
    "release",
    "set",
    "declare",
    "fetch",
];

/// First words of statements that change tables, each with the words before which all of these stand.
const CHANGING: [(&str, &[&str]); 6] = [
    ("insert", &["select", "values", "value", "set", "default", "with", "table", "overriding"]),
    ("replace", &["select", "values", "value", "set", "with", "table"]),
    ("update", &["set"]),
    ("delete", &["where", "using", "order", "limit", "returning"]),
    ("merge", &["using"]),
    ("truncate", &[]),
];

/// True when a statement is taken to read, by its first word.
#[must_use]
pub fn reads(statement: &str) -> bool {
    begins_with(statement, &READING)
}

/// Words of a statement among which are the names of all tables that it changes, in small letters; `None` when they cannot be told.
/// What triggers, rules and functions do is not seen.
pub(crate) fn changed(statement: &str) -> Option<BTreeSet<String>> {
    let (_, ends) = CHANGING.iter().find(|(first, _)| begins_with(statement, &[first]))?;
    // A second statement may be behind the first.
    if statement.trim_end().trim_end_matches(';').contains(';') {
        return None;
    }
    let head = statement.split('(').next().unwrap_or_default().to_lowercase();
    let words = head.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
    let names = words.filter(|word| !word.is_empty()).skip(1).take_while(|word| !ends.contains(word));
    Some(names.map(str::to_owned).collect())
}

/// True when a text mentions a name.
#[must_use]
pub fn mentions(text: &str, name: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    text.to_lowercase().split(|c| !is_of_word(c)).any(|word| word == name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_a_statement_changes_are_before_what_it_reads() {
        let of = |statement: &str| changed(statement).map(|names| names.into_iter().collect::<Vec<_>>());
        let known = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        for (statement, names) in [
            ("INSERT INTO report SELECT sum(c2) FROM rush", known(&["into", "report"])),
            ("insert into report(day, n) select 1, n from rush;", known(&["into", "report"])),
            ("REPLACE `Shop`.`Report` VALUES (1)", known(&["report", "shop"])),
            (
                "UPDATE orders o JOIN items i ON o.id = i.id SET o.n = 1",
                known(&["i", "id", "items", "join", "o", "on", "orders"]),
            ),
            ("DELETE FROM \"orders\" WHERE id IN (SELECT id FROM old)", known(&["from", "orders"])),
            ("DELETE o FROM orders o, items WHERE 1", known(&["from", "items", "o", "orders"])),
            ("TRUNCATE TABLE a, b", known(&["a", "b", "table"])),
            ("MERGE INTO stock USING delta ON 1 WHEN MATCHED THEN DELETE", known(&["into", "stock"])),
            ("UPDATE a SET b = 1; DELETE FROM c", None),
            ("CALL nightly()", None),
            ("CREATE TABLE t AS SELECT 1", None),
            ("COPY t FROM STDIN", None),
        ] {
            assert_eq!(of(statement), names, "{statement}");
        }
    }

    #[test]
    fn a_name_is_mentioned_as_a_whole_word() {
        assert!(mentions("count(*) from shop.\"Orders\"", "orders"));
        assert!(!mentions("count(*) from orders_old", "orders"));
    }
}
