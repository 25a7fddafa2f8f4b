//! The writer thread. The measuring thread queues writes and continues, so a slow disk neither
//! delays it nor counts against the database. Between trials it can wait until everything is
//! written.

use crate::disk::Disk;
use crate::error::StoreError;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Maximum number of queued writes. A trial queues a few per second, so a full queue means a disk
/// that has done nothing for many minutes.
const WAITING_MAX: usize = 4096;

/// A write operation.
pub(crate) type Task = Box<dyn FnOnce(&mut dyn Disk) -> Result<(), StoreError> + Send>;

enum Message {
    /// A write, with the time at which it was queued.
    Task(Instant, Task),
    /// A request for an answer once everything before it is written.
    Flush(Sender<Flushed>),
}

struct Flushed {
    behind: Duration,
    failure: Option<StoreError>,
}

/// How far writing fell behind since the last request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    /// The longest time from queueing to completion of a write.
    pub(crate) behind: Duration,
    /// How long the caller was blocked by a full queue.
    pub(crate) held_up: Duration,
}

/// Handle of the writer thread. Dropping it waits until everything is written.
pub(crate) struct WriterThread {
    messages: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    held_up: Duration,
}

impl WriterThread {
    /// Starts a thread that writes to this disk.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn new(disk: Box<dyn Disk>, folder: &Path) -> Result<Self, StoreError> {
        Self::with_room(disk, folder, WAITING_MAX)
    }

    pub(crate) fn with_room(
        disk: Box<dyn Disk>,
        folder: &Path,
        tasks: usize,
    ) -> Result<Self, StoreError> {
        let (messages, inbox) = mpsc::sync_channel(tasks);
        let thread = thread::Builder::new()
            .name("dyno-writer".to_owned())
            .spawn(move || write(disk, &inbox))
            .map_err(StoreError::io("start the writer thread", folder))?;
        Ok(Self { messages: Some(messages), thread: Some(thread), held_up: Duration::ZERO })
    }

    /// Queues a write. Blocks only while the queue is full. After the first failure nothing more is
    /// written.
    pub(crate) fn hand(&mut self, task: Task) {
        let Some(messages) = &self.messages else { return };
        let now = Instant::now();
        match messages.try_send(Message::Task(now, task)) {
            Err(TrySendError::Full(message)) => {
                // `settle` reports a thread that has ended.
                let _ = messages.send(message);
                self.held_up += now.elapsed();
            }
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// The first failed write; reported once.
    pub(crate) fn flush(&mut self, folder: &Path) -> Result<Pace, StoreError> {
        let held_up = std::mem::take(&mut self.held_up);
        let (answer, answers) = mpsc::channel();
        if let Some(messages) = &self.messages {
            let _ = messages.send(Message::Flush(answer));
        }
        match answers.recv() {
            Ok(Flushed { failure: Some(failure), .. }) => Err(failure),
            Ok(Flushed { behind, failure: None }) => Ok(Pace { behind, held_up }),
            Err(_) => {
                let ended = io::Error::other("the writer thread has ended");
                Err(StoreError::io("write to", folder)(ended))
            }
        }
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(mut disk: Box<dyn Disk>, inbox: &Receiver<Message>) {
    let mut behind = Duration::ZERO;
    let mut has_failed = false;
    let mut failure = None;
    for message in inbox {
        match message {
            Message::Task(handed_over, task) => {
                if !has_failed && let Err(error) = task(&mut *disk) {
                    has_failed = true;
                    failure = Some(error);
                }
                behind = behind.max(handed_over.elapsed());
            }
            Message::Flush(answer) => {
                let behind = std::mem::take(&mut behind);
                let _ = answer.send(Flushed { behind, failure: failure.take() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MachineDisk;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    /// Longer than any test machine needs.
    const FAR: Duration = Duration::from_secs(120);

    fn writer_thread(room: usize) -> WriterThread {
        WriterThread::with_room(Box::<MachineDisk>::default(), Path::new("r"), room).unwrap()
    }

    /// A write as slow as the disk: it ends when its sender sends or is dropped.
    fn stuck() -> (Sender<()>, Task) {
        let (go, wait) = mpsc::channel();
        let task: Task = Box::new(move |_| {
            let _ = wait.recv();
            Ok(())
        });
        (go, task)
    }

    #[test]
    fn a_stuck_disk_blocks_nobody_and_is_reported() {
        let (done, is_done) = mpsc::channel();
        let (go, task) = stuck();
        thread::spawn(move || {
            let mut writer_thread = writer_thread(200);
            writer_thread.hand(task);
            (0..100).for_each(|_| writer_thread.hand(Box::new(|_| Ok(()))));
            let _ = done.send(writer_thread);
        });
        let mut writer_thread = is_done.recv_timeout(FAR).expect("handing over waits for the disk");
        drop(go);
        let pace = writer_thread.flush(Path::new("r")).unwrap();
        assert_eq!(pace.held_up, Duration::ZERO);
        assert!(pace.behind > Duration::ZERO);
    }

    #[test]
    fn the_time_spent_waiting_for_a_full_queue_is_reported() {
        const TASKS: usize = 100;
        let mut writer_thread = writer_thread(1);
        let handed = Arc::new(AtomicUsize::new(0));
        let (tokens, token) = mpsc::channel();
        let token = Arc::new(Mutex::new(token));
        let feeder = thread::spawn({
            let handed = Arc::clone(&handed);
            move || {
                for written in 0..TASKS {
                    // One is being written, one is queued, and the next does not fit.
                    while handed.load(Ordering::SeqCst) < (written + 3).min(TASKS) {
                        thread::yield_now();
                    }
                    tokens.send(()).unwrap();
                }
            }
        });
        for _ in 0..TASKS {
            handed.fetch_add(1, Ordering::SeqCst);
            let token = Arc::clone(&token);
            writer_thread.hand(Box::new(move |_| {
                token.lock().unwrap().recv().unwrap();
                Ok(())
            }));
        }
        feeder.join().unwrap();
        assert!(writer_thread.flush(Path::new("r")).unwrap().held_up > Duration::ZERO);
        assert_eq!(
            writer_thread.flush(Path::new("r")).unwrap().held_up,
            Duration::ZERO,
            "told once"
        );
    }

    #[test]
    fn nothing_is_written_after_the_first_failure() {
        let mut writer_thread = writer_thread(8);
        writer_thread.hand(Box::new(|_| Err(StoreError::NotEmpty { path: "first".into() })));
        let (written, is_written) = mpsc::channel();
        writer_thread.hand(Box::new(move |_| {
            let _ = written.send(());
            Err(StoreError::NotEmpty { path: "second".into() })
        }));
        let error = writer_thread.flush(Path::new("r")).unwrap_err().to_string();
        assert!(error.contains("first"), "{error}");
        assert!(is_written.recv().is_err(), "the second was written");
    }
}
