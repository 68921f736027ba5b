//! `dormouse log move`: lives between the log of the data folder and one on a cluster.

#[cfg(feature = "cluster")]
mod between;
#[cfg(feature = "cluster")]
mod copy;

use std::path::PathBuf;

use clap::Args;
use dormouse_contracts::AssistantId;
use dormouse_host::DataFolder;

use crate::{
    command::{CommandError, whole},
    exit::Exit,
};

/// What is moved, and where the cluster is.
#[derive(Debug, Args)]
pub(crate) struct MoveLives {
    /// The cluster that gets the lives, such as nats://10.0.0.1:4222; several servers with commas
    #[arg(
        long,
        value_name = "URLS",
        value_delimiter = ',',
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    to: Vec<String>,
    /// The cluster from which the data folder gets the lives
    #[arg(long, value_name = "URLS", value_delimiter = ',')]
    from: Vec<String>,
    /// Only this assistant; may be given several times [default: all]
    #[arg(long = "assistant", value_name = "KEY")]
    assistants: Vec<AssistantId>,
    /// How many servers have each event
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole::<usize>(1..=5))]
    replicas: usize,
    /// The name of the stream
    #[arg(long, value_name = "NAME", default_value = "DORMOUSE")]
    stream: String,
    /// A file with certificates of authorities, in addition to those of the system
    #[arg(long, value_name = "FILE")]
    authorities: Option<PathBuf>,
    /// Do not ask whether the servers acknowledge an event only when it is on disk; a power failure may then lose events
    #[arg(long)]
    acknowledged_before_sync: bool,
}

/// Moves lives.
#[cfg(feature = "cluster")]
pub(super) fn run(data: &DataFolder, asked: &MoveLives) -> Result<Exit, CommandError> {
    between::run(data, asked)
}

/// Says that this program cannot do it.
#[cfg(not(feature = "cluster"))]
pub(super) fn run(_: &DataFolder, asked: &MoveLives) -> Result<Exit, CommandError> {
    let MoveLives {
        to: _,
        from: _,
        assistants: _,
        replicas: _,
        stream: _,
        authorities: _,
        acknowledged_before_sync: _,
    } = asked;
    Err(NotBuilt.into())
}

/// A program without the feature was asked to move lives.
#[cfg(not(feature = "cluster"))]
#[derive(Debug, thiserror::Error)]
#[error(
    "this program was built without the feature `cluster`, which `dormouse log move` needs; build it again with --features cluster"
)]
struct NotBuilt;

#[cfg(not(feature = "cluster"))]
impl crate::command::CommandFailure for NotBuilt {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}
