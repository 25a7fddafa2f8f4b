//! Copying data stops on Ctrl-C. A separate program, because an interrupt affects the whole
//! process.

use dyno_drivers::timeout;
use dyno_host::data_set::copy_folder;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn an_interrupted_copy_stops_before_the_next_piece() {
    let folder = tempfile::tempdir().expect("a folder");
    let from = folder.path().join("from");
    std::fs::create_dir(&from).expect("it is new");
    std::fs::write(from.join("data"), vec![1; 40 << 20]).expect("it has room");
    let interrupts = Arc::new(AtomicUsize::new(0));
    timeout::count_interrupts(&interrupts);
    let before = copy_folder(&from, &folder.path().join("before"), None).expect("nobody has asked");
    assert_eq!(before.files, 1);
    interrupts.store(1, Ordering::Relaxed);
    if before.cloned == 1 {
        // Here a file of any size is copied at once.
        return;
    }
    let to = folder.path().join("after");
    let error = copy_folder(&from, &to, None).expect_err("it is not copied");
    assert!(error.to_string().contains("interrupted by the user"), "{error}");
    let copied = std::fs::read(to.join("data")).expect("it was begun");
    assert!(copied.iter().all(|byte| *byte == 0), "no piece was copied");
}
