//! Scheduling of generator threads that share processors with a server on the same machine.

use std::io;

/// Lets the calling thread wait for its time slice when an answer wakes it up, instead of
/// preempting the server at once (Linux: `SCHED_BATCH`, see sched(7)). The server continues with
/// its work, several answers have arrived when the thread runs, and one wake-up serves them all.
/// Idle processors are used as before. docs/decisions/003-workers.md quantifies the gain.
///
/// # Errors
/// Where a sandbox forbids the call. The generator works without it, at a higher cost.
#[expect(
    unsafe_code,
    reason = "no crate offers this system call without also changing the thread's nice value"
)]
pub(crate) fn yield_to_server() -> io::Result<()> {
    // The kernel's `sched_param` consists only of a priority. The library function of that name has
    // no effect in musl.
    let priority: libc::c_int = 0;
    // SAFETY: the pointer is to a live value of the type that the call reads, and the call does not
    // keep it.
    match unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_BATCH, &raw const priority)
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Policy of the calling thread: field 41 of `/proc/thread-self/stat`, proc_pid_stat(5).
    fn policy() -> i32 {
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = line.rsplit_once(')').unwrap().1;
        after_name.split_whitespace().nth(41 - 3).unwrap().parse().unwrap()
    }

    #[test]
    fn only_the_thread_that_asks_gives_way_and_its_nice_value_stays() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let outside = policy();
        std::thread::spawn(move || {
            let before = nice();
            yield_to_server().unwrap();
            assert_eq!((policy(), nice()), (libc::SCHED_BATCH, before));
        })
        .join()
        .unwrap();
        assert_eq!(policy(), outside);
    }
}
