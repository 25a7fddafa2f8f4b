//! Injects the faults of a trial at their times, on a separate thread during the measurement, and
//! repairs the system afterwards.

use crate::system::ReadySystem;
use dyno_engine::random::{Random, Stream, trial_seed};
use dyno_engine::{NodeState, RepairedNodes};
use dyno_host::hooks::environment;
use dyno_host::network_path::FaultProxy;
use dyno_host::server::{FaultNode, Repair};
use dyno_host::shell::{self, Remaining};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::event::Listener;
use dyno_model::fault::{FaultAction, FaultPlan, FaultRecord};
use dyno_model::plan::{Plan, Trial};
use dyno_model::units::Nanos;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time limit of a user's command.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);
/// Time limit for a restarted server to answer; it may have much to recover.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct Faults {
    nodes: Arc<Vec<FaultNode>>,
    /// Fault proxies, by the node that each leads to.
    fault_proxies: Arc<Vec<(String, Arc<FaultProxy>)>>,
    /// Receives the time at which the clients start; once it is dropped, no more faults are
    /// injected.
    clock: Cell<Option<Sender<Instant>>>,
    thread: Cell<Option<JoinHandle<Vec<FaultRecord>>>>,
}

/// Sends the start time of the clients to the thread.
pub(crate) struct Clock<'a>(&'a Faults);

impl Listener for Clock<'_> {
    fn clients_begin(&mut self, from_now: Nanos) {
        let clock = self.0.clock.take();
        if let Some(clock) = &clock {
            let _ = clock.send(Instant::now() + Duration::from(from_now));
        }
        self.0.clock.set(clock);
    }
}

impl Faults {
    /// The faults of a trial; `None` when the plan has none for its system.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(crate) fn of(
        plan: &Plan,
        trial: &Trial,
        ready: &ReadySystem,
    ) -> Result<Option<Self>, String> {
        let configuration = plan.configuration(trial);
        let planned: Vec<FaultPlan> = plan.faults_of(configuration.system).cloned().collect();
        if planned.is_empty() {
            return Ok(None);
        }
        let nodes = Arc::new(ready.fault_nodes());
        let fault_proxies = Arc::new(ready.fault_proxies(plan.endpoint(configuration)));
        for fault in planned.iter().filter(|fault| fault.action == FaultAction::FillDisk) {
            node(&nodes, fault)?.check_disk().map_err(|error| error.to_string())?;
        }
        let share = Random::new(trial_seed(plan.seed, &trial.id), Stream::Fault, 0, 0).unit();
        let maker = FaultInjector {
            planned,
            share,
            warmup: configuration.load.warmup,
            environment: environment(&plan.system(trial).name, &configuration.variation.settings),
            nodes: Arc::clone(&nodes),
            fault_proxies: Arc::clone(&fault_proxies),
        };
        let (clock, epoch) = channel();
        let thread = std::thread::Builder::new()
            .name("faults".to_owned())
            .spawn(move || maker.inject_all(&epoch));
        let thread =
            thread.map_err(|error| format!("cannot start the thread for faults: {error}"))?;
        Ok(Some(Self {
            nodes,
            fault_proxies,
            clock: Cell::new(Some(clock)),
            thread: Cell::new(Some(thread)),
        }))
    }

    /// The listener that has to receive the trial's events.
    pub(crate) fn clock(&self) -> Clock<'_> {
        Clock(self)
    }

    /// Stops injecting faults, resumes paused servers, and makes at least one node answer again if
    /// possible.
    pub(crate) fn repair(&self) -> RepairedNodes {
        drop(self.clock.take());
        let faults =
            self.thread.take().map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
        // The last fault may have cut a network path in the meantime.
        for (_, fault_proxy) in &*self.fault_proxies {
            fault_proxy.reopen();
        }
        RepairedNodes { faults, nodes: self.states().map_err(|error| error.to_string()) }
    }

    fn states(&self) -> Result<Vec<NodeState>, dyno_host::HostError> {
        if self.nodes.is_empty() {
            // Only the user's command changed the node.
            return Ok(vec![NodeState::Up]);
        }
        let of_clients = || self.nodes.iter().filter(|node| node.is_of_clients());
        for node in self.nodes.iter().filter(|node| !node.is_of_clients()) {
            node.repair(Repair::Resume, ANSWER_LIMIT)?;
        }
        let states: Result<Vec<NodeState>, _> =
            of_clients().map(|node| repaired(node, Repair::Resume)).collect();
        let mut states = states?;
        if let (Some(first), true) =
            (of_clients().next(), states.iter().all(|state| *state == NodeState::Down))
        {
            states[0] = repaired(first, Repair::Restart)?;
        }
        Ok(states)
    }
}

fn repaired(node: &FaultNode, repair: Repair) -> Result<NodeState, dyno_host::HostError> {
    Ok(match (node.repair(repair, ANSWER_LIMIT)?, node.ended_at()) {
        (false, _) => NodeState::Down,
        (true, None) => NodeState::Up,
        (true, Some(since)) => NodeState::Restarted(since),
    })
}

