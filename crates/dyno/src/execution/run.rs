//! `dyno run`: one experiment from plan to report.

use crate::campaign;
use crate::cli::{RESULTS, RunArguments};
use crate::diagnosis::EventLog;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::original_settings::Originals;
use crate::preflight;
use crate::printer::Printer;
use crate::spec_file::Experiment;
use crate::systems::Systems;
use crate::trials::{self, Tally};
use crate::ui::Display;
use crate::ui::page_server::PageServer;
use dyno_analysis::model::{LimitVerdict, ReportModel};
use dyno_host::pooler::{self, Pooler};
use dyno_host::{existing, network_path};
use dyno_live::server::{Handler, LiveRunHandler};
use dyno_model::event::{Event, Listener, Listeners};
use dyno_model::exit_code;
use dyno_model::plan::{Plan, SystemSource, Via};
use dyno_model::preflight::Weight;
use dyno_model::target::Endpoint;
use dyno_report::{Format, Lang, Note, PreflightWords};
use dyno_store::environment::Environment;
use dyno_store::{Run, RunWriter, StoreError};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Runs an experiment: preflight, all trials in order, report.
///
/// # Errors
/// When the experiment cannot run, or its results cannot be written. Failed trials are not an
/// error: they are marked, and the exit code reports them.
pub(crate) fn run(
    arguments: &RunArguments,
    experiment: &Experiment,
    printer: Printer,
) -> Result<u8, Failure> {
    let plan = &experiment.plan;
    let note_text = |note: &Note<'_>| dyno_report::note(note, arguments.language.lang);
    let interrupts = Interrupts::listen()?;
    let (done, originals) = earlier_part(arguments)?;
    check(plan, arguments, &interrupts, printer)?;
    let server = arguments.serve.map(PageServer::new).transpose()?;
    let mut writer = match &arguments.resume {
        Some(folder) => RunWriter::resume(folder)?,
        None => create_results(arguments, experiment)?,
    };
    let folder = writer.folder().to_owned();
    let command = campaign::resume_command(arguments, plan, &folder);
    interrupts.print_at_once(printer, note_text(&Note::Aborted { command: &command }));
    if arguments.resume.is_some() {
        let (done, trials) = (done.len(), plan.trials.len());
        printer.note(&note_text(&Note::Resumed {
            folder: &folder.display().to_string(),
            done,
            trials,
        }));
    }
    let logs = Some(folder.join("server-logs"));
    let mut systems = Systems::new(plan, arguments.yes_write_to.as_deref(), logs, originals);
    let mut display = Display::new(plan, &done, &interrupts, printer, arguments.language.lang);
    let site = LiveRunHandler::new(display.live().clone(), arguments.language.lang, folder.clone());
    let site = Arc::new(site);
    if let Some(server) = server {
        display.served_at(&server.serve(Arc::clone(&site) as Arc<dyn Handler>)?);
    }
    let mut push =
        arguments.otlp.clone().map(|collector| display.push_to(collector)).transpose()?;
    // If the folder cannot be read, the run continues with the blocks of its budget.
    let interim_analysis = |block| match dyno_analysis::interim_analysis(&folder, block) {
        Ok(interim_analysis) => Some(interim_analysis),
        Err(error) => {
            printer.warning(&note_text(&Note::NotLooked { block, error: &error.to_string() }));
            None
        }
    };
    let mut log = EventLog;
    let mut shown = Listeners(vec![&mut display, &mut log]);
    shown.0.extend(push.as_mut().map(|it| it as &mut dyn Listener));
    let outcome = trials::run(
        plan,
        &done,
        &interim_analysis,
        &mut systems,
        &mut writer,
        &mut shown,
        &interrupts,
    );
    // Results are written before they are shown.
    let mut listeners = Listeners(vec![&mut writer, &mut shown]);
    systems.tear_down(&mut listeners);
    listeners.event(&Event::RunFinished {
        is_complete: outcome.is_complete(),
        is_interrupted: interrupts.is_requested(),
    });
    drop(push);
    drop(display);
    let written = writer.flush();
    // A report of the stored results is useful even if writing failed early.
    let shown = show_report(&folder, arguments, printer);
    let resumable = |error: StoreError| {
        Failure::from(error).help(format!("remove the cause, then continue: {command}"))
    };
    written.map_err(resumable)?;
    if let Ok(model) = &shown {
        writer.limits(model.limit_summaries());
    }
    writer.finish().map_err(resumable)?;
    let shown = shown?;
    if arguments.serve.is_some() {
        site.finish(dyno_report::render(&shown, Format::Html, arguments.language.lang));
    }
    let is_cut = interrupts.is_requested() || !outcome.cut.is_empty();
    if is_cut && !outcome.is_complete() {
        let (measured, trials) = (outcome.measured_trials, outcome.planned);
        let cut = &outcome.cut;
        printer.warning(&note_text(&Note::Unfinished { measured, trials, cut, command: &command }));
    }
    let has_valid = outcome.has_commits && shown.completeness.valid > 0;
    if outcome.measured_trials > 0 && !outcome.has_commits {
        printer.warning(&note_text(&Note::NothingCommitted));
    } else if outcome.is_complete() && !has_valid && outcome.unmet + outcome.undecided == 0 {
        printer.warning(&note_text(&Note::NothingValid));
    }
    Ok(exit_code(&outcome, has_valid, shown.limits_verdict(), interrupts.is_requested()))
}

