//! Kubernetes: generators as an Indexed Job, and the coordinator in a pod of the cluster
//! (docs/distributed.md).
//!
//! # Layout (read in this order)
//! * `api_server`: requests of a pod to the cluster that it runs in;
//! * `pods`: what is wrong with pods, in words; `pod_template`: parts of pods that both Jobs have;
//! * `generator_job`: creates the Job of the generators and follows it: the hidden command
//!   `dyno kubernetes-job`, which is the launcher's process;
//! * `coordinator_job`: the objects of a run in the cluster; `kubectl`: calls of that program;
//!   `launch`: `dyno launch kubernetes`;
//! * `volume`: the results folder in the pod, and its way out of it: `dyno volume`.

mod api_server;
mod coordinator_job;
pub(crate) mod generator_job;
mod kubectl;
pub(crate) mod launch;
mod pod_template;
mod pods;
pub(crate) mod volume;

pub(crate) use api_server::{is_in_cluster, own_address};
