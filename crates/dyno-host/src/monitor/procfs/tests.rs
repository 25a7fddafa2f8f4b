use super::*;

fn values(read: impl FnOnce(&mut Values)) -> Values {
    let mut values = Values::default();
    read(&mut values);
    values
}

/// Linux 6.18, two processors.
const STAT: &str = "cpu  933950 16561 327312 1146101 16619 0 73173 1921 0 0
cpu0 454650 8156 157391 599048 4414 0 34486 920 0 0
cpu1 479299 8404 169921 547053 12204 0 38686 1000 0 0
intr 33757091 0 0
ctxt 61172344
btime 1763720000
processes 41712
procs_running 3
procs_blocked 0
";

#[test]
fn processor_time_is_split_by_mode() {
    let values = values(|values| stat(STAT, 100.0, values));
    assert_eq!(values.get("host.cpu.user_seconds_total"), Some(9339.5));
    assert_eq!(values.get("host.cpu.idle_seconds_total"), Some(11461.01));
    assert_eq!(values.get("host.cpu.steal_seconds_total"), Some(19.21));
    assert_eq!(values.get("host.cpu.processors"), Some(2.0));
    assert_eq!(values.get("host.context_switches_total"), Some(61_172_344.0));
}

#[test]
fn an_older_kernel_with_fewer_modes_gives_fewer_values() {
    // Linux 2.6.10 had no steal time.
    let old = values(|values| {
        stat("cpu  10 20 30 40 50 60 70\ncpu0 10 20 30 40 50 60 70\n", 100.0, values);
    });
    assert_eq!(old.get("host.cpu.softirq_seconds_total"), Some(0.7));
    assert_eq!(old.get("host.cpu.steal_seconds_total"), None);
    let nothing = values(|values| stat("", 100.0, values));
    assert_eq!(nothing, Values::default());
}

#[test]
fn memory_is_in_bytes() {
    let text = "MemTotal:        8147236 kB\nMemFree:          1 kB\nMemAvailable:    5000000 kB\nCached: 7 kB\nSwapCached: 9 kB\n\
                Dirty:               100 kB\nWriteback:             0 kB\nSwapTotal:       2000 kB\nSwapFree:        1500 kB\nHugePages_Total: 0\n";
    let seen = values(|values| meminfo(text, values));
    assert_eq!(seen.get("host.memory.available_bytes"), Some(5_120_000_000.0));
    assert_eq!(seen.get("host.memory.cached_bytes"), Some(7168.0));
    assert_eq!(seen.get("host.memory.dirty_bytes"), Some(102_400.0));
    assert_eq!(seen.get("host.memory.swap_used_bytes"), Some(512_000.0));
    // Available memory exists since Linux 3.14.
    let old = values(|values| meminfo("MemTotal: 10 kB\n", values));
    assert_eq!(
        (old.get("host.memory.total_bytes"), old.get("host.memory.available_bytes")),
        (Some(10_240.0), None)
    );
}

#[test]
fn diskstats_keep_names_with_slashes_and_skip_idle_devices() {
    let text = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 2448584 97126 123536570 3038815 8185551 1067062 362928256 1729026 3 549428 5008566 574495 91 363121480 69233 2885632 171491
 104       0 cciss/c0d0 100 0 800 10 200 0 1600 20 0 25 30
 254       1 vda1 5 40 6 48
 254       2 vda2 7 0 56 1 0 0 0 0 0 1 1
broken line
";
    let seen = values(|values| diskstats(text, |device| device != "vda2", values));
    assert_eq!(seen.get("host.disk.vda.read_bytes_total"), Some(123_536_570.0 * 512.0));
    assert_eq!(seen.get("host.disk.vda.busy_seconds_total"), Some(549.428));
    assert_eq!(seen.get("host.disk.vda.in_flight"), Some(3.0));
    assert_eq!(seen.get("host.disk.vda.flushes_total"), Some(2_885_632.0));
    assert_eq!(seen.get("host.disk.cciss/c0d0.written_bytes_total"), Some(819_200.0));
    assert_eq!(
        seen.get("host.disk.cciss/c0d0.flushes_total"),
        None,
        "eleven fields were all until Linux 4.18"
    );
    for absent in ["loop0", "vda1", "vda2"] {
        assert!(
            !seen.names().any(|name| name.contains(&format!(".{absent}."))),
            "{absent}: {seen:?}"
        );
    }
}

#[test]
fn interfaces_with_colons_and_dots_in_their_names_are_included() {
    let text = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:41827505850 198190510    0   29    0     0          0         0 41827505850 198190510    0    0    0     0       0          0
eth0.100: 750 31 1 2 0 0 0 0 213 23 3 4 0 0 0 0
eth0:1: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0
  ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
";
    let seen = values(|values| net_dev(text, values));
    assert_eq!(seen.get("host.net.lo.received_bytes_total"), Some(41_827_505_850.0));
    assert_eq!(seen.get("host.net.eth0_100.sent_errors_total"), Some(3.0));
    assert_eq!(seen.get("host.net.eth0_1.sent_packets_total"), Some(1.0));
    assert!(!seen.names().any(|name| name.contains("ifb0")));
}

#[test]
fn pressure_is_a_time() {
    let text = "some avg10=0.18 avg60=1.03 avg300=3.62 total=4273182305\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n";
    let seen = values(|values| pressure("io", text, values));
    assert_eq!(seen.get("host.pressure.io.some_seconds_total"), Some(4_273.182_305));
    assert_eq!(seen.get("host.pressure.io.full_seconds_total"), Some(0.5));
    // Before Linux 5.13 there was no line for all tasks waiting for a processor.
    let old = values(|values| {
        pressure("cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", values);
    });
    assert_eq!(old.names().count(), 1);
}

#[test]
fn keys_with_a_common_prefix_are_distinguished() {
    let text = "VmRSS:\t  10 kB\nRssAnon:\t 7 kB\nvoluntary_ctxt_switches:\t33\nnonvoluntary_ctxt_switches:\t4\n";
    assert_eq!(keyed(text, "voluntary_ctxt_switches"), Some(33.0));
    assert_eq!(keyed(text, "nonvoluntary_ctxt_switches"), Some(4.0));
    assert_eq!(keyed(text, "RssShmem"), None);
}
