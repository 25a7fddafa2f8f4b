//! Finds the tables that statements may change, from their text. When in doubt, a statement may
//! change any table: wrongly assuming that it only reads could destroy user data, while wrongly
//! assuming that it writes only means that the database must be named.

use crate::script::words::{Token, is_of_word, statements};
use dyno_drivers::reading::BEGINNING;
use dyno_model::engine::Syntax;
use std::collections::BTreeSet;

/// First words of statements that change nothing themselves, each with words that indicate the
/// opposite.
const READING: [(&str, &[&str]); 18] = [
    ("select", INTO),
    ("values", INTO),
    ("table", INTO),
    ("with", WORK),
    ("begin", OPENING),
    ("start", OPENING),
    ("set", OPENING),
    ("show", &[]),
    ("explain", &[]),
    ("describe", &[]),
    ("commit", &[]),
    ("end", &[]),
    ("rollback", &[]),
    ("abort", &[]),
    ("savepoint", &[]),
    ("release", &[]),
    ("declare", &[]),
    ("fetch", &[]),
];

/// Rows are written to a table or a file. A variable, `INTO @a`, is harmless.
const INTO: &[&str] = &["into"];

/// What a nested statement may do.
const WORK: &[&str] = &[
    "insert", "update", "delete", "replace", "merge", "truncate", "into", "create", "execute",
    "refresh",
];

/// Statements that make a read-only session writable, or affect more than the session.
const OPENING: &[&str] = &[
    "write",
    "read_only",
    "tx_read_only",
    "transaction_read_only",
    "default_transaction_read_only",
    "global",
    "password",
    "persist",
    "persist_only",
    "slave",
    "replica",
    "group_replication",
];

/// Verbs that are functions when followed by a parenthesis.
const FUNCTIONS: [&str; 3] = ["insert", "replace", "truncate"];

/// A kind of statements that change tables.
struct Changing {
    first: &'static str,
    /// The names of all these tables precede these words.
    ends: &'static [&'static str],
    /// True when some of them may be in parentheses.
    has_groups: bool,
}

const CHANGING: [Changing; 6] = [
    Changing {
        first: "insert",
        ends: &["select", "values", "value", "set", "default", "with", "table", "overriding"],
        has_groups: false,
    },
    Changing {
        first: "replace",
        ends: &["select", "values", "value", "set", "with", "table"],
        has_groups: false,
    },
    Changing { first: "update", ends: &["set"], has_groups: true },
    Changing {
        first: "delete",
        ends: &["where", "using", "order", "limit", "returning"],
        has_groups: true,
    },
    Changing { first: "merge", ends: &["using"], has_groups: false },
    Changing { first: "truncate", ends: &[], has_groups: false },
];

/// True when a text is known to only read.
#[must_use]
pub fn reads(text: &str, syntax: Syntax) -> bool {
    statements(text, syntax).is_some_and(|all| all.iter().all(|tokens| is_reading(tokens)))
}

/// First words of statements that write or define something, besides those of
/// [`CHANGING`].
const OTHER_WORK: [&str; 26] = [
    "alter", "analyze", "attach", "call", "cluster", "comment", "copy", "create", "do", "drop",
    "execute", "flush", "grant", "handler", "import", "load", "lock", "optimize", "pragma",
    "refresh", "reindex", "rename", "repair", "revoke", "vacuum", "xa",
];

/// True when a text that is not known to only read consists of statements that dyno knows, so that
/// it writes even if the server rejects it. A mistyped `SELEKT` is not among them.
pub(crate) fn writes(text: &str, syntax: Syntax) -> bool {
    let is_known = |tokens: &Vec<Token>| {
        let mut words = tokens.iter().filter(|token| **token != Token::Sign('('));
        words.next().and_then(Token::word).is_some_and(|first| {
            READING.iter().any(|(word, _)| *word == first)
                || CHANGING.iter().any(|changing| changing.first == first)
                || OTHER_WORK.contains(&first)
        })
    };
    statements(text, syntax)
        .is_some_and(|all| all.iter().any(|tokens| !is_reading(tokens) && is_known(tokens)))
}

/// Whether a text begins or ends transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionControl {
    /// It does not.
    None,
    /// It contains nothing else.
    Only,
    /// Among other statements.
    Mixed,
}

impl TransactionControl {
    pub(crate) fn of(text: &str, syntax: Syntax) -> Self {
        const WORDS: [&str; 6] = ["begin", "start", "commit", "end", "rollback", "abort"];
        let is_control = |tokens: &&Vec<Token>| {
            tokens.first().and_then(Token::word).is_some_and(|word| WORDS.contains(&word))
        };
        let Some(all) = statements(text, syntax) else { return Self::Mixed };
        match all.iter().filter(is_control).count() {
            0 => Self::None,
            count if count == all.len() => Self::Only,
            _ => Self::Mixed,
        }
    }
}

