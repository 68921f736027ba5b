//! `dormouse log`: looking into the event log. Only `salvage` creates a file.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dormouse_contracts::Seq;

use crate::{
    command::{CommandError, JsonFlag, Places, Whose, open_log_view, whole},
    exit::Exit,
};

mod decide;
mod difference;
mod moving;
mod replay;
mod salvage;
mod show;
mod verify;

use salvage::NewLog;

/// Which events are printed, and how.
#[derive(Debug, Args)]
pub(crate) struct PrintedEvents {
    #[command(flatten)]
    of: Whose,
    /// The first event to print
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1..=u64::MAX))]
    from: u64,
    /// The last event to print [default: the last in the log]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::MAX))]
    to: Option<u64>,
    /// Only the number, the time and the kind of each event
    #[arg(long, conflicts_with = "json")]
    kinds: bool,
    #[command(flatten)]
    json: JsonFlag,
}

/// Looking into the log.
#[derive(Debug, Subcommand)]
pub(crate) enum Log {
    /// Print events, one per line
    Show(PrintedEvents),
    /// Read every event and compare it with its checksum
    Verify {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Replay the log from its first event, and print the hash of the resulting state
    Replay {
        #[command(flatten)]
        of: Whose,
        /// The last event to replay; 0 for the state before the first [default: the last in the log]
        #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
        at: Option<u64>,
        /// Make every decision again, and name the first that differs from the log; prints no state
        #[arg(long)]
        decide: bool,
        /// Print the state as well, which may take thousands of lines; --json prints it always
        #[arg(long, conflicts_with = "decide")]
        state: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Copy the readable events of a damaged log into a new file
    Salvage {
        /// The new file; an existing file is never overwritten
        #[arg(long, value_name = "FILE")]
        into: PathBuf,
        /// The damaged file [default: log.redb in the data folder]
        #[arg(value_name = "LOG")]
        from: Option<PathBuf>,
        /// Replace the log of the data folder by the new file, keep the damaged one, and rebuild memories that are
        /// newer than the new log
        #[arg(long, conflicts_with = "from")]
        replace: bool,
    },
    /// Copy lives between the data folder and a cluster of NATS JetStream, and compare the states that both logs fold to; needs a
    /// program built with the feature `cluster`
    Move(moving::MoveLives),
}

/// Looks into the log.
pub(crate) fn run(places: &Places, command: Log) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    match command {
        Log::Show(PrintedEvents {
            of,
            from,
            to,
            kinds,
            json,
        }) => {
            let printing = json.printing();
            let (log, key) = open_log_view(places, &data, of.assistant, printing)?;
            let how = show::How { printing, kinds };
            show::run(&log, &key, show::Range { from, to }, how)
        }
        Log::Verify { json } => verify::run(&data.log(), json.printing()),
        Log::Replay {
            of,
            at,
            decide,
            state,
            json,
        } => {
            let printing = json.printing();
            let (log, key) = open_log_view(places, &data, of.assistant, printing)?;
            match decide {
                true => decide::run(&log, &key, at.map(Seq), printing),
                false => {
                    let asked = replay::Asked {
                        at: at.map(Seq),
                        state,
                    };
                    replay::run(&log, &key, asked, printing)
                }
            }
        }
        Log::Salvage {
            into,
            from,
            replace,
        } => {
            let new_log = match replace {
                true => NewLog::Replaces,
                false => NewLog::Stays,
            };
            salvage::run(&data, &from.unwrap_or(data.log()), &into, new_log)
        }
        Log::Move(asked) => moving::run(&data, &asked),
    }
}
