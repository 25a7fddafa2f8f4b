//! Histograms in messages between processes: HdrHistogram V2 in base64; nothing for an empty one.

use crate::compact_histogram::CompactHistogram;
use crate::latency;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as V2Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A histogram as text.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Encoded(String);

impl From<&Histogram<u64>> for Encoded {
    fn from(histogram: &Histogram<u64>) -> Self {
        let mut bytes = Vec::new();
        if !histogram.is_empty() {
            // Writing to a vector cannot fail.
            let _ = V2Serializer::new().serialize(histogram, &mut bytes);
        }
        Self(STANDARD.encode(bytes))
    }
}

impl Encoded {
    /// The histogram, which grows as that of [`latency::histogram`] does.
    fn decode(&self) -> Result<Histogram<u64>, String> {
        let bytes = STANDARD.decode(&self.0).map_err(|error| error.to_string())?;
        if bytes.is_empty() {
            return Ok(latency::histogram());
        }
        let mut histogram: Histogram<u64> = V2Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| error.to_string())?;
        if histogram.sigfig() != latency::SIGNIFICANT_DIGITS
            || histogram.low() != latency::LOWEST_NANOS
            || histogram.high() > 2 * latency::HIGHEST_NANOS
        {
            return Err("a histogram with other bounds".to_owned());
        }
        histogram.auto(true);
        Ok(histogram)
    }
}

/// For `#[serde(with = "encoded")]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(
    histogram: &Histogram<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Encoded::from(histogram).serialize(serializer)
}

/// The counterpart of [`serialize`].
///
/// # Errors
/// When the text is no histogram, or one with other bounds.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram<u64>, D::Error> {
    Encoded::deserialize(deserializer)?.decode().map_err(serde::de::Error::custom)
}

/// The same for histograms with names.
pub mod named {
    use super::Encoded;
    use hdrhistogram::Histogram;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// For `#[serde(with = "encoded::named")]`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(
        all: &[(String, Histogram<u64>)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let all: Vec<_> = all.iter().map(|(name, it)| (name, Encoded::from(it))).collect();
        all.serialize(serializer)
    }

    /// The counterpart of [`serialize`].
    ///
    /// # Errors
    /// When a text is no histogram, or one with other bounds.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, Histogram<u64>)>, D::Error> {
        let all = Vec::<(String, Encoded)>::deserialize(deserializer)?.into_iter();
        let decoded = all.map(|(name, it)| Ok((name, it.decode()?)));
        decoded.collect::<Result<_, String>>().map_err(serde::de::Error::custom)
    }
}

impl Serialize for CompactHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Encoded::from(&*self.full()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CompactHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(deserialize(deserializer)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoded_histogram_grows_and_one_with_other_bounds_is_refused() {
        let mut times = latency::histogram();
        latency::record(&mut times, 1_000);
        let mut decoded = Encoded::from(&times).decode().expect("it was encoded");
        assert_eq!(decoded, times);
        for histogram in [&mut decoded, &mut times] {
            histogram.record(latency::HIGHEST_NANOS).expect("it grows");
        }
        assert_eq!(decoded, times);
        for (low, high, digits) in [(1_000, 1 << 20, 3), (1, 1 << 50, 3), (1, 1 << 20, 2)] {
            let mut other = Histogram::new_with_bounds(low, high, digits).expect("bounds");
            other.record(1_000).expect("it is within the bounds");
            let error = Encoded::from(&other).decode().expect_err("the bounds differ");
            assert_eq!(error, "a histogram with other bounds");
        }
    }
}
