//! Sentences of a comparison of two sides (`dyno compare`).

use super::message::{Lang, Message, messages};
use super::names::list;
use super::{finding, names};
use crate::figures;
use dyno_analysis::compare::model::{
    CompareDoubt, CompareModel, Condition, Difference, MetricPair, SideName, TreatmentPair,
};
use dyno_analysis::model::Verdict;

messages! {
    /// Heading of the whole.
    COMPARE_TITLE [title] "Comparison: {title}";
    /// Heading of the whole, when the sides are different experiments.
    COMPARE_TITLE_TWO [base, new] "Comparison: {new} against {base}";
    /// A side.
    BASE [] "base";
    /// A side.
    NEW [] "new";
    /// A figure that rests on fewer trials than are valid.
    FIGURE_OF [figure, base, new] "{figure} (n = {base} and {new})";
    /// One line about a side.
    SIDE [folder, runs, valid, measured, from, to] "{folder}: runs {runs}, valid trials {valid} of {measured}, {from} to {to} UTC.";
    /// One line about a side.
    SIDE_SYSTEMS [systems] "Systems: {systems}.";

    // Sections and columns.
    /// Section.
    COMPARE_DOUBTS [] "What makes the sides hard to compare";
    /// Section.
    COMPARE_RESULTS [] "Results";
    /// Section.
    ONLY_BASE [] "Only in base, not compared";
    /// Section.
    ONLY_NEW [] "Only in new, not compared";
    /// Column: what a figure is.
    FIGURE [] "figure";
    /// Column: p-value, corrected.
    NEEDED [] "trials needed";
    /// Column, and mark of a line: ratio and interval without assumptions about the distribution.
    BY_RANKS [] "by ranks";
    /// Column: a treatment.
    TREATMENT [] "treatment";
    /// Row: transactions given up.
    FAILED_TRANSACTIONS [] "failed";
    /// Row: transactions cut off at the end.
    UNFINISHED_TRANSACTIONS [] "cut off";
    /// Row: attempts after the first.
    RETRIES [] "retries";
    /// Row: acknowledged updates that are not in the data.
    LOST_UPDATES [] "lost updates";
    /// A treatment over its rows, with valid trials of base and new.
    TREATMENT_GROUP [treatment, base, new] "{treatment} (n = {base} and {new})";
    /// A treatment whose systems have different names.
    AGAINST [base, new] "{new} against {base}";
    /// A treatment: line and clients.
    TREATMENT_NAME [line, clients] "{line}, {clients}";
    /// Mark behind a verdict that is certain, but perhaps inside the margin.
    PERHAPS_SMALL [verdict] "{verdict} ~";
    /// An interval in a cell.
    FROM_TO [low, high] "{low} to {high}";

    // Doubts.
    /// A value that differs.
    DIFFERENCE [name, base, new] "{name} ({base} in base, {new} in new)";
    /// In the place of a value that a side does not have.
    NOTHING [] "nothing";
    /// Condition.
    MACHINE_DIFFERS [values] "The machines differ: {values}.";
    /// Condition.
    KERNEL_DIFFERS [values] "The kernels or distributions differ: {values}.";
    /// Condition.
    KERNEL_SETTINGS_DIFFER [values] "Settings of the kernel differ: {values}.";
    /// Condition.
    PROXIES_DIFFER [values] "The proxies differ: {values}.";
    /// Condition.
    DYNO_DIFFERS [values] "The sides were measured by different dynos: {values}.";
    /// Condition.
    SYSTEM_DIFFERS [system, values] "{system} is another kind of system, or spoken to in another way: {values}.";
    /// Condition.
    VERSION_DIFFERS [system, values] "The server's version differs, system {system}: {values}.";
    /// Condition.
    SETTINGS_DIFFER [system, number, values] "Settings read back differ ({number}), system {system}: {values}.";
    /// Condition.
    LOAD_DIFFERS [values] "Trials were loaded by different rules: {values}.";
    /// Condition.
    WORKLOAD_DIFFERS [values] "Only one side knows these options of the workload: {values}.";
    /// Condition.
    SCRIPTS_DIFFER [values] "The scripts differ: {values}.";
    /// Audit.
    COMPARE_AUDIT_VIOLATED [side, treatments] "The audit found the data of {side} violated, so there is no verdict about {treatments}.";
    /// Trials in which treatments did not work.
    COMPARE_NOT_WORKING [side, treatments] "Trials of {side} did not work: {treatments}. The other trials of these treatments may speak against {side}, but not for it.";
    /// One treatment: `MySQL, 8 clients, in 1 of 5 (the system died in mid-trial)`.
    NOT_WORKING_OF [treatment, trials, of, because] "{treatment}, in {trials} of {of} ({because})";
    /// Runs without a measured trial.
    COMPARE_NOTHING_MEASURED [side, runs] "Runs of {side} without a measured trial, which add nothing: {runs}. Take these folders away, or measure them with dyno run --resume.";
    /// Trials left out.
    COMPARE_INVALID [side, invalid, measured, because] "{invalid} of {measured} trials of {side} may not be used and are left out: {because}";
    /// Trials without figures.
    COMPARE_MISSING [side, missing, planned] "{missing} of {planned} trials of {side} have no figures.";
    /// Doubt about trials.
    COMPARE_TRIALS [base, base_measured, new, new_measured, about] "Of base {base} of {base_measured} trials, of new {new} of {new_measured}: {about}";
    /// Doubt about runs.
    COMPARE_RUNS [side, about] "Runs of {side}: {about}";
    /// Damage.
    COMPARE_UNREADABLE [side, places, what] "Not everything of {side} could be read (places: {places}): {what}.";
    /// Killed or going on.
    COMPARE_NOT_ENDED [side, runs] "Runs of {side} that have not written their end, because they were killed or are still going on: {runs}.";
    /// Two tests.
    RANKS_DISAGREE [comparisons] "Welch's test and the test by ranks do not agree whether there is a difference: {comparisons}. Single trials may be far from the others; look at each trial before relying on the verdict.";
    /// One comparison: `throughput of MySQL, 8 clients`.
    METRIC_OF [metric, treatment] "{metric} of {treatment}";
    /// Order.
    BASE_FIRST [gap] "The runs were not interleaved: new was measured {gap} after base. Whatever else changed in between is in the ratios, too.";
    /// Order.
    NEW_FIRST [gap] "The runs were not interleaved: base was measured {gap} after new. Whatever else changed in between is in the ratios, too.";
    /// Order.
    ALTERNATING [] "The runs of the two sides took turns or overlapped. Their trials are not paired all the same.";
    /// Settings.
    SETTINGS_UNKNOWN [system] "Settings of the server were not read back on both sides (system {system}), so a difference in them is not seen here.";
    /// Names.
    OTHER_NAME [base, new] "System {base} of base is compared with system {new} of new.";

    // Notes.
    /// Under the table.
    COMPARE_NOTE_METHOD [margin, alpha, family, level] "Figures are means over n valid trials, ± is half their 95 % interval. Ratio: new over base, of geometric means, with an interval of Welch's test on logarithms; the sides share no blocks, so trials are not paired. Better and worse hold after correction for {family} comparisons together (Benjamini and Hochberg): on average at most {alpha} of such verdicts are false. Intervals are widened likewise (Benjamini and Yekutieli), to {level}, so that better and worse leave out 1 and inconclusive does not. Equivalent: the 90 % interval, which then is shown, lies inside a margin of {margin}. Inconclusive: the data do not tell; this does not mean that there is no difference.";
    /// Under the table.
    COMPARE_NOTE_RANKS [] "By ranks: the same ratio without assumptions about the distribution, as the median of the ratios of every trial of new to every trial of base (Hodges and Lehmann), with the 95 % interval that belongs to the rank-sum test (Mann and Whitney), not corrected, from four trials on each side. It stands beside the verdict and does not change it.";
    /// Under the table.
    COMPARE_NOTE_MARK [margin] "~: the difference is certain, though perhaps smaller than {margin}.";
    /// Under the table.
    COMPARE_NOTE_FEW [min] "Nothing is decided about a treatment with fewer than {min} valid trials on a side: measure until each side has at least {min}.";
    /// Under the table.
    COMPARE_NOTE_NEEDED [margin, least, most] "Valid trials that each side needs to see a difference of {margin} four times in five, by the scatter so far: {least} to {most} for the inconclusive comparisons.";
    /// Under the table.
    COMPARE_NOTE_NEEDED_ONE [margin, needed] "Valid trials that each side needs to see a difference of {margin} four times in five, by the scatter so far: {needed} for the inconclusive comparisons.";
    /// Under the table.
    COMPARE_NOTE_TOO_MANY [margin] "Some comparisons scatter so much that more than 1,000 trials on each side would be needed to see a difference of {margin}.";

    // Forest plot.
    /// Axis.
    CHART_RATIO [] "new over base (logarithmic)";
    /// Axis.
    CHART_LESS [] "← less than base";
    /// Axis.
    CHART_MORE [] "more than base →";
    /// Caption.
    CHART_CAPTION [margin] "Markers are ratios, bars their intervals, which allow for the number of comparisons as the verdicts do; the band is the margin of {margin} inside which a difference counts as none. More is better for throughput, less for response times.";

    // Outcome.
    /// Last line.
    OUTCOME_WORSE [worse, comparisons, treatment, metric, ratio, better, equivalent, inconclusive, invalid] "Worse: new is worse than base in {worse} of {comparisons} comparisons, most in {metric} of {treatment} (ratio {ratio}); better {better}, equivalent {equivalent}, inconclusive {inconclusive}, invalid {invalid}.";
    /// Last line.
    OUTCOME_NOT_WORKING [comparisons, not_working, better, equivalent, inconclusive] "Did not work: new has no verdict in {not_working} of {comparisons} comparisons, because it did not work in some of its trials; better {better}, equivalent {equivalent}, inconclusive {inconclusive}.";
    /// Last line.
    OUTCOME_INVALID [comparisons, better, equivalent, inconclusive, invalid] "Invalid: nothing is known to be worse, but {invalid} of {comparisons} comparisons cannot be judged; better {better}, equivalent {equivalent}, inconclusive {inconclusive}.";
    /// Last line.
    OUTCOME_INCONCLUSIVE [comparisons, better, equivalent, inconclusive] "Inconclusive: nothing is known to be worse, but {inconclusive} of {comparisons} comparisons are not decided; better {better}, equivalent {equivalent}.";
    /// Last line.
    OUTCOME_BETTER [comparisons, better, equivalent] "Better: new is better than base in {better} of {comparisons} comparisons and equivalent in {equivalent}.";
    /// Last line.
    OUTCOME_EQUIVALENT [comparisons, margin] "Equivalent: new and base differ by less than {margin} in all comparisons ({comparisons}).";
}

