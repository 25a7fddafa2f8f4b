//! Answers to the questions of an experiment, as sentences.

pub(crate) use super::languages::en::question::*;
use super::languages::{Lang, Message};
use super::{fill, names};
use crate::figures;
use dyno_analysis::model::{
    Effect, Interaction, InteractionWith, InterimAnalyses, Question, Range, ReportModel, RunEnd,
    Varied, Verdict,
};
use dyno_model::words::short_factor;

/// With more levels than this, a sentence gives their number instead of their names.
const LEVELS_NAMED: usize = 4;

/// If even this ratio was not detectable, an interval is not informative.
pub(super) const BLIND: f64 = 2.0;

/// Returns true when the answer quotes the interval of its effect.
pub(super) fn quotes_interval(effect: &Effect) -> bool {
    let is_blind = effect.detectable_ratio.unwrap_or(f64::INFINITY) > BLIND;
    effect.ratio_interval.is_some() && !(is_blind && effect.verdict == Some(Verdict::Inconclusive))
}

/// The wording of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Two named sides differ.
    Difference,
    /// A metric changed from one side to the other.
    Change,
}

/// An answer to a question about a metric.
pub(crate) struct Answer<'a> {
    pub(crate) metric: &'a str,
    pub(crate) form: Form,
    /// The subject of the comparison.
    pub(crate) subject: &'a str,
    /// The baseline of the comparison.
    pub(crate) baseline: &'a str,
    pub(crate) effect: &'a Effect,
    pub(crate) interactions: &'a [Interaction],
    /// The factors that it is averaged over, besides clients.
    pub(crate) varied: &'a [Varied],
    pub(crate) clients: &'a [u32],
    /// Names of factors.
    pub(crate) factors: &'a [String],
    /// Equivalence margin, as a share: smaller differences count as none.
    pub(crate) margin: f64,
}

/// The answer to a question of a report.
pub(crate) fn answer(model: &ReportModel, question: &Question, lang: Lang) -> Vec<String> {
    of_report(model, question, lang).sentences(lang)
}

fn of_report<'a>(model: &'a ReportModel, question: &'a Question, lang: Lang) -> Answer<'a> {
    Answer {
        metric: names::metric(question.metric, lang),
        form: Form::Difference,
        subject: &question.subject,
        baseline: &question.baseline,
        effect: &question.effect,
        interactions: &question.interactions,
        varied: &question.varied,
        clients: &question.clients,
        factors: &model.factors,
        margin: model.comparison_rules.margin,
    }
}

impl Answer<'_> {
    /// The answer as a sentence, followed by sentences about its interactions.
    pub(crate) fn sentences(&self, lang: Lang) -> Vec<String> {
        let margin = figures::limit(self.margin * 100.0);
        let mut sentences = vec![self.sentence(&margin, lang)];
        let differs = self.effect.verdict.is_some_and(Verdict::differs);
        if differs && !self.effect.exceeds_margin {
            sentences.push(fill!(PERHAPS_SMALL, lang, margin));
        }
        let depending = self.interactions.iter().filter(|it| it.depends);
        sentences.extend(depending.map(|it| self.dependence(it, lang)));
        sentences
    }

    fn sentence(&self, margin: &str, lang: Lang) -> String {
        let Self { subject, baseline, metric, effect, .. } = self;
        let Some((ratio, interval)) = effect.ratio.zip(effect.ratio_interval) else {
            let message = if effect.verdict == Some(Verdict::Invalid) { INVALID } else { TOO_FEW };
            return fill!(message, lang, subject, baseline, metric);
        };
        let scope = scope(self.varied, self.clients, self.factors, lang);
        let level = figures::level(effect.interval_level.unwrap_or(0.95));
        let detectable = effect.detectable_ratio.unwrap_or(f64::INFINITY);
        let [low, high] =
            [interval.low, interval.high].map(|ratio| figures::difference((ratio - 1.0) * 100.0));
        let by_form = |difference, change| match self.form {
            Form::Difference => difference,
            Form::Change => change,
        };
        let metric = match self.form {
            Form::Difference => (*metric).to_owned(),
            Form::Change => capitalised(metric),
        };
        match effect.verdict {
            Some(Verdict::Better | Verdict::Worse) => {
                let (difference, change, [value, low, high]) = size(ratio, interval);
                let message = by_form(difference, change);
                fill!(message, lang, subject, baseline, metric, scope, level, value, low, high)
            }
            Some(Verdict::Equivalent) => {
                let message = by_form(EQUIVALENT, UNCHANGED);
                fill!(message, lang, subject, baseline, metric, scope, level, low, high, margin)
            }
            _ if detectable > BLIND => {
                let message = by_form(INCONCLUSIVE_SCATTER, NO_CLEAR_CHANGE_SCATTER);
                fill!(message, lang, subject, baseline, metric = self.metric, scope)
            }
            _ => {
                let detectable = figures::share((detectable - 1.0) * 100.0);
                let message = by_form(INCONCLUSIVE, NO_CLEAR_CHANGE);
                let metric = self.metric;
                fill!(message, lang, subject, baseline, metric, scope, level, low, high, detectable)
            }
        }
    }

    /// How an effect depends on a factor.
    fn dependence(&self, interaction: &Interaction, lang: Lang) -> String {
        let ends = [&interaction.low, &interaction.high];
        // Two ratios of the same kind are easier to understand together.
        let is_times = |ratio: f64| ratio >= 2.0 || ratio >= 1.0 && interaction.high.ratio >= 2.0;
        let [low, high] = ends.map(|end| match is_times(end.ratio) {
            false => fill!(SHARE, lang, value = figures::share(end.ratio * 100.0)),
            true => fill!(TIMES, lang, value = figures::ratio(end.ratio)),
        });
        let message = match interaction.with {
            InteractionWith::Clients => DEPENDS_ON_CLIENTS,
            InteractionWith::System => DEPENDS_ON_SYSTEM,
            InteractionWith::Level { .. } => DEPENDS_ON_LEVEL,
        };
        let [low_level, high_level] = ends.map(|end| match (interaction.with, end.level.parse()) {
            (InteractionWith::Clients, Ok(number)) => names::clients(&[number], lang),
            _ => end.level.clone(),
        });
        let Self { subject, baseline, metric, factors, .. } = self;
        let with = depends_on(factors, interaction.with, lang);
        fill!(message, lang, subject, baseline, metric, low, low_level, high, high_level, with)
    }
}