/// The trials that the interrupted run has measured, and settings that it changed and did not
/// restore.
fn earlier_part(arguments: &RunArguments) -> Result<(BTreeSet<String>, Originals), Failure> {
    let Some(folder) = &arguments.resume else {
        return Ok((BTreeSet::new(), Originals::default()));
    };
    let run = Run::open(folder)?;
    Ok((run.done(), Originals::new(run.changed_settings)))
}

/// Preflight: shows notes and warnings, and refuses an experiment that cannot run.
fn check(
    plan: &Plan,
    arguments: &RunArguments,
    interrupts: &Interrupts,
    printer: Printer,
) -> Result<(), Failure> {
    let warnings = preflight::check(
        plan,
        arguments.yes_write_to.as_deref(),
        arguments.out.as_deref().or(arguments.resume.as_deref()),
    );
    let lang = arguments.language.lang;
    if interrupts.is_requested() {
        return Err(Failure::new(
            exit_code::INTERRUPTED,
            dyno_report::note(&Note::StoppedBefore, lang),
        ));
    }
    let (fatal, others): (Vec<PreflightWords>, Vec<_>) = warnings
        .iter()
        .map(|warning| dyno_report::preflight(warning, lang))
        .partition(|warning| warning.weight == Weight::Fatal);
    for warning in others {
        printer.warning(&warning.sentence(lang));
    }
    let failure = |warning: &PreflightWords| {
        let failure = Failure::new(exit_code::PREFLIGHT_FAILED, warning.problem(lang));
        match &warning.remedy {
            Some(remedy) => failure.help(remedy.clone()),
            None => failure,
        }
    };
    let Some((last, earlier)) = fatal.split_last() else { return Ok(()) };
    earlier.iter().for_each(|warning| printer.failure(&failure(warning)));
    Err(failure(last))
}

/// The pooler in front of one of the systems at another address of it.
fn pooler_at(plan: &Plan, address: &Endpoint) -> Option<Pooler> {
    plan.systems.iter().find_map(|system| {
        let SystemSource::Existing(source) = &system.source else { return None };
        let target = existing::target(source, system.query_mode, system.connect_timeout.into());
        pooler::at(&target.ok()?.at(address.clone())).ok()?
    })
}

fn create_results(arguments: &RunArguments, experiment: &Experiment) -> Result<RunWriter, Failure> {
    let mut environment = Environment::capture();
    for endpoint in &experiment.plan.endpoints {
        if let Ok(Some((name, version))) = network_path::locate(&endpoint.via) {
            environment.proxies.insert(name.to_owned(), version);
        }
        if let Via::Address(address) = &endpoint.via
            && let Some(pooler) = pooler_at(&experiment.plan, address)
        {
            environment.proxies.insert(address.to_string(), pooler.shown());
        }
    }
    Ok(match &arguments.out {
        Some(folder) => {
            RunWriter::create_at(folder, &experiment.plan, &experiment.text, &environment)?
        }
        None => {
            RunWriter::create(Path::new(RESULTS), &experiment.plan, &experiment.text, &environment)?
        }
    })
}

/// Writes the report into the results folder and prints its table and conclusions.
fn show_report(
    folder: &Path,
    arguments: &RunArguments,
    printer: Printer,
) -> Result<ReportModel, Failure> {
    let model = dyno_analysis::read_model(folder)?;
    if arguments.json {
        write_report(&model, folder, arguments.language.lang)?;
        printer.result(&dyno_report::render(&model, Format::Json, arguments.language.lang))?;
    } else if printer.is_quiet() {
        write_report(&model, folder, arguments.language.lang)?;
    } else {
        print_report(&model, folder, arguments.language.lang, printer)?;
    }
    Ok(model)
}

