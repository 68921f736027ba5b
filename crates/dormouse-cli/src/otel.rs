//! `dormouse otel`: what assistants did, as spans for a collector of OpenTelemetry.

#[cfg(feature = "otel")]
mod spans;

use clap::{Args, Subcommand};
use dormouse_contracts::{AssistantId, Timestamp};

#[cfg(feature = "otel")]
pub(crate) use spans::{FollowingError, follow};

use crate::{
    command::{CommandError, CommandFailure, Places, moment},
    exit::Exit,
};

/// Spans for a collector.
#[derive(Debug, Subcommand)]
pub(crate) enum Otel {
    /// Make spans from the log, also for times long ago, and send them to a collector. This needs a program built with the
    /// feature `otel`
    Export(ExportSpans),
}

/// What is sent, and where.
#[derive(Debug, Args)]
pub(crate) struct ExportSpans {
    /// Only ticks and calls that began at this time or later: a time with its time zone, such as 2026-11-28T00:00:00Z [default: all]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Timestamp>,
    /// Only those of this assistant; may be given several times [default: all]
    #[arg(long = "assistant", value_name = "KEY")]
    assistants: Vec<AssistantId>,
    /// The collector, such as http://127.0.0.1:4318 [default: telemetry.endpoint]
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Also send the replies of the model, and the arguments and results of tools
    #[arg(long)]
    content: bool,
}

/// A program without the feature was asked for spans.
#[cfg_attr(
    feature = "otel",
    expect(dead_code, reason = "this program has the feature")
)]
#[derive(Debug, thiserror::Error)]
#[error(
    "this program was built without the feature `otel`, which {for_what} needs; build it again with --features otel"
)]
pub(crate) struct NotBuilt {
    pub(crate) for_what: &'static str,
}

impl CommandFailure for NotBuilt {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Exports spans.
#[cfg(feature = "otel")]
pub(crate) fn run(places: &Places, command: &Otel) -> Result<Exit, CommandError> {
    let Otel::Export(export) = command;
    spans::export(places, export)
}

/// Says that this program cannot do it.
#[cfg(not(feature = "otel"))]
pub(crate) fn run(_: &Places, command: &Otel) -> Result<Exit, CommandError> {
    let Otel::Export(ExportSpans {
        since: _,
        assistants: _,
        to: _,
        content: _,
    }) = command;
    let for_what = "`dormouse otel export`";
    Err(NotBuilt { for_what }.into())
}
