//! `[report]`: contents of the first pages of a test report.

use super::keys::{REPORT, REVISION};
use super::reader::Fields;
use crate::front::{FrontMatter, Revision};

/// Reads the table, if it exists.
pub(super) fn read(top: &Fields<'_>) -> Option<FrontMatter> {
    let fields = top.inner("report", &REPORT)?;
    let text = |key| fields.text(key).map(|text| text.trim().to_owned());
    let revisions = fields.each("revision", &REVISION).filter_map(|fields| {
        let required = |key, example| fields.required_text(key, example).map(str::to_owned);
        let version = required("version", "add for example `version = \"1.0\"`");
        let date = required("date", "add for example `date = \"2026-11-23\"`");
        let change = required("change", "add for example `change = \"first issue\"`");
        let author = fields.text("author").unwrap_or_default().to_owned();
        Some(Revision { version: version?, date: date?, author, change: change? })
    });
    Some(FrontMatter {
        organisation: text("organisation"),
        author: text("author"),
        document: text("document"),
        purpose: text("purpose"),
        usage: text("usage"),
        revisions: revisions.collect(),
    })
}
