//! The command line.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Parser, Subcommand};
use dormouse_contracts::{AssistantId, ModelName};
use dormouse_engine::ToolCalling;
use dormouse_providers::{ServedBy, ServedByError};

use crate::{entity::Entity, exit, memory::Memory, provider::Provider};

/// Runs a resident assistant that you can talk to, and inspects its log.
#[derive(Debug, Parser)]
#[command(name = "dormouse", version, after_help = exit::HELP, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) places: Places,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where things are.
#[derive(Clone, Debug, Args)]
pub(crate) struct Places {
    /// The folder with log, world and history [default: dormouse in the user's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The configuration file [default: dormouse.toml in the data folder, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Visit the assistant: talk to it, from a terminal or from a pipe
    #[command(after_help = exit::HELP)]
    Play(Play),
    /// Visit the assistant, and keep what is said to its models in a file: for a report, a test, or --replay
    #[command(after_help = exit::HELP)]
    Record(Record),
    /// Look into the event log
    #[command(subcommand)]
    Log(Log),
    /// Check data, configuration and provider
    Doctor(Doctor),
    /// Look at who can think for the assistant, and try it
    #[command(subcommand, after_help = exit::HELP)]
    Provider(Provider),
    /// Show, trigger or clear the emergency stop
    #[command(subcommand)]
    Emergency(Emergency),
    /// Look into what the assistant remembers, and change it
    #[command(subcommand, after_help = exit::HELP)]
    Memory(Memory),
    /// Look at whom the assistant knows, and change it
    #[command(subcommand, after_help = exit::HELP)]
    Entity(Entity),
}

/// Who thinks for the assistant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProviderFlags {
    /// Who serves the model: openai, anthropic, openrouter, ollama, local or offline [default: by what is found]
    #[arg(long, value_name = "NAME", value_parser = provider)]
    pub(crate) provider: Option<ServedBy>,
    /// The model, as its provider names it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<ModelName>,
    /// The server of the provider, if it is not the usual one
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How tools are offered to the model: native or fallback (as JSON in its text)
    #[arg(long, value_name = "WAY", value_parser = tool_calling)]
    pub(crate) tool_calling: Option<ToolCalling>,
}

/// Visiting.
#[derive(Clone, Debug, Args)]
pub(crate) struct Play {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// Your name in the world
    #[arg(long = "as", value_name = "NAME", default_value = "Visitor")]
    pub(crate) player: String,
    /// Print one JSON object per line (docs/json-output.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer for the models from a recording: no network, no key
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
}

/// Visiting, and recording what is said to models.
#[derive(Clone, Debug, Args)]
pub(crate) struct Record {
    /// The new file; nothing is ever written over. Keys and personal data are scrubbed (docs/recording.md)
    #[arg(value_name = "FILE", conflicts_with = "replay")]
    pub(crate) file: PathBuf,
    /// What the recording is about, for whoever reads it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Write it although something in it looks like a secret or like personal data
    #[arg(long)]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) play: Play,
}

/// Looking into the log.
#[derive(Debug, Subcommand)]
pub(crate) enum Log {
    /// Print events, one per line
    Show {
        #[command(flatten)]
        of: Whose,
        /// The first event to print
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = place)]
        from: u64,
        /// The last event to print [default: the last there is]
        #[arg(long, value_name = "N", value_parser = place)]
        to: Option<u64>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Read every event and compare it with its checksum
    Verify {
        /// Print one JSON object per assistant
        #[arg(long)]
        json: bool,
    },
    /// Fold the log from its first event and print the state and its hash
    Replay {
        #[command(flatten)]
        of: Whose,
        /// The last event to fold in, 0 for the state before the first [default: the last there is]
        #[arg(long, value_name = "N", value_parser = moment)]
        at: Option<u64>,
        /// Print state and hash as one JSON object on one line
        #[arg(long)]
        json: bool,
    },
    /// Copy what is readable of a damaged log into a new file
    Salvage {
        /// The new file; nothing is ever written over
        #[arg(long, value_name = "FILE")]
        into: PathBuf,
        /// The damaged file [default: log.redb in the data folder]
        #[arg(value_name = "LOG")]
        from: Option<PathBuf>,
        /// Put the new file in the place of the data folder's log, which is kept, and bind the memory to it
        #[arg(long, conflicts_with = "from")]
        replace: bool,
    },
}

/// Whose log.
#[derive(Clone, Debug, Args)]
pub(crate) struct Whose {
    /// The assistant [default: the only one in the log, or the configured one]
    #[arg(long, value_name = "KEY")]
    pub(crate) assistant: Option<AssistantId>,
}

/// Checking.
#[derive(Clone, Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// Ask every model of every list for a word and for a tool call, over the network
    #[arg(long)]
    pub(crate) probe: bool,
}

/// Seeing to the emergency stop.
#[derive(Debug, Subcommand)]
pub(crate) enum Emergency {
    /// Trigger it: what is said from then on is kept, and nothing is answered until it is cleared
    Stop {
        #[command(flatten)]
        of: Whose,
        /// Who stops the assistant, for the log [default: the user's name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Say whether it is on, since when and why; ends with 5 if it is
    Show {
        #[command(flatten)]
        of: Whose,
        /// Print a JSON object (docs/json-output.md)
        #[arg(long)]
        json: bool,
    },
    /// Clear it, so that the assistant goes on with what is waiting at its next start
    Clear {
        #[command(flatten)]
        of: Whose,
        /// Who clears it, for the log [default: the user's name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
}

fn provider(text: &str) -> Result<ServedBy, ServedByError> {
    ServedBy::from_str(text)
}

/// A way of offering tools that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are native and fallback")]
pub(crate) struct NoSuchWay;

fn tool_calling(text: &str) -> Result<ToolCalling, NoSuchWay> {
    match text {
        "native" => Ok(ToolCalling::Native),
        "fallback" => Ok(ToolCalling::Fallback),
        _ => Err(NoSuchWay),
    }
}

/// A text that is no place in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this takes a whole number from {first} to {}", u64::MAX)]
pub(crate) struct NoSuchPlace {
    first: u64,
}

fn place(text: &str) -> Result<u64, NoSuchPlace> {
    number_from(1, text)
}

fn moment(text: &str) -> Result<u64, NoSuchPlace> {
    number_from(0, text)
}

fn number_from(first: u64, text: &str) -> Result<u64, NoSuchPlace> {
    match text.parse() {
        Ok(number) if number >= first => Ok(number),
        Ok(_) | Err(_) => Err(NoSuchPlace { first }),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let refused = |line: &str| {
            CommandLine::try_parse_from(line.split(' '))
                .unwrap_err()
                .to_string()
        };
        assert!(
            refused("dormouse play --provider acme")
                .contains("openai, anthropic, openrouter, ollama, local and offline")
        );
        assert!(refused("dormouse play --tool-calling both").contains("native and fallback"));
        assert!(refused("dormouse play --jsn").contains("--json"));
        for line in [
            "show --from 0",
            "show --from many",
            "show --to 0",
            "show --to=-1",
        ] {
            let said = refused(&format!("dormouse log {line}"));
            assert!(said.contains("from 1 to 18446744073709551615"), "{said}");
        }
        assert!(refused("dormouse log replay --at x").contains("from 0 to"));
        assert!(
            refused("dormouse log show --assistant a/b").contains("an assistant key contains '/'")
        );
    }
}
