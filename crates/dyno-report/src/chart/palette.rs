//! Which colour, dash and marker a series has. A series is never told apart by colour alone.

/// Place of a series in the order of the page: the same system has the same slot in every chart.
///
/// Colours are Okabe and Ito's (jfly.uni-koeln.de/color), the light ones darkened on white ground
/// until they reach a contrast of 3:1; they stand in `assets/chart.css` as classes `s0` to `s7`.
/// From the ninth series on the slots repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub usize);

/// Shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    /// Filled square.
    Square,
    /// Triangle standing on its base.
    Triangle,
    /// Square standing on a corner.
    Diamond,
    /// Triangle standing on its tip.
    TriangleDown,
    /// Thick plus sign.
    Plus,
    Pentagon,
    /// Lying bar.
    Bar,
}

/// Number of different slots.
pub(crate) const SLOTS: usize = 8;

impl Slot {
    /// Class that sets colour and dash.
    pub(crate) fn class(self) -> &'static str {
        ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"][self.0 % SLOTS]
    }

    pub(crate) fn mark(self) -> Mark {
        use Mark::{Bar, Circle, Diamond, Pentagon, Plus, Square, Triangle, TriangleDown};
        [Circle, Square, Triangle, Diamond, TriangleDown, Plus, Pentagon, Bar][self.0 % SLOTS]
    }
}
