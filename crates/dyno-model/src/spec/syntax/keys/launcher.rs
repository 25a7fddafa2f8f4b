//! Keys of `[launcher]`.

use super::section::{Section, ValueType, key, typed_key};

/// What starts the load generators.
pub static LAUNCHER: Section = Section {
    heading: "[launcher]",
    prefix: "launcher.",
    about: "What starts load generators when `load.generators` is given (docs/distributed.md). \
            Each is a process `dyno generator` that connects to this one over TLS; passwords \
            travel over that connection only.",
    keys: &[
        key("kind", "`local`, `command`, `ssh`, `slurm`, `mpi` or `kubernetes`", "`local`").help(
            "`local`: processes on this machine; `command`: `command`; `ssh`: one process after \
             the other on each of `hosts`, with a tunnel back; `slurm`: `srun`; `mpi`: `mpirun` of \
             Open MPI; `kubernetes`: an Indexed Job in the cluster in which dyno runs, started by \
             `dyno launch kubernetes`",
        ),
        key("command", "shell command", "required for `command`").help(
            "starts one generator and ends with it; `{generator}` stands for the command line of \
             the generator, `{rank}` for its number, from 0. It passes the environment on",
        ),
        key("hosts", "list of strings", "required for `ssh`").help(
            "hosts as ssh takes them, such as `user@load1`; generators are dealt out to them",
        ),
        key(
            "address",
            "address of this machine, perhaps with a port",
            "`127.0.0.1`; for `kubernetes` that of the pod",
        )
        .help(
            "where generators connect to; all of them must be able to reach it. Not for `ssh`, \
             which brings its own tunnel",
        ),
        key("program", "path", "this program; `dyno` for `ssh`")
            .help("path of dyno on the machines of the generators; the same version as here"),
        typed_key("cpus", ValueType::Integer(0..=1_000), "1").help(
            "for `kubernetes`: processors that each generator requests and is limited to; 0: it \
             shares those of its node",
        ),
        key("memory", "quantity of Kubernetes", "`1Gi`")
            .help("for `kubernetes`: memory that each generator requests and is limited to"),
        key("anti_affinity", "label selector, such as `app=postgres`", "none").help(
            "for `kubernetes`: generators run on no node that has a pod with these labels, which \
             are those of the database",
        ),
    ],
};