/// Name of a side.
#[must_use]
pub fn side(side: SideName, lang: Lang) -> &'static str {
    match side {
        SideName::Base => BASE.text(lang),
        SideName::New => NEW.text(lang),
    }
}

/// A treatment in words: `MySQL (for-update), 20 clients`.
#[must_use]
pub fn treatment(line: &str, clients: u32, lang: Lang) -> String {
    TREATMENT_NAME.fill(lang, &[("line", line), ("clients", &names::clients(&[clients], lang))])
}

/// A treatment of both sides in words.
#[must_use]
pub fn pair(pair: &TreatmentPair, lang: Lang) -> String {
    let line = match &pair.system_new {
        None => pair.name.label.clone(),
        Some(new) => AGAINST.fill(lang, &[("base", &pair.name.label), ("new", new)]),
    };
    treatment(&line, pair.name.clients, lang)
}

/// A doubt as a whole sentence.
#[must_use]
pub fn doubt(doubt: &CompareDoubt, lang: Lang) -> String {
    let say = |message: &Message, values: &[(&str, &str)]| message.fill(lang, values);
    let number = |number: &u32| figures::count(u64::from(*number));
    let of = |name: &SideName| ("side", side(*name, lang));
    match doubt {
        CompareDoubt::Differs { condition, system, values } => differs(*condition, system, values, lang),
        CompareDoubt::AuditViolated { side, treatments } => {
            let names = treatments.iter().map(|name| treatment(&name.label, name.clients, lang));
            let names: Vec<String> = names.collect();
            say(&COMPARE_AUDIT_VIOLATED, &[of(side), ("treatments", &list(lang, &names))])
        }
        CompareDoubt::DidNotWork { side, treatments } => {
            let each = treatments.iter().map(|(name, not_working)| {
                let values = [
                    ("treatment", treatment(&name.label, name.clients, lang)),
                    ("trials", not_working.trials.to_string()),
                    ("of", not_working.of.to_string()),
                    ("because", names::because(not_working.because, lang).to_owned()),
                ];
                NOT_WORKING_OF.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
            });
            let each: Vec<String> = each.collect();
            say(&COMPARE_NOT_WORKING, &[of(side), ("treatments", &each.join("; "))])
        }
        CompareDoubt::NothingMeasured { side, runs } => {
            say(&COMPARE_NOTHING_MEASURED, &[of(side), ("runs", &list(lang, runs))])
        }
        CompareDoubt::InvalidTrials { side, invalid, measured, because } => say(
            &COMPARE_INVALID,
            &[
                of(side),
                ("invalid", &number(invalid)),
                ("measured", &number(measured)),
                ("because", &finding::sentence(because, lang)),
            ],
        ),
        CompareDoubt::MissingTrials { side, missing, planned } => {
            say(&COMPARE_MISSING, &[of(side), ("missing", &number(missing)), ("planned", &number(planned))])
        }
        CompareDoubt::Runs { side, about } => {
            say(&COMPARE_RUNS, &[of(side), ("about", &finding::sentence(about, lang))])
        }
        CompareDoubt::Trials { base, base_measured, new, new_measured, about } => say(
            &COMPARE_TRIALS,
            &[
                ("base", &number(base)),
                ("base_measured", &number(base_measured)),
                ("new", &number(new)),
                ("new_measured", &number(new_measured)),
                ("about", &finding::sentence(about, lang)),
            ],
        ),
        CompareDoubt::Unreadable { side, what, places } => {
            say(&COMPARE_UNREADABLE, &[of(side), ("places", &number(places)), ("what", &what.join("; "))])
        }
        CompareDoubt::NotEnded { side, runs } => {
            say(&COMPARE_NOT_ENDED, &[of(side), ("runs", &list(lang, runs))])
        }
        CompareDoubt::RanksDisagree { comparisons } => {
            let names = comparisons.iter().map(|(name, metric)| {
                let treatment = treatment(&name.label, name.clients, lang);
                let metric = names::metric(*metric, lang);
                METRIC_OF.fill(lang, &[("metric", metric), ("treatment", &treatment)])
            });
            say(&RANKS_DISAGREE, &[("comparisons", &list(lang, &names.collect::<Vec<_>>()))])
        }
        CompareDoubt::OneAfterTheOther { first: SideName::Base, gap_s } => {
            say(&BASE_FIRST, &[("gap", &figures::span(*gap_s))])
        }
        CompareDoubt::OneAfterTheOther { first: SideName::New, gap_s } => {
            say(&NEW_FIRST, &[("gap", &figures::span(*gap_s))])
        }
        CompareDoubt::Alternating => say(&ALTERNATING, &[]),
        CompareDoubt::SettingsUnknown { system } => say(&SETTINGS_UNKNOWN, &[("system", system)]),
        CompareDoubt::OtherName { base, new } => say(&OTHER_NAME, &[("base", base), ("new", new)]),
    }
}

