//! `latency.hlog`: interval histograms in HdrHistogram's V2 log, readable by
//! `HistogramLogProcessor` and others.
//!
//! Values are nanoseconds; the divisor 1,000,000 lets other tools print the largest value of an
//! interval in milliseconds. Transactions of the measured window carry no tag, because other tools
//! show untagged intervals first.

use crate::problem::{Damage, Problems};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dyno_files::read_from;
use dyno_model::compact_histogram::CompactHistogram;
use dyno_model::latency;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::{Duration, SystemTime};

/// Tag of transactions in the warm-up.
const WARM_UP: &str = "warm-up";
/// Tag of the ages of arrivals without a commit; one line holds those of the whole window.
const CENSORED: &str = "censored";

/// Prefix of the tag of the transactions of one name.
const TRANSACTION: &str = "transaction:";

/// Encodes intervals as log lines.
pub(crate) struct LogEncoder {
    builder: IntervalLogWriterBuilder,
    serializer: V2DeflateSerializer,
    /// First lines of the file. The library writes them on every start.
    pub(crate) header: Vec<u8>,
}

impl LogEncoder {
    /// An encoder for a trial whose first client began at this time.
    pub(crate) fn new(began: SystemTime) -> Self {
        let mut builder = IntervalLogWriterBuilder::new();
        builder.add_comment("[Histogram log format version 1.3]");
        builder.add_comment(
            "values in nanoseconds; no tag: committed transactions of the measured window",
        );
        builder.with_start_time(began).with_base_time(began).with_max_value_divisor(1e6);
        let mut header = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        // Writing to a vector cannot fail.
        let _ = builder.begin_log_with(&mut header, &mut serializer);
        Self { builder, serializer, header }
    }

    /// The lines of an interval. Kinds of statements without values get no line.
    ///
    /// # Errors
    /// When a histogram cannot be encoded.
    pub(crate) fn lines(&mut self, interval: &IntervalRecord) -> Result<Vec<u8>, String> {
        let mut lines = Vec::new();
        let mut writer = self
            .builder
            .begin_log_with(&mut lines, &mut self.serializer)
            .map_err(|error| error.to_string())?;
        let (start, length) = (Duration::from(interval.start), Duration::from(interval.length));
        let mut write = |histogram: &Histogram<u64>, tag: Option<Tag<'_>>| {
            writer
                .write_histogram(histogram, start, length, tag)
                .map_err(|error| format!("{error:?}"))
        };
        write(&interval.response_times, if interval.is_warmup { Tag::new(WARM_UP) } else { None })?;
        if !interval.is_warmup {
            for (name, histogram) in named(interval).filter(|(_, histogram)| !histogram.is_empty())
            {
                write(histogram, Tag::new(&format!("{TRANSACTION}{}", tag_name(name))))?;
            }
            for (name, histogram) in
                interval.statements.iter().filter(|(_, histogram)| !histogram.is_empty())
            {
                write(&histogram.full(), Tag::new(&tag_name(name)))?;
            }
        }
        if let Some(ages) = &interval.censored {
            write(ages, Tag::new(CENSORED))?;
        }
        Ok(lines.split_off(self.header.len()))
    }
}

/// Response times by the name of the transaction. A single name has the response times of all.
fn named(interval: &IntervalRecord) -> impl Iterator<Item = &(String, Histogram<u64>)> {
    interval.transactions.iter().filter(|_| interval.transactions.len() > 1)
}

/// A name as a tag. The format forbids commas, blanks and line ends.
fn tag_name(name: &str) -> String {
    let name: String =
        name.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// Histograms of a trial's measured window, all intervals merged.
#[derive(Debug, Clone)]
pub(crate) struct TrialHistograms {
    pub(crate) response_times: Histogram<u64>,
    /// Ages of arrivals without a commit.
    pub(crate) censored: Histogram<u64>,
    /// Statements by tag.
    statements: BTreeMap<String, CompactHistogram>,
    /// Transactions by interval.
    pub(crate) intervals: Vec<CountedInterval>,
    /// Lines of the log.
    pub(crate) lines: usize,
}

/// Distribution of the response times of one interval of the measured window.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedInterval {
    /// Start in seconds since the common start.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Bands of response times that occur ([`latency::band`]), in rising order, with their number
    /// of transactions.
    pub counts: Vec<(u16, u64)>,
}

