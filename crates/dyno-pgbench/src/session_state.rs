//! Finds statements whose effect lasts longer than their transaction, from their text: a pooler
//! that runs each transaction in another session loses it, or leaves it to other clients.

use crate::script::words::{Token, statements};
use dyno_model::engine::Syntax;

/// Locks of a session; those of a transaction have `xact` in their name.
const SESSION_LOCK: [&str; 2] = ["pg_advisory_lock", "pg_try_advisory_lock"];

/// True when a text is known to leave something in its session: settings, temporary tables,
/// prepared statements, cursors, notifications, advisory locks.
pub(crate) fn lasts(text: &str, syntax: Syntax) -> bool {
    statements(text, syntax).is_some_and(|all| all.iter().any(|tokens| is_lasting(tokens)))
}

fn is_lasting(tokens: &[Token]) -> bool {
    let words: Vec<&str> = tokens.iter().filter_map(Token::word).collect();
    let has = |wanted: &[&str]| words.windows(wanted.len()).any(|some| some == wanted);
    let by_its_beginning = match *words.as_slice() {
        ["set", "local" | "transaction" | "constraints", ..] => false,
        ["prepare", "transaction", ..] => false,
        ["set" | "prepare" | "listen" | "load", ..] => true,
        ["declare", ..] => has(&["with", "hold"]),
        ["create", "temp" | "temporary", ..] | ["create", _, "temp" | "temporary", ..] => {
            !has(&["on", "commit", "drop"])
        }
        _ => false,
    };
    let locks = words.iter().any(|word| {
        let name = word.strip_suffix("_shared").unwrap_or(word);
        SESSION_LOCK.contains(&name)
    });
    by_its_beginning || locks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_leave_session_state_are_detected() {
        for (text, expected) in [
            ("SET work_mem = '8MB'", true),
            ("set session work_mem = '8MB'", true),
            ("SELECT 1; SET search_path = a", true),
            ("SET LOCAL work_mem = '8MB'", false),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", false),
            ("UPDATE t SET n = 1", false),
            ("CREATE TEMP TABLE t (n int)", true),
            ("CREATE UNLOGGED TABLE t (n int)", false),
            ("create local temporary table t (n int) ON COMMIT DELETE ROWS", true),
            ("CREATE TEMPORARY TABLE t ON COMMIT DROP AS SELECT 1", false),
            ("PREPARE p AS SELECT 1", true),
            ("PREPARE TRANSACTION 'x'", false),
            ("DECLARE c CURSOR FOR SELECT 1", false),
            ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", true),
            ("LISTEN c", true),
            ("SELECT pg_advisory_lock(1)", true),
            ("SELECT pg_catalog.pg_try_advisory_lock_shared(:a, :b)", true),
            ("SELECT pg_advisory_xact_lock(1), 'pg_advisory_lock(1)'", false),
        ] {
            assert_eq!(lasts(text, Syntax::POSTGRES), expected, "{text}");
        }
    }
}