fn differs(condition: Condition, system: &str, values: &[Difference], lang: Lang) -> String {
    let shown = |value: &str| if value.is_empty() { NOTHING.text(lang).to_owned() } else { value.to_owned() };
    let each: Vec<String> = values
        .iter()
        .map(|value| {
            let (base, new) = (shown(&value.base), shown(&value.new));
            DIFFERENCE.fill(lang, &[("name", &value.name), ("base", &base), ("new", &new)])
        })
        .collect();
    let values = list(lang, &each);
    let all = ("values", values.as_str());
    match condition {
        Condition::Machine => MACHINE_DIFFERS.fill(lang, &[all]),
        Condition::Kernel => KERNEL_DIFFERS.fill(lang, &[all]),
        Condition::KernelSettings => KERNEL_SETTINGS_DIFFER.fill(lang, &[all]),
        Condition::Proxies => PROXIES_DIFFER.fill(lang, &[all]),
        Condition::Dyno => DYNO_DIFFERS.fill(lang, &[all]),
        Condition::System => SYSTEM_DIFFERS.fill(lang, &[("system", system), all]),
        Condition::ServerVersion => VERSION_DIFFERS.fill(lang, &[("system", system), all]),
        Condition::Settings => {
            SETTINGS_DIFFER.fill(lang, &[("system", system), ("number", &each.len().to_string()), all])
        }
        Condition::Load => LOAD_DIFFERS.fill(lang, &[all]),
        Condition::Workload => WORKLOAD_DIFFERS.fill(lang, &[all]),
        Condition::Scripts => SCRIPTS_DIFFER.fill(lang, &[all]),
    }
}

