//! Enums whose values have names, in files, options and tables.

/// Declares an enum with the name of each value behind it. It has all of them in their order
/// (`ALL`), the name of one (`name`, also as its text), and the one of a name (`named`).
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $visible:vis enum $name:ident { $($(#[$says:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$about])*
        $visible enum $name {
            $($(#[$says])* $value,)+
        }

        impl $name {
            /// All of them, in their order.
            $visible const ALL: [Self; [$($text),+].len()] = [$(Self::$value),+];

            /// Its name in files, options and tables.
            #[must_use]
            $visible fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }

            /// The one of this name.
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
