//! Messages that only the HTML page and its charts show.

use super::message::messages;

messages! {
    // Around the page.
    /// Navigation, for screen readers.
    PAGE_CONTENTS [] "Contents";
    /// Section with the treatments one by one.
    PAGE_DETAILS [] "Treatment by treatment";
    /// Sentence under that heading.
    PAGE_DETAILS_NOTE [] "Open a treatment for its statements, its distribution of response times, its trials and their course.";
    /// Summary of a folded list of further conclusions.
    PAGE_MORE_CONCLUSIONS [number] "{number} more";
    /// Summary of the folded data of a chart.
    PAGE_DATA [] "Figures of this chart";
    /// Summary of a folded table.
    PAGE_ALL_ROWS [number] "All {number} rows";
    /// Section with the matrix of throughput and lost updates.
    PAGE_KEPT [] "Throughput, and how much of it was kept";
    /// Cell of that matrix.
    PAGE_KEPT_NOTHING_LOST [] "0 lost";
    /// Cell of that matrix: a share of acknowledged updates.
    PAGE_KEPT_LOST [percent] "{percent} lost";
    /// Cell of that matrix where nothing was audited.
    PAGE_KEPT_NOT_CHECKED [] "not checked";
    /// Under that matrix.
    PAGE_KEPT_NOTE [] "Above: committed transactions per second, mean over valid trials. Below: the share of acknowledged updates that are not in the data afterwards.";
    /// Chip beside the conclusion that updates were lost.
    PAGE_CHIP_LOST [] "data lost";
    /// Chip beside the conclusion that the run is incomplete.
    PAGE_CHIP_INCOMPLETE [] "incomplete";
    /// Chip beside the conclusion about a peak or a figure.
    PAGE_CHIP_FIGURE [] "figure";
    /// Chip beside a comparison or the sentence that there are no verdicts.
    PAGE_CHIP_NO_VERDICT [] "no verdict";
    /// Summary of a folded table of row counts that are all right.
    PAGE_ROW_COUNTS [number] "Rows were counted {number} times, and every table had the right number";
    /// The same when sums of columns were checked too.
    PAGE_ROWS_AND_SUMS [number] "Numbers of rows and sums of columns were checked {number} times, and all were as the committed transactions say";
    /// No doubt was found.
    PAGE_NO_FINDINGS [] "No doubt was found about any trial.";
    /// No comparison was made.
    PAGE_NO_COMPARISONS [] "There is nothing to compare: only one system with one level of every factor was measured.";
    /// No audit.
    PAGE_NO_AUDIT [] "The workload has no audit, or none was run; whether the data survived is not known.";

    // Charts.
    /// Axis.
    CHART_CLIENTS [] "clients";
    /// Axis.
    CHART_THROUGHPUT [] "transactions per second";
    /// Axis.
    CHART_THROUGHPUT_LOG [] "transactions per second (logarithmic)";
    /// Axis.
    CHART_TIME [] "response time";
    /// Axis.
    CHART_TIME_LOG [] "response time (logarithmic)";
    /// Axis.
    CHART_LOST [] "acknowledged updates lost";
    /// Axis.
    CHART_PERCENTILE [] "share of transactions that were at least as fast (each step to the right is a rarer, slower one)";
    /// Axis.
    CHART_SECONDS [] "seconds since the first client began";
    /// Axis of a small panel.
    CHART_PER_SECOND [] "tx/s";
    /// Axis of a small panel.
    CHART_CPU [] "CPU";
    /// Axis of a small panel.
    CHART_DISK [] "disk MB/s";
    /// Axis of a small panel.
    CHART_SESSIONS [] "sessions";
    /// Axis of a small panel.
    CHART_WAITING [] "waiting";
    /// Key: processor time in user mode.
    CHART_KEY_USER [] "user";
    /// Key: processor time in the kernel.
    CHART_KEY_SYSTEM [] "system";
    /// Key: idle while waiting for a device.
    CHART_KEY_IOWAIT [] "I/O wait";
    /// Key: taken by other guests.
    CHART_KEY_STEAL [] "steal";
    /// Key: of the processor time, the server's.
    CHART_KEY_SERVER [] "of it the server";
    /// Key: of the processor time, the generator's.
    CHART_KEY_GENERATOR [] "of it the generator";
    /// Key: bytes read.
    CHART_KEY_READ [] "read";
    /// Key: bytes written.
    CHART_KEY_WRITTEN [] "written";
    /// Key: sessions that wait.
    CHART_KEY_WAITING [] "waiting";
    /// Key: sessions that do not wait.
    CHART_KEY_WORKING [] "working";
    /// Key: share of time in which the disk had a request.
    CHART_KEY_BUSY [] "disk busy";
    /// Key: pressure stall information of processors.
    CHART_KEY_CPU_PRESSURE [] "some task waits for a processor";
    /// Key: pressure stall information of devices.
    CHART_KEY_IO_PRESSURE [] "some task waits for a device";
    /// Caption of a small panel.
    CHART_CAPTION_CPU [] "CPU: time of all processors of the generator's machine by mode, stacked; lines: the server's processes and the generator.";
    /// Caption of a small panel.
    CHART_CAPTION_DISK [] "Disk: the block device that was busy for the longest time.";
    /// Caption of a small panel.
    CHART_CAPTION_SESSIONS [] "Sessions: what the server said of its sessions, once a second; those that wait for their client are left out.";
    /// Caption of a small panel.
    CHART_CAPTION_WAITING [] "Waiting: share of the time in which the disk had a request, and in which some task waited (Linux pressure stall information).";
    /// Axis.
    CHART_RATIO [] "subject over baseline (logarithmic)";
    /// Below the left end of the axis of ratios of throughput.
    CHART_LESS [] "← less than the baseline";
    /// Below the right end.
    CHART_MORE [] "more than the baseline →";
    /// Title when no conclusion says more.
    CHART_TITLE_THROUGHPUT [] "Throughput over the number of clients";
    /// Title.
    CHART_TITLE_TIME [] "Response time over the number of clients";
    /// Title when no conclusion says more.
    CHART_TITLE_LOST [] "Lost updates over the number of clients";
    /// Title.
    CHART_TITLE_PERCENTILES [clients] "How slow the slowest transactions were with {clients}";
    /// Title of a panelled chart with a group of panels.
    CHART_TITLE_PERCENTILES_OF [group, clients] "How slow the slowest transactions were with {clients}: {group}";
    /// Title of a treatment's chart.
    CHART_TITLE_DISTRIBUTION [treatment] "Distribution of response times: {treatment}";
    /// Title of a treatment's chart.
    CHART_TITLE_TIMELINE [treatment] "Second by second: {treatment}";
    /// Title of the forest plot.
    CHART_TITLE_FOREST [metric, comparisons, better, worse, equivalent, inconclusive] "Of {comparisons} comparisons of {metric}: {better} better, {worse} worse, {equivalent} equivalent, {inconclusive} inconclusive";
    /// Title of the forest plot when verdicts are disabled.
    CHART_TITLE_FOREST_NO_VERDICT [metric, comparisons] "Ratios of {metric} in {comparisons} comparisons, without verdicts";
    /// Title of a part of the forest plot.
    CHART_TITLE_FOREST_PART [title, part, parts] "{title} (part {part} of {parts})";
    /// Heading in the forest plot: a system compared with another.
    CHART_AGAINST [subject, baseline] "{subject} against {baseline}";
    /// Caption: what points are.
    CHART_CAPTION_POINTS [repeats] "Lines join the means of {repeats} valid trials per point; bars are 95 % confidence intervals of the mean (Student's t), faint dots are single trials, crosses are trials that may not be used.";
    /// Caption: what points are when there are no intervals.
    CHART_CAPTION_SINGLE [] "One valid trial per point: there are no intervals, and differences may be chance. Crosses are trials that may not be used.";
    /// A span of numbers of trials.
    CHART_REPEATS_RANGE [min, max] "{min} to {max}";
    /// Caption: intervals that go on beyond the axis.
    CHART_CAPTION_WIDE [] "Bars without an end stroke go on beyond the axis.";
    /// Caption: lost updates.
    CHART_CAPTION_LOST [repeats] "Lines join the shares over all {repeats} trials of a point together; faint dots are single trials. An update counts as lost when its commit was acknowledged and it is not in the data.";
    /// Caption: response time.
    CHART_CAPTION_TIME [] "Percentiles here are means over trials of each trial's own percentile, so that they can have an interval.";
    /// Caption: published figures.
    CHART_CAPTION_PUBLISHED [sources] "Dotted lines with hollow markers are published figures ({sources}), measured on other machines: they show a shape, not a comparison.";
    /// Caption: published figures of another size.
    CHART_CAPTION_PUBLISHED_ASIDE [sources] "The panel with hollow markers shows published figures ({sources}) on an axis of its own: they were measured on other machines and show a shape, not a comparison.";
    /// Title of the panel with our figures beside the panel with published ones.
    CHART_MEASURED_PANEL [] "measured";
    /// Title of the panel with published figures.
    CHART_PUBLISHED_PANEL [] "published, own axis";
    /// Label of a published curve.
    CHART_PUBLISHED_LABEL [series] "{series}, published";
    /// Label of a published curve that was read off a chart.
    CHART_PUBLISHED_APPROXIMATE [series] "~ {series}, published";
    /// Caption under throughput when updates were lost.
    CHART_CAPTION_NOT_KEPT [lines] "Not all of this work was kept: updates were acknowledged and lost by {lines}.";
    /// Caption: percentile plot.
    CHART_CAPTION_PERCENTILES [] "Distribution: thick lines are all valid trials merged, thin ones each trial alone; they end where fewer than ten transactions were slower.";
    /// Caption: timeline.
    CHART_CAPTION_TIMELINE [] "Second by second: one column per trial on equal axes; above: committed transactions per second; below: median and 99th percentile of each second. Grey: warm-up, not measured; red: nothing was committed.";
    /// Caption: timeline whose seconds were put together.
    CHART_CAPTION_BINNED [] "Long trials are shown in steps of several seconds: mean throughput, the middle one of the medians and the highest of the 99th percentiles of each step.";
    /// Caption: forest plot.
    CHART_CAPTION_FOREST [margin] "Markers are ratios (geometric mean over blocks), bars their intervals, which allow for the number of comparisons as the verdicts do; the band is the margin of {margin} inside which a difference counts as none. Arrows: the interval goes on.";
    /// Name of a line.
    CHART_MEDIAN [] "median";
    /// Name of a line.
    CHART_P99 [] "99th percentile";
    /// Title of a panel.
    CHART_PANEL_MEAN [] "mean";
    /// Title of a panel.
    CHART_PANEL_P95 [] "95th percentile";
    /// Title of a panel.
    CHART_PANEL_P99 [] "99th percentile";
    /// Title of a panel, abbreviated.
    CHART_PANEL_P95_SHORT [] "p95";
    /// Title of a panel, abbreviated.
    CHART_PANEL_P99_SHORT [] "p99";
    /// Title of a panel: a group and a measure.
    CHART_PANEL_OF [group, measure] "{group}: {measure}";
    /// Title of a repeat in a timeline.
    CHART_BLOCK [block] "block {block}";
    /// Title of a repeat in a timeline that may not be used.
    CHART_BLOCK_INVALID [block] "block {block}, invalid";
    /// Description for readers who cannot see the chart.
    CHART_DESCRIPTION_CURVES [measure, lines] "Line chart of {measure} over the number of clients for {lines}. The figures stand in the table below the chart.";
    /// Description.
    CHART_DESCRIPTION_PERCENTILES [lines] "Response time over percentiles, both axes logarithmic, for {lines}. The percentiles stand in the tables of statements.";
    /// Description.
    CHART_DESCRIPTION_TIMELINE [trials] "Throughput and response time second by second in {trials} trials. The figures stand in timeline.csv of the results folder.";
    /// Description.
    CHART_DESCRIPTION_FOREST [comparisons] "Ratios with confidence intervals of {comparisons} comparisons. The figures stand in the table below the chart.";
    /// Tooltip of a point with interval.
    CHART_TIP [line, clients, value, low, high, repeats] "{line}, {clients}: {value} (95 % interval {low} to {high}, n = {repeats})";
    /// Tooltip of a point without interval.
    CHART_TIP_PLAIN [line, clients, value] "{line}, {clients}: {value}";

    // Provenance and load.
    /// Row.
    PAGE_RUN [] "run";
    /// Row.
    PAGE_BEGUN [] "began (UTC)";
    /// Row.
    PAGE_ENDED [] "ended (UTC)";
    /// Row.
    PAGE_VERSION [] "dyno";
    /// Row.
    PAGE_BUILD [] "build";
    /// Row.
    PAGE_PROFILE [] "profile";
    /// Row.
    PAGE_SEED [] "seed";
    /// Row.
    PAGE_BLOCKS [] "blocks";
    /// Row.
    PAGE_TRIALS [] "trials";
    /// Cell.
    PAGE_TRIALS_OF [planned, measured, valid] "{planned} planned, {measured} measured, {valid} valid";
    /// Row.
    PAGE_CPU [] "processor";
    /// Row.
    PAGE_PROCESSORS [] "logical processors";
    /// Cell: processors.
    PAGE_PROCESSORS_OF [logical, usable, cores] "{logical} ({cores} cores), {usable} usable";
    /// Row.
    PAGE_MEMORY [] "memory";
    /// Row.
    PAGE_OS [] "operating system";
    /// Row.
    PAGE_KERNEL [] "kernel";
    /// Row.
    PAGE_VIRTUALISATION [] "virtualisation";
    /// Row: settings of the kernel.
    PAGE_KERNEL_SETTINGS [] "kernel settings";
    /// Row: versions of proxies.
    PAGE_PROXIES [] "proxies";
    /// Column: how often a server was started, and how long it took.
    PAGE_STARTS [] "starts";
    /// Cell: how often a server was started, and how long it took.
    PAGE_STARTS_OF [number, mean, max] "{number}; {mean} s in the mean, {max} s at most";
    /// Cell: the same, and how long its data took to be copied.
    PAGE_STARTS_COPIED [number, mean, max, copied] "{number}; {mean} s in the mean, {max} s at most, and {copied} s to copy the data";
    /// Column.
    PAGE_KIND [] "kind";
    /// Column.
    PAGE_ORIGIN [] "where";
    /// Cell: dyno started the server.
    PAGE_MANAGED [] "started by dyno";
    /// Column.
    PAGE_QUERY_MODE [] "statements";
    /// Column.
    PAGE_ASKED [] "asked";
    /// Column.
    PAGE_READ_BACK [] "read back";
    /// Summary of a folded table.
    PAGE_SETTINGS_OF [system, number] "{system}: {number} settings as the server reported them";
    /// Sub-heading.
    PAGE_WORKLOAD [] "Workload and load";
    /// Row: stop rule.
    PAGE_STOP [] "stops";
    /// Cell.
    PAGE_STOP_TRANSACTIONS [transactions] "after {transactions} transactions of all clients together";
    /// Cell.
    PAGE_STOP_PER_CLIENT [transactions] "after {transactions} transactions of each client";
    /// Cell.
    PAGE_STOP_ROWS [rows] "when the table has {rows} rows";
    /// Cell.
    PAGE_STOP_DURATION [duration] "after {duration}";
    /// Row.
    PAGE_WARMUP [] "warm-up";
    /// Row.
    PAGE_RATE [] "arrivals";
    /// Value.
    PAGE_CLOSED_LOOP [] "closed loop";
    /// Name of a pair.
    PAGE_GRACE [] "grace at the end";
    /// Row.
    PAGE_TIME_LIMIT [] "time limit";
    /// Row.
    PAGE_ATTEMPTS [] "attempts per transaction at most";
    /// Row.
    PAGE_WORKERS [] "generator workers";
    /// Cell.
    PAGE_WORKERS_AUTOMATIC [] "chosen by dyno";

    // Method.
    /// Heading.
    PAGE_METHOD_SHOWN [] "What was done";
    /// Heading.
    PAGE_METHOD_NOT_SHOWN [] "What this does not show";
    /// Paragraph.
    PAGE_METHOD_BLOCKS [] "Every treatment (a system with one level of every factor and a number of clients) was measured once per block, in an order drawn at random for each block from the seed above. The unit of repetition is the trial, not the second or the request: intervals say how far trials of the same treatment scatter.";
    /// Paragraph.
    PAGE_METHOD_LOAD [] "Load is a closed loop: each client sends its next transaction when the last one is answered. Throughput counts acknowledged commits, each with the share of its time that lies in the measured window, after a warm-up that is left out. Response times run from the first attempt of a transaction to its acknowledged commit, retries included.";
    /// Paragraph.
    PAGE_METHOD_LOAD_OPEN [] "Where a rate is given, load is an open loop: transactions arrive at that rate as a Poisson process, whether or not the system keeps up; a free client takes the next one. Throughput counts acknowledged commits, each with the share of its time that lies in the measured window. Response times run from the moment a transaction was due to its acknowledged commit, waiting for a free client and retries included.";
    /// Paragraph.
    PAGE_METHOD_HISTOGRAMS [] "Response times are kept in histograms with an error below 0.1 %, per second and per kind of statement. They are merged by adding counts; percentiles are then read from the merged histogram. A percentile is shown only if at least ten values lie beyond it.";
    /// Paragraph.
    PAGE_METHOD_VERDICTS [margin, alpha] "Verdicts compare trials of the same block on a logarithmic scale. Better and worse need an interval of the ratio that excludes 1 after correction for the number of comparisons (Benjamini and Hochberg: on average at most {alpha} of such verdicts are false); equivalent needs the 90 % interval to lie inside a margin of {margin}. Everything else is inconclusive, which does not mean equal.";
    /// Paragraph.
    PAGE_METHOD_AUDIT [] "After each trial the data are compared with what the clients were told. A figure whose audit failed is shown with the failure beside it.";
    /// Paragraph.
    PAGE_METHOD_VALIDITY [] "The generator measures itself: processor use of every worker, time for which a worker stood still, and how late it wakes. Where it may have limited the load, the trial is marked, and beyond stated limits its figures are used in no mean.";
    /// Item.
    PAGE_LIMIT_MACHINE [] "Other machines, versions, settings, data sizes and network distances can reverse an order that is clear here.";
    /// Item.
    PAGE_LIMIT_CLOSED [] "A closed loop sends less when the system is slow. It shows capacity; it does not show how long requests would wait that arrive whether or not earlier ones were answered.";
    /// Item.
    PAGE_LIMIT_SHORT [] "Trials are short beside what happens over hours: checkpoints, vacuum, growing data and cooling are seen only as far as they fell into the windows.";
    /// Item.
    PAGE_LIMIT_SHARED [] "Generator and server shared the processors in at least one trial: throughput is then that of both together, and says more about order than about size.";
    /// Item.
    PAGE_LIMIT_AUDIT [] "An audit without complaint shows that this workload lost nothing in these trials, not that nothing can be lost. Durability across crashes was not tested.";
    /// Item.
    PAGE_LIMIT_BLOCKS [blocks] "{blocks} blocks on one machine on one day: scatter between days and machines is not in the intervals.";
}