/// Writes the report as a page, prints its short form, and names the file.
pub(crate) fn print_report(
    model: &ReportModel,
    folder: &Path,
    lang: Lang,
    printer: Printer,
) -> Result<(), Failure> {
    let written = write_report(model, folder, lang)?;
    printer.result(&dyno_report::render(model, Format::Text, lang))?;
    printer.result(&format!("\n{}", dyno_report::note(&Note::Report { paths: &written }, lang)))
}

/// Writes the report as a page; returns the path.
fn write_report(model: &ReportModel, folder: &Path, lang: Lang) -> Result<Vec<String>, Failure> {
    let written = dyno_report::write(model, folder, &[Format::Html], lang)?;
    Ok(written.iter().map(|path| path.display().to_string()).collect())
}

fn exit_code(
    outcome: &Tally,
    has_valid: bool,
    limits: Option<LimitVerdict>,
    is_interrupted: bool,
) -> u8 {
    if is_interrupted {
        exit_code::INTERRUPTED
    } else if outcome.measured_trials == 0 && outcome.cut.is_empty() && outcome.system_failures > 0
    {
        exit_code::SERVER_FAILED
    } else if limits == Some(LimitVerdict::Failed) || outcome.unmet > 0 {
        exit_code::WORSE
    } else if !outcome.is_complete() || !(has_valid || outcome.undecided > 0) {
        exit_code::RUN_INCOMPLETE
    } else if limits == Some(LimitVerdict::Undecided) || outcome.undecided > 0 {
        exit_code::UNDECIDED
    } else {
        exit_code::OK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::search::SearchEnd;

    #[test]
    fn the_exit_code_tells_the_worst_of_what_happened() {
        let done = Tally { measured_trials: 3, planned: 3, has_commits: true, ..Tally::default() };
        let short =
            || Tally { measured_trials: 2, planned: 3, has_commits: true, ..Tally::default() };
        let dead = || Tally { planned: 3, system_failures: 1, ..Tally::default() };
        let (held, open, broken) =
            (Some(LimitVerdict::Passed), Some(LimitVerdict::Undecided), Some(LimitVerdict::Failed));
        let unmet = Tally { unmet: 3, planned: 3, ..Tally::default() };
        let undecided = Tally {
            measured_trials: 1,
            undecided: 2,
            planned: 3,
            has_commits: true,
            ..Tally::default()
        };
        let after = |end: SearchEnd| {
            let mut tally = Tally { planned: 1, ..Tally::default() };
            tally.without_load(&end);
            tally
        };
        let few = after(SearchEnd::TooFew { load: 1.0, transactions: 18, needed: 1_000 });
        let (unsteady, late) = (after(SearchEnd::Unsteady), after(SearchEnd::Generator));
        let everywhere = after(SearchEnd::FailsEverywhere { slow: None, failing: None });
        let none = Tally { undecided: 3, planned: 3, ..Tally::default() };
        let early = Tally { undecided: 1, planned: 3, ..Tally::default() };
        let rows = [
            (&unmet, false, None, exit_code::WORSE),
            (&undecided, true, None, exit_code::UNDECIDED),
            (&none, false, None, exit_code::UNDECIDED),
            (&few, false, None, exit_code::UNDECIDED),
            (&unsteady, false, None, exit_code::UNDECIDED),
            (&late, false, None, exit_code::UNDECIDED),
            (&everywhere, false, None, exit_code::WORSE),
            (&early, false, None, exit_code::RUN_INCOMPLETE),
            (&done, true, None, exit_code::OK),
            (&done, true, held, exit_code::OK),
            (&done, true, open, exit_code::UNDECIDED),
            (&done, true, broken, exit_code::WORSE),
            (&done, false, None, exit_code::RUN_INCOMPLETE),
            (&done, false, open, exit_code::RUN_INCOMPLETE),
            (&short(), true, open, exit_code::RUN_INCOMPLETE),
            (&short(), true, broken, exit_code::WORSE),
            (&dead(), false, broken, exit_code::SERVER_FAILED),
        ];
        for (tally, has_valid, limits, code) in rows {
            assert_eq!(
                exit_code(tally, has_valid, limits, false),
                code,
                "{tally:?} {has_valid} {limits:?}"
            );
        }
        assert_eq!(exit_code(&done, true, broken, true), exit_code::INTERRUPTED);
    }
}
