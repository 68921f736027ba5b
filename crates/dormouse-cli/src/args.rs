//! The command line.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use dormouse_contracts::AssistantId;

use crate::{
    approvals::{AnswerApproval, ListApprovals},
    assistant::Assistant,
    backup::Backup,
    budget::Budget,
    command::Places,
    commitment::Commitment,
    delegation::Delegation,
    documented::{Audit, Interact},
    emergency::Emergency,
    entity::Entity,
    evennia::{Evennia, WorldChoice},
    exec::Exec,
    exit,
    export::Export,
    forget::Forget,
    goal::GoalCommand,
    history::History,
    journal::JournalCommand,
    log::Log,
    mcp::Mcp,
    memory::Memory,
    otel::Otel,
    project::ProjectCommand,
    prompt::Prompt,
    provider::{ProviderFlags, command::Provider},
    self_note::NoteCommand,
    settings::Settings,
    shell::{Completions, Manual},
    sleep::{NightCommand, SleepCommand, WakeCommand},
    token::TokenCommand,
    tools::Tools,
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

impl CommandLine {
    /// Reads a command line. A documented name becomes the command that it is a name for.
    pub(crate) fn read(
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let Self { places, command } = Self::try_parse_from(words)?;
        let command = match command {
            Command::Interact(named) => named.command(),
            Command::Audit(named) => named.command(),
            command => command,
        };
        Ok(Self { places, command })
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Visit the assistant and talk to it, from a terminal or a pipe
    #[command(after_help = exit::HELP)]
    Play(Play),
    /// Run the assistants without a visitor, until a signal ends the program
    #[command(after_help = exit::HELP)]
    Run(Run),
    /// Run the assistants and a REST API over HTTP (docs/rest-api.md); `dormouse token` controls who may use it
    #[command(after_help = exit::HELP)]
    Serve(Serve),
    /// Create, list and revoke the tokens of the REST API
    #[command(subcommand, after_help = exit::HELP)]
    Token(TokenCommand),
    /// Visit the assistant and record the requests to its models and their replies, for a bug report, a test or
    /// --replay
    #[command(after_help = exit::HELP)]
    Record(Record),
    /// List, look up, create, clone, fork, tag, archive and restore the assistants of the folder; export and import their lives
    #[command(subcommand, after_help = exit::HELP)]
    Assistant(Assistant),
    /// Inspect the event log
    #[command(subcommand)]
    Log(Log),
    /// Say something to the assistant, and decide how much may be asked of it
    #[command(subcommand, after_help = exit::HELP)]
    Interact(Interact),
    /// Inspect the life of an assistant: events, states, decisions; write it into a file
    #[command(subcommand, after_help = exit::HELP)]
    Audit(Audit),
    /// Check the data, the configuration and the models
    Doctor(Doctor),
    /// List, inspect and test models and their providers
    #[command(subcommand, after_help = exit::HELP)]
    Provider(Provider),
    /// List, check and change the settings
    #[command(subcommand, after_help = exit::HELP)]
    Config(Settings),
    /// Show the limits of an assistant's ticks and where they come from, and the calls of its tools
    #[command(subcommand, after_help = exit::HELP)]
    Exec(Exec),
    /// Show the prompt that the assistant's model gets, part by part, and manage templates
    #[command(after_help = exit::HELP)]
    Prompt(Prompt),
    /// List the tools of assistants, and show one
    #[command(subcommand, after_help = exit::HELP)]
    Tools(Tools),
    /// Write a configuration file with every setting, commented out; an existing file is never overwritten
    Init,
    /// Show, trigger or clear the emergency stop
    #[command(subcommand)]
    Emergency(Emergency),
    /// Set, change and inspect the goals of the assistant
    #[command(subcommand, after_help = exit::HELP)]
    Goal(Box<GoalCommand>),
    /// List the dangerous acts of the assistant that wait for a person who confirms them
    Approvals(ListApprovals),
    /// Confirm a dangerous act: the assistant may do it once, exactly as it is listed
    Approve(AnswerApproval),
    /// Refuse a dangerous act
    Deny(AnswerApproval),
    /// Show how much the assistant may spend on its models, and how much of that is left
    Budget(Budget),
    /// Clear the history that prompts show
    #[command(subcommand)]
    History(History),
    /// Search, inspect and change what the assistant remembers
    #[command(subcommand, after_help = exit::HELP)]
    Memory(Memory),
    /// Serve assistants or a memory to an agent, over the Model Context Protocol on standard input and output; or list and
    /// accept the tools of servers that speak this protocol
    #[command(after_help = exit::HELP)]
    Mcp(Mcp),
    /// Write everything that is stored about a person as JSON (docs/json-output.md)
    #[command(after_help = exit::HELP)]
    Export(Export),
    /// Remove what a person said, a record, a span of time or a text from the log and from everything derived from it
    #[command(after_help = exit::HELP)]
    Forget(Box<Forget>),
    /// Inspect and change what the assistant knows about people and things
    #[command(subcommand, after_help = exit::HELP)]
    Entity(Entity),
    /// Set up and check an Evennia game, in which assistants live if world.kind is "evennia"
    #[command(subcommand, after_help = exit::HELP)]
    Evennia(Evennia),
    /// Copy the data folder to another place, also while assistants live in it
    #[command(after_help = exit::HELP)]
    Backup(Backup),
    /// Export what assistants did, as spans, to an OpenTelemetry collector
    #[command(subcommand, after_help = exit::HELP)]
    Otel(Otel),
    /// List the promises of the assistant: what it intends to do for people, and how each ended
    #[command(subcommand)]
    Commitment(Commitment),
    /// List the tasks that assistants give to each other, and how they ended
    #[command(subcommand)]
    Delegation(Delegation),
    /// Begin, change, swap and inspect the projects of the assistant
    #[command(subcommand, after_help = exit::HELP)]
    Project(Box<ProjectCommand>),
    /// Inspect and change the notes of the assistant: facts, patterns and guidelines
    #[command(subcommand, after_help = exit::HELP)]
    Note(NoteCommand),
    /// Read, search and write the journal of the assistant
    #[command(subcommand, after_help = exit::HELP)]
    Journal(Box<JournalCommand>),
    /// Let the assistant sleep: it answers nobody until it wakes, and puts its knowledge in order
    #[command(after_help = exit::HELP)]
    Sleep(Box<SleepCommand>),
    /// Wake the assistant
    #[command(after_help = exit::HELP)]
    Wake(WakeCommand),
    /// Print what the assistant did in its last night, or let it have a night now
    #[command(after_help = exit::HELP)]
    Night(Box<NightCommand>),
    /// Print completions for a shell, such as `dormouse completions bash`
    Completions(Completions),
    /// Write the manual pages, for an installation
    Manual(Manual),
}

/// Visiting.
#[derive(Clone, Debug, Args)]
pub(crate) struct Play {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// The name of your character in the world. Each name is another person; a name that is not known yet creates one
    #[arg(long = "as", value_name = "NAME", default_value = "Visitor")]
    pub(crate) player: String,
    /// The key of the assistant to visit [default: the configured one]
    #[arg(long, value_name = "KEY")]
    pub(crate) assistant: Option<AssistantId>,
    /// Print one JSON object per line (docs/json-output.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Take the replies of models from a recording; needs no network and no key
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Play a script: a file that says which visitors say what and when. It runs offline, on a clock of its own, so that the
    /// log is the same each time (docs/scripts.md)
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["replay", "player", "assistant", "provider", "model", "base_url", "tool_calling"],
    )]
    pub(crate) script: Option<PathBuf>,
    /// The only line of input, in place of standard input.
    #[arg(skip)]
    pub(crate) line: Option<String>,
}