/// The transactions of an interval by band.
fn counted_interval(
    interval: &IntervalLogHistogram<'_>,
    histogram: &Histogram<u64>,
) -> CountedInterval {
    let mut counts: Vec<(u16, u64)> = Vec::new();
    for value in histogram.iter_recorded() {
        let (band, number) =
            (latency::band(value.value_iterated_to()), value.count_since_last_iteration());
        match counts.last_mut() {
            Some((last, sum)) if *last == band => *sum += number,
            _ => counts.push((band, number)),
        }
    }
    CountedInterval {
        start_s: interval.start_timestamp().as_secs_f64(),
        length_s: interval.duration().as_secs_f64(),
        counts,
    }
}

impl TrialHistograms {
    /// Histogram of a kind of statement.
    pub(crate) fn statement(&self, name: &str) -> Option<&CompactHistogram> {
        self.statements.get(&tag_name(name))
    }
}

/// Reads a log line by line, because that of a long trial is far larger than its merged histograms.
/// The second value says what could not be read, by line.
pub(crate) fn parse(mut log: impl BufRead) -> (TrialHistograms, Problems) {
    let mut histograms = TrialHistograms {
        response_times: latency::histogram(),
        censored: latency::histogram(),
        statements: BTreeMap::new(),
        intervals: Vec::new(),
        lines: 0,
    };
    let mut problems = Vec::new();
    let mut deserializer = Deserializer::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = log.read_until(b'\n', &mut line);
        if let Ok(0) = read {
            return (histograms, problems);
        }
        histograms.lines += 1;
        let line_number = histograms.lines;
        if !line.ends_with(b"\n") {
            let damage =
                read.map_or_else(|error| error.to_string().into(), |_| Damage::LastLineCut);
            problems.push((line_number, damage));
            return (histograms, problems);
        }
        if line.starts_with(b"#") || line == b"\n" {
            continue;
        }
        if let Err(what) = add_line(&mut histograms, &line, &mut deserializer) {
            problems.push((line_number, what.into()));
        }
    }
}

fn add_line(
    histograms: &mut TrialHistograms,
    line: &[u8],
    decoder: &mut Deserializer,
) -> Result<(), String> {
    let interval = entry(line)?;
    let tag = interval.tag().map(|tag| tag.as_str());
    if tag == Some(WARM_UP) {
        return Ok(());
    }
    let histogram = decoded(&interval, decoder)?;
    if tag.is_none() {
        histograms.intervals.push(counted_interval(&interval, &histogram));
    }
    let sum = match tag {
        None => &mut histograms.response_times,
        // Their figures are in the record, and a statement may have the same name.
        Some(tag) if tag.starts_with(TRANSACTION) => return Ok(()),
        Some(CENSORED) => &mut histograms.censored,
        Some(tag) => {
            histograms.statements.entry(tag.to_owned()).or_default().add_histogram(&histogram);
            return Ok(());
        }
    };
    sum.add(&histogram).map_err(|error| format!("the histogram does not fit: {error:?}"))
}

fn entry(line: &[u8]) -> Result<IntervalLogHistogram<'_>, String> {
    match IntervalLogIterator::new(line).next() {
        Some(Ok(LogEntry::Interval(interval))) => Ok(interval),
        _ => Err("not a line of a histogram log".to_owned()),
    }
}

