//! sysbench's drivers: how scripts choose one, and what it says in the words of its client library,
//! which scripts and people search for.

/// How a refused statement had been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// As a text.
    Query,
    /// To be prepared.
    Prepare,
    /// Prepared before.
    Execute,
}

/// sysbench's driver for an engine.
#[derive(Debug)]
pub struct SysbenchDriver {
    /// Its name in `--db-driver`.
    pub name: &'static str,
    /// Said when there is no address to connect to.
    pub no_address: &'static str,
    /// The option that encrypts its connections; empty where there is nothing to encrypt.
    pub encrypting: &'static str,
    /// True when an option lists the errors after which an event is repeated.
    pub has_error_list: bool,
    /// Error numbers after which an event is repeated unless that option says otherwise.
    pub ignored_codes: &'static [u32],
    /// SQLSTATEs for the same.
    pub ignored_states: &'static [&'static str],
    /// Number and state of a connection that broke without a word from the server.
    pub lost: (u32, &'static str),
    /// The same when it had been broken before.
    pub lost_before: (u32, &'static str),
    /// State of errors that the server gave none.
    pub no_state: &'static str,
    /// True when an error that is ignored is told to those who debug.
    pub tells_ignored: bool,
    /// True when an error that is ignored is followed by ROLLBACK, without which the session takes
    /// no further statement.
    pub rolls_back: bool,
    /// True for the number and state of a failure outside of events that means that there was no
    /// connection yet.
    pub is_unconnected: fn(code: u32, state: &str) -> bool,
    /// Lines about a connection that cannot be had: host and port of its TCP address, the address
    /// in words, the error's number (0 for none), and why.
    pub unreachable: Unreachable,
    /// Lines about a statement that was refused: the error's number, why, and the statement where
    /// it is known.
    pub refused: fn(sending: Sending, code: u32, message: &str, query: Option<&str>) -> Vec<String>,
}

/// See [`SysbenchDriver::unreachable`].
type Unreachable =
    fn(tcp: Option<(&str, u16)>, place: &str, code: u32, message: &str) -> Vec<String>;

/// How a line about an error ends that names the statement.
pub(super) fn of_query(query: Option<&str>) -> String {
    query.map_or_else(String::new, |query| format!(" for query '{query}'"))
}