fn is_reading(tokens: &[Token]) -> bool {
    let Some(first) = tokens.iter().find(|token| **token != Token::Sign('(')).and_then(Token::word)
    else {
        return false;
    };
    let Some((_, belying)) = READING.iter().find(|(word, _)| *word == first) else { return false };
    let is_plain = match first {
        "begin" | "start" => tokens.iter().all(|token| match token {
            Token::Word(word) => BEGINNING.contains(&word.as_str()),
            Token::Sign(sign) => *sign == ',',
            Token::Quoted(_) => false,
        }),
        "set" => tokens.split(|token| *token == Token::Sign(',')).all(names_plainly),
        _ => true,
    };
    if !is_plain {
        return false;
    }
    // EXPLAIN ANALYZE executes its statement.
    let is_carried_out = ["analyze", "analyse"].iter().any(|word| has(tokens, &[word]));
    let belying =
        if matches!(first, "explain" | "describe") && is_carried_out { WORK } else { belying };
    !has(tokens, belying)
}

/// True when a setting is named without quotes, which allow many spellings, and does not begin with
/// `@@`.
fn names_plainly(assignment: &[Token]) -> bool {
    let end = assignment.iter().position(|token| match token {
        Token::Sign(sign) => *sign == '=',
        token => token.word() == Some("to"),
    });
    let name = &assignment[..end.unwrap_or(assignment.len())];
    let is_system = name.windows(2).any(|two| two == [Token::Sign('@'), Token::Sign('@')]);
    !is_system && !name.iter().any(|token| matches!(token, Token::Quoted(_)))
}

/// True when one of these words is part of a statement, in its own meaning.
fn has(tokens: &[Token], words: &[&str]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).and_then(|at| tokens[at].word());
        let next = tokens.get(at + 1);
        token.word().is_some_and(|word| {
            words.contains(&word)
                && match word {
                    // A lock: FOR UPDATE, FOR NO KEY UPDATE.
                    "update" => !matches!(before, Some("for" | "key")),
                    "into" => next != Some(&Token::Sign('@')),
                    _ => !FUNCTIONS.contains(&word) || next != Some(&Token::Sign('(')),
                }
        })
    })
}

/// Words of a text among which are the names of all tables that its statements change, in small
/// letters; `None` when they cannot be told. What triggers, rules and functions do is not seen.
pub(crate) fn changed(text: &str, syntax: Syntax) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for tokens in statements(text, syntax)?.iter().filter(|tokens| !is_reading(tokens)) {
        all.extend(changed_by(tokens, syntax)?);
    }
    Some(all)
}

fn changed_by(tokens: &[Token], syntax: Syntax) -> Option<BTreeSet<String>> {
    let (first, rest) = tokens.split_first()?;
    let first = first.word()?;
    let Changing { ends, has_groups, .. } =
        CHANGING.iter().find(|changing| changing.first == first)?;
    let mut names = BTreeSet::new();
    let mut depth = 0_usize;
    for token in rest {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign(_) => {}
            Token::Word(word) if depth == 0 && word == "cascade" => return None,
            // MySQL's `DELETE FROM a USING b AS a` deletes from b.
            Token::Word(word) if depth == 0 && ends.contains(&word.as_str()) => {
                let is_more = first == "delete" && word == "using" && syntax.deletes_from_aliases;
                if !is_more {
                    break;
                }
            }
            Token::Word(word) | Token::Quoted(word) if depth == 0 || *has_groups => {
                names.insert(word.clone());
            }
            Token::Word(_) | Token::Quoted(_) => {}
        }
    }
    Some(names)
}

