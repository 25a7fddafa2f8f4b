//! Names with values, about the run and the machine, shared by the HTML page and the test report.

use crate::figures;
use crate::messages::{Lang, Message, fill, names, page};
use dyno_analysis::model::ReportModel;
use std::collections::BTreeMap;

/// A name and its value; facts with an empty value are omitted.
pub(crate) type Fact = (&'static Message, String);

/// Date, number of trials and tools of the measurement.
pub(crate) fn run(model: &ReportModel, lang: Lang) -> Vec<Fact> {
    let (provenance, completeness) = (&model.provenance, &model.completeness);
    let (planned, measured, valid) =
        (completeness.planned, completeness.measured, completeness.valid);
    let trials = fill!(page::PAGE_TRIALS_OF, lang, planned, measured, valid);
    let time = |at: &String| match at.is_empty() {
        true => String::new(),
        false => names::to_the_second(at),
    };
    vec![
        (&page::PAGE_RUN, format!("{} / {}", provenance.experiment, provenance.run)),
        (&page::PAGE_BEGUN, time(&provenance.started_at)),
        (&page::PAGE_ENDED, time(&provenance.ended_at)),
        (&page::PAGE_VERSION, provenance.dyno_version.clone()),
        (&page::PAGE_BUILD, provenance.environment.build_profile.clone()),
        (&page::PAGE_PROFILE, provenance.profile.clone().unwrap_or_default()),
        (&page::PAGE_SEED, provenance.seed.to_string()),
        (&page::PAGE_BLOCKS, provenance.blocks.to_string()),
        (&page::PAGE_TRIALS, trials),
    ]
}

pub(crate) fn machine(model: &ReportModel, lang: Lang) -> Vec<Fact> {
    let environment = &model.provenance.environment;
    let (logical, cores) = (environment.cpu_logical, environment.cpu_cores);
    let processors =
        fill!(page::PAGE_PROCESSORS_OF, lang, logical, cores, usable = environment.cpu_usable);
    let cpu = format!("{} {}", environment.cpu_model, environment.architecture);
    let listed = |values: &BTreeMap<String, String>| {
        values
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect::<Vec<_>>()
            .join(lang.comma)
    };
    vec![
        (&page::PAGE_CPU, cpu.trim().to_owned()),
        (&page::PAGE_PROCESSORS, processors),
        (&page::PAGE_MEMORY, figures::megabytes(environment.memory_bytes)),
        (&page::PAGE_OS, environment.os_release.clone()),
        (&page::PAGE_KERNEL, environment.kernel.clone()),
        (&page::PAGE_VIRTUALISATION, names::virtualisation(&environment.virtualisation, lang)),
        (&page::PAGE_KERNEL_SETTINGS, listed(&environment.kernel_settings)),
        (&page::PAGE_PROXIES, listed(&environment.proxies)),
    ]
}