fn decoded(
    interval: &IntervalLogHistogram<'_>,
    decoder: &mut Deserializer,
) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD
        .decode(interval.encoded_histogram())
        .map_err(|error| format!("the histogram is not base64: {error}"))?;
    let bytes =
        inflated(&bytes).map_err(|error| format!("the histogram cannot be decoded: {error}"))?;
    decoder
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("the histogram cannot be decoded: {error:?}"))
}

/// Maximum size of a histogram's counts in bytes: the finest histogram with the longest encoding. A
/// few hundred compressed bytes can announce gigabytes.
const COUNTS_MAX: u64 = 64 << 20;
/// Bytes before the counts; the second four give the size of the counts in bytes.
const HEAD: usize = 40;

/// Decompresses a histogram and checks that its counts are complete.
fn inflated(bytes: &[u8]) -> Result<Vec<u8>, String> {
    // The cookie and the length come first.
    let (Some((cookie, rest)), Some(compressed)) = (bytes.split_first_chunk::<4>(), bytes.get(8..))
    else {
        return Err("it is cut off".to_owned());
    };
    let histogram = match u32::from_be_bytes(*cookie) {
        COMPRESSED => {
            let length =
                rest.first_chunk::<4>().map_or(0, |length| u32::from_be_bytes(*length) as usize);
            let compressed = &compressed[..length.min(compressed.len())];
            read_from(ZlibDecoder::new(compressed), HEAD as u64 + COUNTS_MAX)
                .map_err(|error| error.to_string())?
        }
        _ => bytes.to_owned(),
    };
    let counts =
        histogram.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    if counts.is_none_or(|counts| histogram.len() < HEAD + counts as usize) {
        return Err("it is cut off".to_owned());
    }
    Ok(histogram)
}

/// Cookie of a compressed histogram (HdrHistogram, V2 with deflate).
const COMPRESSED: u32 = 0x1c84_9314;

/// A line of a histogram log of any program.
#[derive(Debug, Clone)]
pub struct LoggedInterval {
    /// Its tag, if it has one.
    pub tag: Option<String>,
    /// Its start, as logged.
    pub start: Nanos,
    /// Its length.
    pub length: Nanos,
    /// Its values, in the unit of the program that wrote it.
    pub histogram: Histogram<u64>,
}

