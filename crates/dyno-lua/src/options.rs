//! Options as declared and seen by scripts, and how their text is parsed.

/// Type of an option, which determines how its text is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// `--x`, or on, off, true, false, 1, 0.
    Boolean,
    /// Integer, strict.
    Integer,
    /// Number, perhaps with decimals; strict. For options where sysbench accepts only integers but
    /// a fraction makes sense.
    Decimal,
    /// Number of bytes with K, M, G or T for powers of 1024.
    Size,
    /// Number; with K, M, G or T for powers of 1024.
    Double,
    /// Any text.
    Text,
    /// Texts separated by commas.
    List,
    /// File with further options.
    File,
    /// on or off as with [`OptionKind::Boolean`], otherwise a text.
    Switch,
}

impl OptionKind {
    /// Parses the text of an option. `None` stands for an option without `=`.
    ///
    /// # Errors
    /// When the text is not a value of this type.
    pub fn parse(self, text: Option<&str>) -> Result<OptionValue, BadValue> {
        let given = text.unwrap_or_default();
        match self {
            Self::Boolean => match text {
                None => Ok(OptionValue::Boolean(true)),
                Some(word) => boolean(word).map(OptionValue::Boolean).ok_or(BadValue::NoSuchSwitch),
            },
            Self::Switch => Ok(match text {
                None => OptionValue::Boolean(true),
                Some(word) => boolean(word)
                    .map_or_else(|| OptionValue::Text(word.to_owned()), OptionValue::Boolean),
            }),
            // An empty number is 0, like a missing one.
            Self::Integer | Self::Decimal | Self::Size | Self::Double
                if given.trim().is_empty() =>
            {
                Ok(OptionValue::Number(0.0))
            }
            Self::Integer => whole(given).map(OptionValue::Number).ok_or(BadValue::NotOfType),
            Self::Decimal => plain(given).map(OptionValue::Number).ok_or(BadValue::NotOfType),
            Self::Size => sized(given)
                .filter(|size| *size >= 0.0)
                .map(OptionValue::Number)
                .ok_or(BadValue::NotOfType),
            Self::Double => sized(given).map(OptionValue::Number).ok_or(BadValue::NotOfType),
            Self::Text | Self::File => Ok(OptionValue::Text(given.to_owned())),
            Self::List => Ok(OptionValue::List(list(given))),
        }
    }
}

/// Why a text is not a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadValue {
    /// A boolean that is neither on nor off. sysbench treats the whole argument as unknown.
    NoSuchSwitch,
    /// An invalid number.
    NotOfType,
}

/// Value of an option, as a script sees it in `sysbench.opt`.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// On or off.
    Boolean(bool),
    /// Numbers of all kinds.
    Number(f64),
    /// Text, perhaps empty.
    Text(String),
    /// List, perhaps empty.
    List(Vec<String>),
    /// No value (an option for a file that was not given).
    Nothing,
}

impl OptionValue {
    /// The value as a number; 0 for other types.
    #[must_use]
    pub fn as_number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Boolean(true) => 1.0,
            Self::Text(text) => sized(text).unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// The value as a boolean.
    #[must_use]
    pub fn is_on(&self) -> bool {
        match self {
            Self::Boolean(is_on) => *is_on,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => boolean(text).unwrap_or(false),
            Self::List(_) | Self::Nothing => false,
        }
    }

    /// The value as text: lists with commas, booleans as on and off.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Boolean(is_on) => if *is_on { "on" } else { "off" }.to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::List(items) => items.join(","),
            Self::Nothing => String::new(),
        }
    }

    /// The value as a list: a text is split at commas.
    #[must_use]
    pub fn items(&self) -> Vec<String> {
        match self {
            Self::List(items) => items.clone(),
            Self::Nothing => Vec::new(),
            other => list(&other.text()),
        }
    }
}

