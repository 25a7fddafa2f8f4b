//! sysbench's drivers: their names and options, and their messages in the wording of the client
//! library, which scripts and users search for.

/// How a rejected statement was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// As text.
    Query,
    /// In a request to prepare it.
    Prepare,
    /// As an execution of a prepared statement.
    Execute,
}

/// sysbench's driver for an engine.
#[derive(Debug)]
pub struct SysbenchDriver {
    /// Its name in `--db-driver`.
    pub name: &'static str,
    /// Message when there is no address to connect to.
    pub no_address: &'static str,
    /// The option that encrypts its connections; empty where encryption does not apply.
    pub encrypting: &'static str,
    /// True when an option lists the errors after which an event is retried.
    pub has_error_list: bool,
    /// Error numbers after which an event is retried by default.
    pub ignored_codes: &'static [u32],
    /// SQLSTATEs after which an event is retried by default.
    pub ignored_states: &'static [&'static str],
    /// Error number and SQLSTATE of a connection that broke without a server message.
    pub lost: (u32, &'static str),
    /// The same for a connection that was already broken.
    pub lost_before: (u32, &'static str),
    /// SQLSTATE of errors without one from the server.
    pub no_state: &'static str,
    /// True when an ignored error is logged at debug level.
    pub tells_ignored: bool,
    /// True when an ignored error is followed by ROLLBACK, without which the session accepts no
    /// further statement.
    pub rolls_back: bool,
    /// True for the error number and SQLSTATE of a failure outside of events that means that there
    /// was no connection yet.
    pub is_unconnected: fn(code: u32, state: &str) -> bool,
    /// Lines about a failed connection: host and port of its TCP address, the address in words, the
    /// error number (0 for none), and the reason.
    pub unreachable: Unreachable,
    /// Lines about a rejected statement: the error number, the reason, and the statement if it is
    /// known.
    pub refused: fn(sending: Sending, code: u32, message: &str, query: Option<&str>) -> Vec<String>,
}

/// See [`SysbenchDriver::unreachable`].
type Unreachable =
    fn(tcp: Option<(&str, u16)>, address: &str, code: u32, message: &str) -> Vec<String>;

/// End of an error line that contains the statement.
pub(super) fn of_query(query: Option<&str>) -> String {
    query.map_or_else(String::new, |query| format!(" for query '{query}'"))
}
