//! Keys of `[launcher]`.

use super::section::{Section, key};

/// What starts the load generators.
pub static LAUNCHER: Section = Section {
    heading: "[launcher]",
    prefix: "launcher.",
    about: "What starts load generators when `load.generators` is given (docs/distributed.md). \
            Each is a process `dyno generator` that connects to this one over TLS; passwords \
            travel over that connection only.",
    keys: &[
        key("kind", "`local`, `command`, `ssh`, `slurm` or `mpi`", "`local`").help(
            "`local`: processes on this machine; `command`: `command`; `ssh`: one process after \
             the other on each of `hosts`, with a tunnel back; `slurm`: `srun`; `mpi`: `mpirun` of \
             Open MPI",
        ),
        key("command", "shell command", "required for `command`").help(
            "starts one generator and ends with it; `{generator}` stands for the command line of \
             the generator, `{rank}` for its number, from 0. It passes the environment on",
        ),
        key("hosts", "list of texts", "required for `ssh`").help(
            "hosts as ssh takes them, such as `user@load1`; generators are dealt out to them",
        ),
        key("address", "address of this machine, perhaps with a port", "`127.0.0.1`").help(
            "where generators connect to; all of them must be able to reach it. Not for `ssh`, \
             which brings its own tunnel",
        ),
        key("program", "path", "this program; `dyno` for `ssh`")
            .help("path of dyno on the machines of the generators; the same version as here"),
    ],
};