/// True when a text contains a name.
#[must_use]
pub fn mentions(text: &str, name: &str) -> bool {
    text.to_lowercase().split(|c| !is_of_word(c)).any(|word| word == name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_tables_are_found_before_the_tables_that_are_read() {
        let of = |statement: &str| {
            changed(statement, Syntax::MYSQL).map(|names| names.into_iter().collect::<Vec<_>>())
        };
        let known =
            |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        for (statement, names) in [
            ("INSERT INTO report SELECT sum(c2) FROM rush", known(&["into", "report"])),
            ("insert into report(day, n) select 1, n from rush;", known(&["into", "report"])),
            ("INSERT /*+ SET_VAR(a = 1) */ INTO report SELECT 1", known(&["into", "report"])),
            ("REPLACE `Shop`.`Report` VALUES (1)", known(&["report", "shop"])),
            (
                "UPDATE orders o JOIN items i ON o.id = i.id SET o.n = 1",
                known(&["i", "id", "items", "join", "o", "on", "orders"]),
            ),
            ("UPDATE (a JOIN b) SET a.n = c", known(&["a", "b", "join"])),
            (
                "UPDATE (SELECT id FROM old) o JOIN orders USING (id) SET n = 1",
                known(&["from", "id", "join", "o", "old", "orders", "select", "using"]),
            ),
            ("DELETE FROM \"orders\" WHERE id IN (SELECT id FROM old)", known(&["from", "orders"])),
            ("DELETE o FROM orders o, items WHERE 1", known(&["from", "items", "o", "orders"])),
            ("DELETE FROM x USING r AS x WHERE 1", known(&["as", "from", "r", "x"])),
            (
                "DELETE o FROM (orders o JOIN items) WHERE 1",
                known(&["from", "items", "join", "o", "orders"]),
            ),
            ("TRUNCATE TABLE a, b", known(&["a", "b", "table"])),
            ("TRUNCATE TABLE a CASCADE", None),
            (
                "MERGE INTO stock USING delta ON 1 WHEN MATCHED THEN DELETE",
                known(&["into", "stock"]),
            ),
            ("UPDATE a SET b = ';'; DELETE FROM c", known(&["a", "c", "from"])),
            ("SELECT 1; UPDATE a SET b = 1", known(&["a"])),
            ("UPDATE a SET b = 1; CALL p()", None),
            ("WITH x AS (SELECT 1) DELETE FROM c", None),
            ("EXPLAIN ANALYZE DELETE FROM c", None),
            ("UPDATE a /*! , b */ SET c = 1", None),
            ("CALL nightly()", None),
            ("CREATE TABLE t AS SELECT 1", None),
            ("COPY t FROM STDIN", None),
        ] {
            assert_eq!(of(statement), names, "{statement}");
        }
        let of_postgres = changed("DELETE FROM mine USING rush WHERE 1", Syntax::POSTGRES);
        assert_eq!(of_postgres, Some(BTreeSet::from(["from".to_owned(), "mine".to_owned()])));
    }

    #[test]
    fn a_text_reads_only_if_all_its_parts_do() {
        for (text, is_reading) in [
            ("SELECT replace(a, 'x', 'y'), 'DELETE FROM t' FROM t -- UPDATE", true),
            ("WITH a AS (SELECT insert('abc', 1, 1, 'x')) SELECT * FROM a", true),
            ("WITH a AS (SELECT 1) SELECT * FROM a FOR UPDATE", true),
            ("WITH a AS (SELECT 1) SELECT \"update\", 'delete' FROM a", true),
            ("/* hint */ SELECT 1;", true),
            ("SELECT 1; SELECT 2", true),
            ("SELECT n INTO @n FROM t", true),
            ("EXPLAIN DELETE FROM t", true),
            ("EXPLAIN (ANALYZE) SELECT 1", true),
            ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", true),
            ("SET LOCAL work_mem = '1MB'", true),
            ("SET @n = 'x'", true),
            ("SET \"default_transaction_read_only\" TO off", false),
            ("SET `tx_read_only`=0", false),
            ("SET work_mem = 1, `tx_read_only` = 0", false),
            ("SET @@session.tx_isolation = 'SERIALIZABLE'", false),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE READ /**/ WRITE", false),
            ("SELECT 1; DELETE FROM t", false),
            ("WITH a AS (SELECT 1) DELETE FROM t", false),
            ("WITH a AS (DELETE FROM t RETURNING id) SELECT * FROM a", false),
            ("(WITH a AS (UPDATE t SET n = 1 RETURNING n) SELECT * FROM a)", false),
            ("EXPLAIN ANALYZE DELETE FROM t", false),
            ("EXPLAIN (BUFFERS, ANALYZE) INSERT INTO t VALUES (1)", false),
            ("EXPLAIN ANALYZE EXECUTE p", false),
            ("SELECT * INTO new FROM t", false),
            ("BEGIN READ WRITE", false),
            ("SET TRANSACTION READ WRITE", false),
            ("SET default_transaction_read_only = off", false),
            ("SET GLOBAL read_only = 0", false),
            ("SELECT 1 /*! INTO OUTFILE 'x' */", false),
        ] {
            assert_eq!(reads(text, Syntax::MYSQL), is_reading, "{text}");
        }
    }

    #[test]
    fn a_text_with_an_unknown_first_word_is_not_known_to_write() {
        for (text, is_writing) in [
            ("SELEKT 1", false),
            ("UPDAET t SET n = 1", false),
            ("SELECT 1", false),
            ("SELECT 'open", false),
            ("UPDATE t SET", true),
            ("SELEKT 1; DROP TABLE t", true),
            ("CALL nightly()", true),
            ("WITH a AS (SELEKT 1) DELETE FROM t", true),
            ("SET GLOBAL read_only = 0", true),
        ] {
            assert_eq!(writes(text, Syntax::MYSQL), is_writing, "{text}");
        }
    }

    #[test]
    fn a_name_is_found_as_a_whole_word() {
        assert!(mentions("count(*) from shop.\"Orders\"", "orders"));
        assert!(!mentions("count(*) from orders_old", "orders"));
    }
}