/// One entry of the table `sysbench.cmdline.options`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredOption {
    /// Name as declared, with dashes turned into underscores.
    pub name: String,
    /// The script's description; may be empty.
    pub description: String,
    /// Default value.
    pub default: OptionValue,
    /// From the third field of the entry, otherwise from the default; without a default it is a
    /// text.
    pub kind: OptionKind,
}

fn boolean(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// Limit of integers: all integers up to it are exact as a double.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

fn whole(text: &str) -> Option<f64> {
    let number = text.parse::<i64>().ok()? as f64;
    (number.abs() <= LARGEST_WHOLE).then_some(number)
}

/// A number in decimal notation, without infinity and the like.
fn plain(text: &str) -> Option<f64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse::<f64>().ok().filter(|number| is_number && number.is_finite())
}

/// A number with an optional power of 1024 after it.
fn sized(text: &str) -> Option<f64> {
    let text = text.trim();
    let power = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        _ => return hexadecimal(text).or_else(|| plain(text)),
    };
    plain(&text[..text.len() - 1]).map(|number| number * 1024_f64.powi(power))
}

/// C's `strtod`, with which sysbench parses numbers, accepts these as well.
fn hexadecimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok().map(|number| number as f64)
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use OptionKind as Kind;
    use OptionValue as Value;

    #[test]
    fn booleans_accept_six_words_and_nothing_else() {
        for (text, expected) in
            [(None, true), (Some("on"), true), (Some("TRUE"), true), (Some("1"), true)]
        {
            assert_eq!(Kind::Boolean.parse(text), Ok(Value::Boolean(expected)));
        }
        for text in ["off", "false", "0"] {
            assert_eq!(Kind::Boolean.parse(Some(text)), Ok(Value::Boolean(false)));
        }
        for text in ["", "maybe", "5"] {
            assert_eq!(Kind::Boolean.parse(Some(text)), Err(BadValue::NoSuchSwitch));
        }
    }

    #[test]
    fn integers_are_strict() {
        for (text, expected) in [("010", 10.0), ("+5", 5.0), ("-1", -1.0), ("", 0.0)] {
            assert_eq!(Kind::Integer.parse(Some(text)), Ok(Value::Number(expected)));
        }
        for text in ["10K", "0x10", "1e3", "1.5", "abc", "99999999999999999999"] {
            assert_eq!(Kind::Integer.parse(Some(text)), Err(BadValue::NotOfType), "{text}");
        }
    }

    #[test]
    fn size_suffixes_are_powers_of_1024_for_every_number_of_a_script() {
        for (text, expected) in [
            ("1K", 1024.0),
            ("2m", 2_097_152.0),
            ("1.5K", 1536.0),
            ("1e3", 1000.0),
            ("0.2", 0.2),
            ("0x10", 16.0),
        ] {
            assert_eq!(Kind::Double.parse(Some(text)), Ok(Value::Number(expected)), "{text}");
        }
        for text in ["abc", "1Q", "K", "inf", "nan"] {
            assert_eq!(Kind::Double.parse(Some(text)), Err(BadValue::NotOfType), "{text}");
        }
        assert_eq!(Kind::Size.parse(Some("-1")), Err(BadValue::NotOfType));
    }

    #[test]
    fn an_empty_value_clears_a_list() {
        assert_eq!(Kind::List.parse(Some("")), Ok(Value::List(Vec::new())));
        assert_eq!(Kind::List.parse(Some("a,b,")), Ok(Value::List(vec!["a".into(), "b".into()])));
        assert_eq!(Kind::List.parse(None), Ok(Value::List(Vec::new())));
    }

    #[test]
    fn a_switch_is_boolean_where_it_can_be() {
        assert_eq!(Kind::Switch.parse(Some("on")), Ok(Value::Boolean(true)));
        assert_eq!(Kind::Switch.parse(Some("VERIFY_CA")), Ok(Value::Text("VERIFY_CA".into())));
    }
}
