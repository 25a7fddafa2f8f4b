//! Colours, dashes and markers of series. Series never differ in colour alone.

/// Index of a series in the order of the page: a system has the same slot in every chart.
///
/// The colours are those of Okabe and Ito (jfly.uni-koeln.de/color); the light ones are darkened on
/// white background until they reach a contrast of 3:1. `assets/chart.css` defines them as classes
/// `s0` to `s7`. From the ninth series on the slots repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub usize);

/// Shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    /// Filled square.
    Square,
    /// Triangle pointing up.
    Triangle,
    /// Square rotated by 45 degrees.
    Diamond,
    /// Triangle pointing down.
    TriangleDown,
    /// Thick plus sign.
    Plus,
    Pentagon,
    /// Horizontal bar.
    Bar,
}

/// Number of different slots.
pub(crate) const SLOTS: usize = 8;

impl Slot {
    /// CSS class that sets colour and dash.
    pub(crate) fn class(self) -> &'static str {
        ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"][self.0 % SLOTS]
    }

    pub(crate) fn mark(self) -> Mark {
        use Mark::{Bar, Circle, Diamond, Pentagon, Plus, Square, Triangle, TriangleDown};
        [Circle, Square, Triangle, Diamond, TriangleDown, Plus, Pentagon, Bar][self.0 % SLOTS]
    }
}
