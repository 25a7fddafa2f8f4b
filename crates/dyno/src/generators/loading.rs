//! Data that is loaded by the generators of a fleet.

use super::fleet::Fleet;
use super::generator_handle::GeneratorEvent;
use super::message::{CoordinatorMessage, LoadingOrder};
use super::trial::DistributedTrial;
use crate::workload_set::GroupData;
use dyno_engine::GeneratorReport;
use dyno_engine::loading::{
    Loaders, Loading, LoadingError, LoadingReport, RowRange, load_data_distributed, loaders_of_each,
};
use dyno_model::event::Listener;
use dyno_model::reason::Reason;
use std::time::Duration;

impl DistributedTrial<'_> {
    /// Loads a data set ([`load_data_distributed`]).
    ///
    /// # Errors
    /// As [`load_data_distributed`].
    pub(crate) fn load_data(
        self,
        loading: &Loading<'_>,
        data: &GroupData,
        listener: &mut dyn Listener,
    ) -> Result<u64, LoadingError> {
        let Self { fleet, plan, configuration } = self;
        let generators = configuration.load.generators_for(configuration.clients);
        let order = LoadingOrder {
            name: loading.trial.to_owned(),
            target: loading.target.into(),
            source: data.source(plan, configuration),
            ranges: Vec::new(),
            loaders: loaders_of_each(configuration.clients, generators as usize),
        };
        load_data_distributed(
            loading,
            &FleetLoaders { fleet, generators: generators as usize, order },
            listener,
        )
    }
}

/// The generators of a fleet that load, and what they have in common.
struct FleetLoaders<'a> {
    fleet: &'a Fleet,
    /// The first so many.
    generators: usize,
    order: LoadingOrder,
}

impl Loaders for FleetLoaders<'_> {
    fn generators(&self) -> usize {
        self.generators
    }

    fn assign(&self, ranges: Vec<Vec<RowRange>>) {
        for (member, ranges) in self.fleet.members.iter().zip(ranges) {
            member.order(CoordinatorMessage::Load(Box::new(LoadingOrder {
                ranges,
                ..self.order.clone()
            })));
        }
    }

    fn next(&self, wait: Duration) -> Result<Option<(usize, LoadingReport)>, Reason> {
        Ok(match self.fleet.next(0, wait)? {
            Some((from, GeneratorEvent::Report(report))) if from < self.generators => match *report
            {
                GeneratorReport::Loading(report) => Some((from, report)),
                _ => None,
            },
            _ => None,
        })
    }

    fn failure_of(&self, generator: usize, reason: Reason) -> Reason {
        let name = self.fleet.members[generator].summary().name();
        Reason::GeneratorFailed { name, reason: Box::new(reason) }
    }
}
