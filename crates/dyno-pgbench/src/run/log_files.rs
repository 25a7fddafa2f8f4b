//! The files of `-l`: one per worker thread, as in pgbench.

use crate::options::{Log, Style};
use crate::report::log::{Aggregate, Entry, append};
use dyno_model::sync::lock;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) struct LogFiles {
    style: Style,
    files: Vec<Mutex<LogFile>>,
}

struct LogFile {
    name: String,
    file: BufWriter<File>,
    aggregate: Option<Aggregate>,
    /// Scratch space.
    text: String,
    failure: Option<io::Error>,
}

/// Microseconds since 1970.
pub(super) fn unix_time() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

impl LogFiles {
    /// Creates the files `prefix.pid`, `prefix.pid.1`, ...
    ///
    /// # Errors
    /// When one cannot be created, with its name.
    pub(super) fn create(
        log: &Log,
        style: Style,
        threads: u32,
    ) -> Result<Self, (String, io::Error)> {
        let process = std::process::id();
        let file = |thread: u32| {
            let suffix = if thread == 0 { String::new() } else { format!(".{thread}") };
            let name = format!("{}.{process}{suffix}", log.prefix);
            // Opened carefully, because the name is predictable.
            match dyno_files::append(Path::new(&name), 0o666)
                .and_then(|file| file.set_len(0).map(|()| file))
            {
                Ok(file) => Ok(Mutex::new(LogFile {
                    name,
                    file: BufWriter::new(file),
                    aggregate: log.aggregate.map(|seconds| Aggregate::new(unix_time(), seconds)),
                    text: String::new(),
                    failure: None,
                })),
                Err(error) => Err((name, error)),
            }
        };
        Ok(Self { style, files: (0..threads).map(file).collect::<Result<_, _>>()? })
    }

    /// Writes the line of a transaction.
    pub(super) fn write(&self, entry: &Entry) {
        let file = &self.files[entry.client as usize % self.files.len()];
        let file = &mut *lock(file);
        file.text.clear();
        match &mut file.aggregate {
            Some(aggregate) => aggregate.add(&self.style, entry, &mut file.text),
            None => append(&self.style, entry, &mut file.text),
        }
        file.write();
    }

    /// Writes buffered lines.
    ///
    /// # Errors
    /// The first error of the run, with the file's name.
    pub(super) fn finish(&self) -> Result<(), (String, io::Error)> {
        for file in &self.files {
            let file = &mut *lock(file);
            file.text.clear();
            if let Some(aggregate) = &mut file.aggregate {
                aggregate.advance(&self.style, unix_time(), &mut file.text);
            }
            file.write();
            let flushed = file.file.flush();
            if let Some(error) = file.failure.take().or(flushed.err()) {
                return Err((file.name.clone(), error));
            }
        }
        Ok(())
    }
}

impl LogFile {
    fn write(&mut self) {
        if let Err(error) = self.file.write_all(self.text.as_bytes()) {
            self.failure.get_or_insert(error);
        }
    }
}
