//! A drop-in (sysbench or pgbench) run with several numbers of clients, or repeated: one run after
//! another in randomised blocks, and one report of all of them.

use crate::cli::RESULTS;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use crate::run::print_report;
use dyno_model::curve::Curve;
use dyno_model::exit_code;
use dyno_model::spec::in_blocks;
use dyno_report::EN;
use std::path::Path;

/// Seed of the run order; the default of a spec.
const SEED: u64 = 1;

/// Runs all points and prints the report of the measured ones. `one` runs `program` with a number
/// of clients and writes the results below a folder; it returns the program's exit code. A failed
/// run or an interrupt by the user ends the series. Returns the exit code of the last run.
///
/// # Errors
/// When results cannot be written or read.
pub(crate) fn run<A>(
    program: &str,
    curve: &Curve<A>,
    mut one: impl FnMut(u32, &Path) -> u8,
    interrupts: &Interrupts,
    printer: Printer,
) -> Result<u8, Failure> {
    let root = curve.results.as_deref().unwrap_or(Path::new(RESULTS));
    let folder = dyno_store::new_folder(root, program)?;
    let order = in_blocks(curve.clients.len(), curve.blocks, SEED);
    let (mut code, mut done) = (exit_code::OK, 0);
    for (number, trial) in (1..).zip(&order) {
        let clients = curve.clients[trial.configuration];
        let (runs, block, blocks) = (order.len(), trial.block, curve.blocks);
        let clients_text =
            if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
        printer.note(&format!("run {number} of {runs}, block {block} of {blocks}: {clients_text}"));
        code = one(clients, &folder);
        if code != exit_code::OK || interrupts.is_requested() {
            printer.warning(&format!("ended in run {number} of {runs}"));
            break;
        }
        done += 1;
    }
    // A run that failed at once left no results.
    if done == 0 && std::fs::remove_dir(&folder).is_ok() {
        return Ok(code);
    }
    let model = dyno_analysis::read_model_of_all(std::slice::from_ref(&folder))
        .map_err(|error| Failure::from_error(exit_code::RESULTS_FAILED, &error))?;
    print_report(&model, &folder, EN, printer)?;
    Ok(code)
}
