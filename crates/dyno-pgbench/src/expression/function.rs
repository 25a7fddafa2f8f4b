//! Functions and operators.

/// All functions. Operators are functions too; `>` and `>=` are `<` and `<=` with their sides
/// exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    /// `x IS y`, for NULL and booleans.
    Is,
    Not,
    /// Evaluates its right side only if necessary.
    And,
    /// Evaluates its right side only if necessary.
    Or,
    /// Condition, value, condition, value, ..., default value.
    Case,
    Absolute,
    Debug,
    Double,
    Exponential,
    Fnv1a,
    Greatest,
    Integer,
    Least,
    Logarithm,
    Murmur2,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    SquareRoot,
}

/// Number of arguments of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    Exactly(usize),
    /// At least one.
    Some,
    /// This many, or one fewer, in which case the seed is that of the run.
    Seeded(usize),
}

/// The functions that scripts can name.
const NAMED: [(&str, Function, Arity); 21] = [
    ("abs", Function::Absolute, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exponential, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::Some),
    ("hash", Function::Murmur2, Arity::Seeded(2)),
    ("hash_fnv1a", Function::Fnv1a, Arity::Seeded(2)),
    ("hash_murmur2", Function::Murmur2, Arity::Seeded(2)),
    ("int", Function::Integer, Arity::Exactly(1)),
    ("least", Function::Least, Arity::Some),
    ("ln", Function::Logarithm, Arity::Exactly(1)),
    ("mod", Function::Modulo, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::Seeded(3)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Power, Arity::Exactly(2)),
    ("power", Function::Power, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::RandomExponential, Arity::Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Arity::Exactly(3)),
    ("sqrt", Function::SquareRoot, Arity::Exactly(1)),
];

/// Finds a function by name, ignoring case.
pub(crate) fn find(name: &str) -> Option<(Function, Arity)> {
    NAMED
        .iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(name))
        .map(|(_, function, arity)| (*function, *arity))
}

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(find("Random_Zipfian"), Some((Function::RandomZipfian, Arity::Exactly(3))));
        assert_eq!(find("nothing"), None);
    }
}
