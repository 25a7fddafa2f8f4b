//! Every form of a report in every language shows the anomalies of histories, and separates those
//! that a level allows from those that it forbids.

use super::*;
use crate::messages::{LANGUAGES, headings};
use dyno_model::audit::AuditVerdict;
use dyno_model::history::anomalies::{Anomaly, Found, Involved};
use dyno_model::isolation::IsolationLevel;
use dyno_store::fixture::each_record;

/// Four lost updates in each trial of all configurations but the last; the level of the first
/// forbids them, that of the second is unknown.
fn mixed() -> ReportModel {
    let mut data = tiny().read();
    let last = data.run.plan.configurations.len() - 1;
    each_record(&mut data.run, |_, record| {
        let configuration = record.trial.configuration;
        let involved = |client, value| Involved {
            client,
            sequence: 8,
            operations: format!("r[1]=3 w[1]={value}"),
        };
        let count = if configuration == last { 0 } else { 4 };
        let found = Anomaly::ALL.map(|anomaly| {
            let count = if anomaly == Anomaly::LostUpdate { count } else { 0 };
            let example =
                if count > 0 { vec![involved(5, 51), involved(7, 71)] } else { Vec::new() };
            Found { anomaly, count, example }
        });
        let level = match configuration {
            0 => Some(IsolationLevel::RepeatableRead),
            1 => None,
            _ => Some(IsolationLevel::ReadCommitted),
        };
        let outside = if configuration == 0 { 100 } else { 0 };
        let found = found.to_vec();
        record.audit.checks = vec![AuditCheck::Anomalies {
            level,
            committed: 1_000,
            failed: 3,
            in_doubt: 0,
            outside,
            found,
        }];
    });
    analyse(&data)
}

#[test]
fn a_report_says_what_a_level_forbids_and_what_it_allows() {
    let model = mixed();
    let verdicts: Vec<_> = model.audits.iter().map(|audit| audit.verdict).collect();
    assert_eq!(
        verdicts[..3],
        [AuditVerdict::Violated, AuditVerdict::Undecided, AuditVerdict::Intact]
    );
    let blocks = u64::from(model.provenance.blocks);
    let (four, thousand) = (4 * blocks, blocks);
    let text = render(&model, Format::Text, EN);
    let flat = text.replace("\n  ", " ");
    for sentence in [
        format!(
            "violated REPEATABLE READ: lost updates ({four}) in {thousand},000 committed transactions."
        ),
        format!(
            "showed anomalies that READ COMMITTED permits: lost updates ({four}) in {thousand},000 committed"
        ),
        "so it is unknown whether these anomalies are permitted".to_owned(),
        format!(
            "No anomalies were found in 1 configuration ({thousand},000 committed transactions)."
        ),
    ] {
        assert!(flat.contains(&sentence), "{sentence}: {text}");
    }
    let markdown = render(&model, Format::Markdown, EN);
    let example =
        "lost updates: client 5, transaction 8: r\\[1\\]=3 w\\[1\\]=51; client 7, transaction 8:";
    assert!(markdown.contains(example), "{markdown}");
    let full = format!(
        "the history was full before {blocks}00 of {blocks},{blocks}00 committed transactions"
    );
    assert!(markdown.contains(&full) && flat.contains(&full), "{markdown}\n{text}");
    assert!(crate::html::test_report(&model, EN).contains(headings::ANOMALIES.text(EN)));
    let json = render(&model, Format::Json, EN);
    assert!(json.contains("\"is_forbidden\": true") && json.contains("r[1]=3 w[1]=71"), "{json}");
}

#[test]
fn every_language_and_form_has_the_part_on_isolation() {
    let model = mixed();
    let lost = (4 * model.provenance.blocks).to_string();
    for lang in LANGUAGES {
        let heading = headings::ANOMALIES.text(lang);
        let verdict = crate::words::audit(AuditVerdict::Violated).message.text(lang);
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let report = render(&model, format, lang);
            assert!(report.contains(heading), "{}: {report}", lang.code);
            let (_, part) = report.rsplit_once(heading).expect("just found");
            let rows: Vec<&str> = match format {
                Format::Html => {
                    part.split("</table>").next().unwrap_or_default().split("<tr").collect()
                }
                // Without the conclusions.
                _ => part.lines().filter(|line| !line.starts_with(['*', '-'])).collect(),
            };
            // The note about the table names levels, too.
            let level = "REPEATABLE READ";
            // In text form the wide table is split in two, and both parts contain the level.
            let wanted: &[&[&str]] = match format {
                Format::Text => &[&[level, verdict], &[level, &lost]],
                _ => &[&[level, verdict, &lost]],
            };
            for cells in wanted {
                let is_row = |row: &&&str| cells.iter().all(|cell| row.contains(cell));
                assert_eq!(
                    rows.iter().filter(is_row).count(),
                    1,
                    "{}: {cells:?} in {report}",
                    lang.code
                );
            }
        }
    }
    let none = render(tiny_model(), Format::Html, EN);
    assert!(
        !none.contains(headings::ANOMALIES.text(EN)),
        "without histories there is no such part"
    );
}