/// What follows from all verdicts, in one sentence.
#[must_use]
pub fn outcome(model: &CompareModel, lang: Lang) -> String {
    let number = |verdict: Verdict| model.outcome.count(verdict).to_string();
    let (better, worse, equivalent, inconclusive, invalid) = (
        number(Verdict::Better),
        number(Verdict::Worse),
        number(Verdict::Equivalent),
        number(Verdict::Inconclusive),
        number(Verdict::Invalid),
    );
    let comparisons = model.outcome.comparisons.to_string();
    let all = [
        ("comparisons", comparisons.as_str()),
        ("better", &better),
        ("equivalent", &equivalent),
        ("inconclusive", &inconclusive),
        ("invalid", &invalid),
    ];
    match model.outcome.verdict {
        Verdict::Worse => {
            let (treatment, metric, ratio) = worst(model).map_or_else(Default::default, |(of, worst)| {
                let ratio = figures::bounded_ratio(worst.ratio.unwrap_or(1.0), worst.bound);
                (pair(of, lang), names::metric(worst.metric, lang), ratio)
            });
            let which = [("treatment", treatment.as_str()), ("metric", metric), ("ratio", &ratio)];
            let values: Vec<_> = all.into_iter().chain([("worse", worse.as_str())]).chain(which).collect();
            OUTCOME_WORSE.fill(lang, &values)
        }
        Verdict::Invalid if model.outcome.not_working > 0 => {
            let number = model.outcome.not_working.to_string();
            let values: Vec<_> = all[..4].iter().copied().chain([("not_working", number.as_str())]).collect();
            OUTCOME_NOT_WORKING.fill(lang, &values)
        }
        Verdict::Invalid => OUTCOME_INVALID.fill(lang, &all),
        Verdict::Inconclusive => OUTCOME_INCONCLUSIVE.fill(lang, &all[..4]),
        Verdict::Better => OUTCOME_BETTER.fill(lang, &all[..3]),
        Verdict::Equivalent => {
            let margin = figures::limit(model.rules.margin * 100.0);
            OUTCOME_EQUIVALENT.fill(lang, &[("comparisons", &comparisons), ("margin", &margin)])
        }
    }
}

/// The comparison that is worse by the largest factor.
fn worst(model: &CompareModel) -> Option<(&TreatmentPair, &MetricPair)> {
    let factor = |metric: &MetricPair| metric.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    let worse = model.comparisons().filter(|(_, metric)| metric.verdict == Verdict::Worse);
    worse.max_by(|(_, one), (_, other)| factor(one).total_cmp(&factor(other)))
}
