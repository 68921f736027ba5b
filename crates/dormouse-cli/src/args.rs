//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{
    command::Places,
    emergency::Emergency,
    entity::Entity,
    exit,
    log::Log,
    memory::Memory,
    provider::{ProviderFlags, command::Provider},
};

/// Runs a resident assistant that you can talk to, and inspects its log.
#[derive(Debug, Parser)]
#[command(name = "dormouse", version, after_help = exit::HELP, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) places: Places,
    #[command(subcommand)]
    pub(crate) command: Command,
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

/// Checking.
#[derive(Clone, Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// Ask every model of every list for a word and for a tool call, over the network
    #[arg(long)]
    pub(crate) probe: bool,
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
