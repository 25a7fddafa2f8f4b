//! Custom reports of a script.

use crate::running::{dry, state};
use dyno_lua::{ErrorKind, Report, ReportHooks};

#[test]
fn hooks_get_seconds_and_counts() {
    let environment = dry(
        "sysbench.hooks.report_intermediate = function(stat)
          same(stat.events, 10) same(stat.reads, 1) same(stat.queue_length, 4) same(stat.latency_max, nil) same(stat.time_interval, 0.5)
        end
        sysbench.hooks.report_cumulative = function(stat) same(stat.latency_max, 2.5) same(stat.concurrency, nil) error('boo') end",
    );
    let state = state(&environment).unwrap();
    assert_eq!(state.report_hooks(), ReportHooks { intermediate: true, cumulative: true });
    let stat = [("events", 10.0), ("reads", 1.0), ("queue_length", 4.0), ("time_interval", 0.5)];
    assert_eq!(state.report(Report::Intermediate, &stat), Ok(()));
    assert_eq!(
        state.report(Report::Cumulative, &[("latency_max", 2.5)]).unwrap_err().message,
        "test.lua:5: boo"
    );
}

#[test]
fn ready_made_reports_can_be_used_and_replaced() {
    let ready = state(&dry("sysbench.hooks.report_intermediate = sysbench.report_csv")).unwrap();
    assert_eq!(ready.report_hooks(), ReportHooks { intermediate: true, cumulative: false });
    let replaced = "local mine = function() end sysbench.report_json = mine assert(sysbench.report_default) same(sysbench.report_json, mine)";
    state(&dry(replaced)).unwrap();
    let none = state(&dry("")).unwrap();
    assert_eq!(none.report_hooks(), ReportHooks::default());
    let error = none.report(Report::Intermediate, &[]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::MissingFunction);
}

#[test]
fn reports_print_the_same_as_sysbench() {
    let environment = dry(
        "local out = {} print = function(s) out[#out + 1] = s .. '\\n' end io.write = function(s) out[#out + 1] = s end
        local stat = { time_total = 2, time_interval = 2, threads_running = 1, events = 20, reads = 4, writes = 2, other = 2, latency_pct = 0.0015, errors = 1, reconnects = 0 }
        sysbench.opt = { percentile = 95 }
        local function shown(report) out = {} report(stat) return table.concat(out) end
        same(shown(sysbench.report_default), '[ 2s ] thds: 1 tps: 10.00 qps: 4.00 (r/w/o: 2.00/1.00/1.00) lat (ms,95%): 1.50 err/s 0.50 reconn/s: 0.00\\n')
        same(shown(sysbench.report_csv), '2,1,10.00,4.00,2.00,1.00,1.00,1.50,0.50,0.00\\n')
        local json = shown(sysbench.report_json)
        same(json:match('\"time\":%s+2,\\n'), '\"time\":    2,\\n') assert(json:find('^%[\\n  {\\n')) assert(json:find('\"reconnects\": 0.00\\n  }$'))
        assert(shown(sysbench.report_json):find('^,\\n  {'))",
    );
    state(&environment).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn histograms_print_their_buckets() {
    let environment = dry("local out = {} print = function(s) out[#out + 1] = s end
        local h = sysbench.histogram.new(10, 1, 1000) h:print() same(#out, 0)
        h:update(0.1) h:update(5) h:update(99999) h:update(5) h:update(4) h:print()
        same(out[1], '       value  ------------- distribution ------------- count')
        same(out[2], '       1.000 |*************                            1')
        same(out[3], '       4.642 |**************************************** 3')
        same(out[4], '    1000.000 |*************                            1')
        fails('histogram.new', sysbench.histogram.new, 10, 0, 5)");
    state(&environment).unwrap_or_else(|error| panic!("{error}"));
}