/// The messages for a difference and for a change, its size, and the bounds of its interval: as a
/// percentage, or as a factor from a doubling on.
fn size(ratio: f64, interval: Range) -> (Message, Message, [String; 3]) {
    let Range { low, high } = interval;
    match ratio {
        ..1.0 => (LOWER, FELL, [ratio, high, low].map(figures::lower)),
        ..2.0 => (HIGHER, ROSE, [ratio, low, high].map(|it| figures::share((it - 1.0) * 100.0))),
        _ => (TIMES_AS_HIGH, ROSE_FOLD, [ratio, low, high].map(figures::ratio)),
    }
}

/// A name at the beginning of a sentence; `p99` stays as it is.
fn capitalised(name: &str) -> String {
    match name.split_at_checked(1) {
        Some((first, rest)) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => {
            first.to_ascii_uppercase() + rest
        }
        _ => name.to_owned(),
    }
}

/// The scope of an answer: `over 3 systems (MariaDB, MySQL and PostgreSQL) and 1 to 100 clients`,
/// `at 1 client`.
fn scope(varied: &[Varied], clients: &[u32], factors: &[String], lang: Lang) -> String {
    let part = |varied: &Varied| {
        let number = varied.levels.len();
        let names = (number <= LEVELS_NAMED).then(|| names::list(lang, &varied.levels));
        let message = match (varied.what, &names) {
            (InteractionWith::Clients, _) => return None,
            (InteractionWith::System, Some(_)) => SCOPE_SYSTEMS,
            (InteractionWith::System, None) => SCOPE_MANY_SYSTEMS,
            (InteractionWith::Level { .. }, Some(_)) => SCOPE_LEVELS,
            (InteractionWith::Level { .. }, None) => SCOPE_MANY_LEVELS,
        };
        let factor = depends_on(factors, varied.what, lang);
        Some(fill!(message, lang, number, factor, names = names.unwrap_or_default()))
    };
    let mut parts: Vec<String> = varied.iter().filter_map(part).collect();
    parts.push(match clients {
        [first, .., last] => {
            fill!(SCOPE_CLIENTS, lang, first, last)
        }
        few => names::clients(few, lang),
    });
    let message = if parts.len() == 1 && clients.len() == 1 { SCOPE_AT } else { SCOPE_OVER };
    fill!(message, lang, scope = names::list(lang, &parts))
}

/// How an adaptive run ended, whose number of blocks depends on its data.
pub(super) fn interim_analyses(
    model: &ReportModel,
    interim_analyses: &InterimAnalyses,
    lang: Lang,
) -> String {
    let message = match interim_analyses.end {
        RunEnd::Decided => ENDED_DECIDED,
        RunEnd::Hopeless => ENDED_HOPELESS,
        RunEnd::Budget => ENDED_BUDGET,
        RunEnd::Limit => ENDED_LIMIT,
        RunEnd::AllBlocks => ENDED_ALL_BLOCKS,
        RunEnd::Unfinished => NOT_ENDED,
    };
    let [blocks, most, interim_analyses] =
        [interim_analyses.blocks, interim_analyses.blocks_most, interim_analyses.interim_analyses]
            .map(|it| figures::count(u64::from(it)));
    let metric = names::metric(model.primary_metric, lang);
    fill!(message, lang, blocks, most, interim_analyses, metric)
}

