//! Formats of reports other than the HTML page.

pub(super) mod csv;
pub(super) mod format;
pub(super) mod json;
pub(super) mod markdown;
pub(super) mod text;