/// Running without a visitor.
#[derive(Clone, Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// Where the assistants live
    #[arg(long, value_name = "WORLD", value_enum, default_value_t)]
    pub(crate) world: WorldChoice,
}

/// Running without a visitor, with a REST API.
#[derive(Clone, Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen on; until a token exists, it must be a local address of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8420")]
    pub(crate) listen: SocketAddr,
    /// A further host name by which clients may call the service; may be given several times
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) run: Run,
}

/// Visiting, and recording the exchanges with models.
#[derive(Clone, Debug, Args)]
pub(crate) struct Record {
    /// The new file; an existing file is never overwritten. Keys and personal data are removed (docs/recording.md)
    #[arg(value_name = "FILE", conflicts_with_all = ["replay", "script"])]
    pub(crate) file: PathBuf,
    /// What the recording is about, for its readers
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Write the recording even if it seems to contain secrets or personal data
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
    /// Ask every configured model for a word and for a tool call, over the network
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

    /// Each argument of each command, with a value that does not exist.
    fn refusals(command: &clap::Command, path: &[String]) -> Vec<String> {
        let mut all = Vec::new();
        for below in command.get_subcommands() {
            let path = [path, &[below.get_name().to_owned()]].concat();
            all.extend(refusals(below, &path));
        }
        let values = command
            .get_arguments()
            .filter(|it| it.get_action().takes_values());
        for argument in values {
            let value = match argument.get_long() {
                Some(long) => vec![format!("--{long}=x")],
                None => vec!["x".to_owned(); argument.get_index().unwrap_or(1)],
            };
            let line = [path, &value].concat();
            let refused = CommandLine::try_parse_from(&line).err();
            all.extend(refused.map(|error| format!("{}: {error}", line.join(" "))));
        }
        all
    }

    #[test]
    fn what_is_refused_is_refused_with_what_is_expected() {
        let command = CommandLine::command();
        let refused = refusals(&command, &["dormouse".to_owned()]);
        assert!(refused.len() > 100, "{}", refused.len());
        let bare = [
            "invalid digit",
            "invalid float",
            "number too",
            "cannot parse",
            "not in ",
        ];
        let is_bare = |text: &&String| bare.iter().any(|bare| text.contains(bare));
        let bare: Vec<_> = refused.iter().filter(is_bare).collect();
        assert!(bare.is_empty(), "{bare:#?}");
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
                .contains("openai, anthropic, openrouter, ollama, local or offline")
        );
        assert!(refused("dormouse play --tool-calling both").contains("native or fallback"));
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
