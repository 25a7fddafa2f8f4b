//! The scripts that dyno contains.

/// Scripts bundled with dyno under sysbench's names: the bundled modules that are not only parts of
/// others.
pub(crate) fn bundled() -> impl Iterator<Item = &'static str> {
    dyno_lua::bundled_names().filter(|name| !["oltp_common", "oltp_tables"].contains(name))
}
