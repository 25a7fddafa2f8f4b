//! Macro for enums whose values have names in files, options and tables.

/// Declares an enum with a name for each value. It generates the list of all values in order
/// (`ALL`), the name of a value (`name`, also its `Display` text), and the value of a name
/// (`named`).
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $visible:vis enum $name:ident { $($(#[$says:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$about])*
        $visible enum $name {
            $($(#[$says])* $value,)+
        }

        impl $name {
            /// All values, in order.
            $visible const ALL: [Self; [$($text),+].len()] = [$(Self::$value),+];

            /// Its name in files, options and tables.
            #[must_use]
            $visible fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }

            /// The value with this name.
            #[must_use]
            $visible fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