/// The intervals of any program's histogram log; unreadable lines are reported by number. Comments,
/// and the column header that Java's writer adds, are skipped.
pub fn logged_intervals(
    log: &[u8],
) -> impl Iterator<Item = Result<LoggedInterval, (usize, String)>> {
    let mut decoder = Deserializer::new();
    let lines = log.split_inclusive(|byte| *byte == b'\n').enumerate();
    let content = lines.filter(|(_, line)| {
        let line = line.trim_ascii();
        !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"\"StartTimestamp\"")
    });
    content.map(move |(i, line)| {
        let interval = entry(line).map_err(|what| (i + 1, what))?;
        let histogram = decoded(&interval, &mut decoder).map_err(|what| (i + 1, what))?;
        Ok(LoggedInterval {
            tag: interval.tag().map(|tag| tag.as_str().to_owned()),
            start: interval.start_timestamp().into(),
            length: interval.duration().into(),
            histogram,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::ZlibEncoder;
    use proptest::prelude::*;
    use std::io::{Read, repeat};

    fn interval(
        number: u64,
        transactions: &[u64],
        statements: &[(&str, &[u64])],
    ) -> IntervalRecord {
        let filled = |values: &[u64]| {
            let mut histogram = latency::histogram();
            for value in values {
                latency::record(&mut histogram, *value);
            }
            histogram
        };
        let (start, length) = (Nanos::from_secs(number), Nanos::from_secs(1));
        let mut interval = IntervalRecord::empty("b01-001", start, length, &[]);
        interval.is_warmup = number == 0;
        interval.response_times = filled(transactions);
        let compact = |values: &[u64]| {
            let mut histogram = CompactHistogram::default();
            values.iter().for_each(|value| histogram.record(*value));
            histogram
        };
        interval.statements =
            statements.iter().map(|(name, values)| ((*name).to_owned(), compact(values))).collect();
        interval
    }

    fn log(intervals: &[IntervalRecord]) -> Vec<u8> {
        let mut encoder = LogEncoder::new(SystemTime::UNIX_EPOCH);
        let mut log = encoder.header.clone();
        for interval in intervals {
            log.extend(encoder.lines(interval).expect("encodes"));
        }
        log
    }

    #[test]
    fn warm_up_is_logged_and_left_out_of_the_sums() {
        let log = log(&[
            interval(0, &[5], &[("select", &[5])]),
            interval(1, &[7, 9], &[("select", &[3])]),
        ]);
        let text = String::from_utf8(log.clone()).expect("text");
        assert_eq!(text.matches("Tag=warm-up,0.000,1.000,0.000,").count(), 1, "{text}");
        let (histograms, problems) = parse(&log[..]);
        assert_eq!(problems, []);
        assert_eq!(histograms.response_times.len(), 2);
        assert_eq!(histograms.statement("select").expect("there").len(), 1);
    }

    #[test]
    fn ages_of_arrivals_without_a_commit_have_their_own_tag() {
        let mut last = interval(2, &[7], &[]);
        last.censored = Some(interval(2, &[400, 500, 600], &[]).response_times);
        let log = log(&[interval(1, &[9], &[]), last]);
        let text = String::from_utf8(log.clone()).expect("text");
        assert_eq!(text.matches("Tag=censored,2.000,1.000,").count(), 1, "{text}");
        let (histograms, problems) = parse(&log[..]);
        assert_eq!(problems, []);
        assert_eq!((histograms.response_times.len(), histograms.censored.len()), (2, 3));
        assert_eq!(histograms.censored.max(), 600);
    }

    #[test]
    fn transactions_of_several_names_have_their_own_tags() {
        let mut two = interval(1, &[7, 9], &[("pay", &[9])]);
        let of = |values: &[u64]| interval(1, values, &[]).response_times;
        two.transactions = vec![("read all".to_owned(), of(&[7])), ("pay".to_owned(), of(&[9]))];
        let mut one = interval(2, &[7], &[]);
        one.transactions = vec![("alone".to_owned(), of(&[7]))];
        let log = log(&[two, one]);
        let text = String::from_utf8(log.clone()).expect("text");
        for (tag, times) in [
            ("transaction:read_all", 1),
            ("transaction:pay", 1),
            ("pay", 1),
            ("transaction:alone", 0),
        ] {
            assert_eq!(text.matches(&format!("Tag={tag},")).count(), times, "{tag}: {text}");
        }
        let (histograms, problems) = parse(&log[..]);
        assert_eq!(problems, []);
        let pay = histograms.statement("pay").expect("there");
        assert_eq!((histograms.response_times.len(), pay.len()), (3, 1), "each once");
    }

    #[test]
    fn names_with_forbidden_characters_still_find_their_histogram() {
        let log = log(&[interval(1, &[7], &[("select, then\nupdate", &[3, 4])])]);
        let (histograms, problems) = parse(&log[..]);
        assert_eq!(problems, []);
        assert_eq!(histograms.statement("select, then\nupdate").expect("there").len(), 2);
    }

    #[test]
    fn a_damaged_line_is_reported_and_the_others_are_kept() {
        let mut log = log(&[interval(1, &[7], &[]), interval(2, &[8], &[])]);
        log.extend_from_slice(b"3.000,1.000,0.000,@@@@\nnonsense\n4.0,1.0,0.0,QUJD\n");
        let (histograms, problems) = parse(&log[..]);
        assert_eq!(histograms.response_times.len(), 2);
        let lines: Vec<usize> = problems.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines.len(), 3, "{problems:?}");
        assert_eq!(lines[1], lines[0] + 1);
    }

    /// A line of a log with a histogram of these bytes.
    fn line(histogram: &[u8]) -> Vec<u8> {
        format!("1.000,1.000,0.000,{}\n", STANDARD.encode(histogram)).into_bytes()
    }

    /// The header of a histogram that announces this many bytes of counts.
    fn head(counts: u32) -> Vec<u8> {
        let mut head = vec![0; HEAD];
        head[..4].copy_from_slice(&0x1c84_9313_u32.to_be_bytes());
        head[4..8].copy_from_slice(&counts.to_be_bytes());
        head[12..16].copy_from_slice(&3_u32.to_be_bytes());
        head[16..24].copy_from_slice(&1_u64.to_be_bytes());
        head[24..32].copy_from_slice(&3_600_000_000_000_u64.to_be_bytes());
        head[32..].copy_from_slice(&1.0_f64.to_be_bytes());
        head
    }

    fn compressed(histogram: impl Read, length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        ZlibEncoder::new(histogram.take(length), Compression::best())
            .read_to_end(&mut bytes)
            .expect("memory");
        let length = u32::try_from(bytes.len()).expect("small");
        [&COMPRESSED.to_be_bytes()[..], &length.to_be_bytes(), &bytes].concat()
    }

    #[test]
    fn a_few_bytes_that_announce_gigabytes_are_rejected() {
        let whole = |claimed: u32, sent: u64| {
            compressed(head(claimed).as_slice().chain(repeat(0)), HEAD as u64 + sent)
        };
        let problem = |histogram: &[u8]| {
            let (_, problems) = parse(&line(histogram)[..]);
            let what = problems.first().map(|(_, damage)| damage.to_string());
            what.map(|what| what.replace("the histogram cannot be decoded: ", ""))
        };
        let cut_off = Some("it is cut off".to_owned());
        assert_eq!(problem(&whole(8, 8)), None);
        let bomb = whole(u32::MAX, 100 << 20);
        assert!(bomb.len() < 200_000, "{}", bomb.len());
        assert_eq!(problem(&bomb), Some("larger than 64 MiB, which is the limit".to_owned()));
        // Announced but not sent, with and without compression.
        assert_eq!(problem(&whole(u32::MAX, 8)), cut_off);
        assert_eq!(problem(&[head(u32::MAX), vec![0; 8]].concat()), cut_off);
        assert_eq!(problem(&COMPRESSED.to_be_bytes()), cut_off);
        assert_eq!(problem(&[head(8), vec![0; 8]].concat()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn merging_intervals_equals_recording_the_whole(
            intervals in prop::collection::vec(prop::collection::vec(1u64..4_000_000_000_000, 0..40), 1..6),
        ) {
            let mut whole = latency::histogram();
            for value in intervals.iter().flatten() {
                latency::record(&mut whole, *value);
            }
            let written: Vec<_> = intervals
                .iter()
                .enumerate()
                .map(|(i, values)| interval(i as u64 + 1, values, &[("select", values)]))
                .collect();
            let (histograms, problems) = parse(&log(&written)[..]);
            prop_assert_eq!(problems, vec![]);
            prop_assert_eq!(&histograms.response_times, &whole);
            prop_assert_eq!(histograms.statement("select").map_or(0, CompactHistogram::len), whole.len());
        }

        #[test]
        fn no_input_makes_the_reader_panic(log in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&log[..]);
        }

        #[test]
        fn a_truncated_log_keeps_every_whole_line(cut in 0usize..2000) {
            let log = log(&[interval(1, &[7, 700], &[("select", &[3])]), interval(2, &[8], &[("select", &[2])])]);
            let cut = cut.min(log.len());
            let (histograms, problems) = parse(&log[..cut]);
            let whole_lines = log[..cut].iter().filter(|byte| **byte == b'\n').count();
            let is_cut = cut > 0 && log[cut - 1] != b'\n';
            prop_assert_eq!(problems.len(), usize::from(is_cut));
            prop_assert!(histograms.response_times.len() <= 3 && whole_lines <= 9);
        }
    }
}