/// State of the thread.
struct FaultInjector {
    planned: Vec<FaultPlan>,
    /// Delay of the faults, as a share of the maximum in the plan.
    share: f64,
    warmup: Nanos,
    environment: Vec<(String, String)>,
    nodes: Arc<Vec<FaultNode>>,
    fault_proxies: Arc<Vec<(String, Arc<FaultProxy>)>>,
}

/// The node that a fault applies to.
fn node<'n>(nodes: &'n [FaultNode], fault: &FaultPlan) -> Result<&'n FaultNode, String> {
    let node = nodes.iter().find(|node| node.name == fault.node);
    node.ok_or_else(|| format!("there is no {}", fault.node))
}

impl FaultInjector {
    /// Waits for the clients to start, then for the time of each fault.
    fn inject_all(&self, clock: &Receiver<Instant>) -> Vec<FaultRecord> {
        let Ok(epoch) = clock.recv() else { return Vec::new() };
        let opens = epoch + Duration::from(self.warmup);
        let mut made = Vec::new();
        for fault in &self.planned {
            let due = opens + Duration::from(fault.moment(self.share));
            let wait = clock.recv_timeout(due.saturating_duration_since(Instant::now()));
            let is_measured = matches!(wait, Err(RecvTimeoutError::Timeout));
            let at = Nanos::from(Instant::now().saturating_duration_since(opens));
            let failed = if is_measured {
                self.make(fault).err()
            } else {
                Some("the measurement had already ended".to_owned())
            };
            made.push(FaultRecord {
                action: fault.action,
                node: fault.object().to_owned(),
                at,
                failed,
            });
        }
        made
    }

    fn make(&self, fault: &FaultPlan) -> Result<(), String> {
        let node = || node(&self.nodes, fault);
        let fault_proxy = || {
            let fault_proxy = self.fault_proxies.iter().find(|(name, _)| *name == fault.node);
            fault_proxy
                .map(|(_, fault_proxy)| fault_proxy)
                .ok_or_else(|| format!("no network path to {} can be cut", fault.node))
        };
        let made = match fault.action {
            FaultAction::Kill => node()?.kill(),
            FaultAction::Stop => node()?.halt(),
            FaultAction::Continue => node()?.resume(),
            FaultAction::Start => node()?.start(),
            FaultAction::Restart => node()?.restart(),
            FaultAction::Promote => node()?.promote(),
            FaultAction::Disconnect => {
                fault_proxy()?.shut();
                Ok(())
            }
            FaultAction::Reconnect => {
                fault_proxy()?.reopen();
                Ok(())
            }
            FaultAction::FillDisk => node()?.fill_disk(),
            FaultAction::FreeDisk => node()?.free_disk(),
            FaultAction::Run => {
                let command = fault.command.as_deref().unwrap_or_default();
                shell::run(
                    "the command",
                    command,
                    self.environment.clone(),
                    COMMAND_LIMIT,
                    Remaining::End,
                    &SupervisorCommand::this_program(),
                )
            }
        };
        made.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::{Endpoint, Engine, Target};

    #[test]
    fn a_fault_whose_time_did_not_come_is_reported() {
        let fault = FaultPlan {
            system: 0,
            at: Nanos::from(Duration::from_secs(3_600)),
            within: Nanos(0),
            action: FaultAction::Run,
            node: String::new(),
            command: Some("true".to_owned()),
        };
        let (clock, epoch) = channel();
        clock.send(Instant::now()).unwrap();
        drop(clock);
        let maker = FaultInjector {
            planned: vec![fault.clone(), fault],
            share: 0.0,
            warmup: Nanos(0),
            environment: Vec::new(),
            nodes: Arc::new(Vec::new()),
            fault_proxies: Arc::new(Vec::new()),
        };
        let made = maker.inject_all(&epoch);
        let failed: Vec<_> = made.iter().map(|fault| fault.failed.as_deref()).collect();
        assert_eq!(failed, [Some("the measurement had already ended"); 2]);
    }

    #[test]
    fn a_proxy_shut_at_the_last_moment_is_reopened_by_repair() {
        let server = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = server.local_addr().unwrap();
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        let fault_proxy = Arc::new(FaultProxy::to(&Target::new(Engine::Mysql, endpoint)).unwrap());
        let (clock, epoch) = channel();
        let cut = Arc::clone(&fault_proxy);
        // The fault is due at the moment when the clients end.
        let thread = std::thread::spawn(move || {
            assert!(epoch.recv().is_err());
            cut.shut();
            Vec::new()
        });
        let faults = Faults {
            nodes: Arc::default(),
            fault_proxies: Arc::new(vec![("server".to_owned(), Arc::clone(&fault_proxy))]),
            clock: Cell::new(Some(clock)),
            thread: Cell::new(Some(thread)),
        };
        assert_eq!(faults.repair().nodes, Ok(vec![NodeState::Up]));
        assert!(!fault_proxy.reopen(), "it was shut");
    }
}
