//! Messages that only the HTML page and its charts show.

use super::messages;

messages! {
    /// Tooltip-free hint above the charts.
    PAGE_DOTS [] "Each dot is one trial; the line joins the means and the bars are 95 % confidence intervals.";
}