/// Name of a factor that an effect depends on.
pub(crate) fn depends_on(factors: &[String], with: InteractionWith, lang: Lang) -> &str {
    match with {
        InteractionWith::Clients => WITH_CLIENTS.text(lang),
        InteractionWith::System => WITH_SYSTEM.text(lang),
        InteractionWith::Level { factor } => {
            factors.get(factor).map_or("", |name| short_factor(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::languages::{EN, LANGUAGES};
    use super::*;
    use dyno_model::plan::ComparisonMetric;
    use dyno_store::fixture::Shape;

    fn model() -> ReportModel {
        dyno_analysis::analyse(&Shape { has_failures: false, ..Shape::small() }.read())
    }

    fn answer_of(
        model: &ReportModel,
        metric: ComparisonMetric,
        verdict: Verdict,
        [ratio, low, high, visible]: [f64; 4],
    ) -> String {
        let mut question = model.questions[0].clone();
        question.metric = metric;
        question.effect = Effect {
            ratio: Some(ratio),
            ratio_interval: Some(Range { low, high }),
            interval_level: Some(0.95),
            detectable_ratio: Some(visible),
            verdict: Some(verdict),
            exceeds_margin: true,
            ..Effect::default()
        };
        question.interactions.clear();
        answer(model, &question, EN).join(" ")
    }

    #[test]
    fn a_manager_understands_the_answer() {
        let model = model();
        let rows = [
            (
                ComparisonMetric::Throughput,
                Verdict::Better,
                [1.23, 1.12, 1.35, 1.1],
                "MySQL has 23 % higher throughput than MariaDB over 1 to 20 clients (95 % interval: 12 to 35 %).",
            ),
            (
                ComparisonMetric::Throughput,
                Verdict::Worse,
                [0.79, 0.76, 0.83, 1.1],
                "MySQL has 21 % lower throughput than MariaDB over 1 to 20 clients (95 % interval: 17 to 24 %).",
            ),
            (
                ComparisonMetric::Throughput,
                Verdict::Worse,
                [0.051, 0.047, 0.056, 1.1],
                "MySQL has 94.9 % lower throughput than MariaDB over 1 to 20 clients (95 % interval: 94.4 to 95.3 %).",
            ),
            (
                ComparisonMetric::Throughput,
                Verdict::Better,
                [20.0, 15.0, 26.0, 1.1],
                "MySQL has 20.0 times the throughput of MariaDB over 1 to 20 clients (95 % interval: 15.0 to 26.0).",
            ),
            (
                ComparisonMetric::P95Ms,
                Verdict::Worse,
                [1.5, 1.2, 1.9, 1.1],
                "MySQL has 50 % higher p95 response time than MariaDB over 1 to 20 clients (95 % interval: 20 to 90 %).",
            ),
            (
                ComparisonMetric::Throughput,
                Verdict::Equivalent,
                [1.0, 0.98, 1.03, 1.1],
                "MySQL and MariaDB have equivalent throughput over 1 to 20 clients: the difference is less than 5 % (95 % interval: -2.0 % to +3.0 %).",
            ),
            (
                ComparisonMetric::Throughput,
                Verdict::Inconclusive,
                [1.1, 0.8, 1.4, 1.5],
                "Undecided whether MySQL and MariaDB differ in throughput over 1 to 20 clients: -20 % to +40 % (95 % interval). A difference of 50 % or more would probably have been detected.",
            ),
        ];
        for (metric, verdict, figures, expected) in rows {
            assert_eq!(answer_of(&model, metric, verdict, figures), expected);
        }
    }

    #[test]
    fn an_interval_that_says_nothing_is_not_shown() {
        let text = answer_of(
            &model(),
            ComparisonMetric::Throughput,
            Verdict::Inconclusive,
            [1.5, 0.001, 2_250.0, 256.0],
        );
        assert!(
            text.contains("even a doubling") && !text.contains("224") && !text.contains("255"),
            "{text}"
        );
    }

    #[test]
    fn an_answer_says_over_what_it_is_in_every_language() {
        let shape = Shape {
            variants: vec!["read-modify-write", "in-place"],
            clients: vec![4, 64],
            ..Shape::small()
        };
        let model = dyno_analysis::analyse(&shape.read());
        let of_variants =
            model.questions.iter().find(|it| it.subject == "in-place").expect("it is asked");
        let scope_of = |it: &Question| scope(&it.varied, &it.clients, &model.factors, EN);
        assert_eq!(scope_of(of_variants), "over 2 systems (MariaDB and MySQL) and 4 to 64 clients");
        assert_eq!(
            scope_of(&model.questions[0]),
            "over 2 levels of variant (read-modify-write and in-place) and 4 to 64 clients"
        );
        let alone = LANGUAGES.map(|lang| scope(&[], &[1], &[], lang));
        assert_eq!(alone, ["at 1 client", "1クライアント", "클라이언트 1개"]);
        for lang in LANGUAGES {
            let text = answer(&model, of_variants, lang).concat();
            assert!(
                ["MariaDB", "MySQL", "4", "64", "in-place"].iter().all(|it| text.contains(it)),
                "{text}"
            );
        }
    }
}
