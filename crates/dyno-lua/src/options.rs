//! Options as scripts declare and see them.

/// The value of an option, as it lies in `sysbench.opt`.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// `true` or `false`.
    Boolean(bool),
    /// Every kind of number; Lua has only one.
    Number(f64),
    /// Text; empty when it was not set.
    Text(String),
    /// An array of texts.
    List(Vec<String>),
    /// No value: the key is absent.
    Nothing,
}

/// The type of an option, which decides how the command line's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// `on`, `off`, `true`, `false`, `1`, `0`.
    Boolean,
    /// A whole number.
    Integer,
    /// A whole number with a suffix K, M, G, T (powers of 1024).
    Size,
    /// Any number.
    Double,
    /// Any text.
    Text,
    /// Texts separated by commas.
    List,
    /// The name of a configuration file.
    File,
}

/// One entry of the table `sysbench.cmdline.options`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredOption {
    /// Name as declared, with dashes turned into underscores.
    pub name: String,
    /// The script's own words; may be empty.
    pub description: String,
    /// Value when the command line gives none.
    pub default: OptionValue,
    /// From the third field of the entry, else from the default: no default means text.
    pub kind: OptionKind,
}
