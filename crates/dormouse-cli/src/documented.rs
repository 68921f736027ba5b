//! `dormouse interact` and `dormouse audit`: names by which the documents call what other commands do (`aiinteract`, `aiaudit`). Each
//! becomes one of these commands as soon as it is read, so nothing is done twice.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dormouse_contracts::AssistantId;

use crate::{
    args::{Command, Play},
    assistant::Assistant,
    command::{JsonFlag, Whose, whole},
    log::{Log, PrintedEvents},
    provider::ProviderFlags,
    settings::Settings,
};

/// Talking to an assistant, and how much anybody may ask of it.
#[derive(Debug, Subcommand)]
pub(crate) enum Interact {
    /// Say something to the assistant, and print what comes of it, as `dormouse play` does
    Say(Box<Say>),
    /// Print whether it reacts to messages, or how much a sender may ask of it
    Show {
        /// `enabled`, or a setting of `admission`, such as burst
        #[arg(value_name = "SETTING", default_value = ENABLED)]
        setting: String,
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        provider: ProviderFlags,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Change that for one assistant; this applies from its next tick on, and the log says who did it
    Set {
        /// `enabled`, or a setting of `admission`, such as burst
        #[arg(value_name = "SETTING")]
        setting: String,
        /// The value, as in the file
        #[arg(value_name = "VALUE", allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        by: ChangedBy,
    },
    /// Take a change back
    Unset {
        /// `enabled`, or a setting of `admission`, such as burst
        #[arg(value_name = "SETTING")]
        setting: String,
        #[command(flatten)]
        by: ChangedBy,
    },
}

/// Something to say.
#[derive(Clone, Debug, Args)]
pub(crate) struct Say {
    /// The words
    #[arg(value_name = "WORDS", required = true, num_args = 1..)]
    words: Vec<String>,
    #[command(flatten)]
    provider: ProviderFlags,
    /// The name of your character in the world. Each name is another person; a name that is not known yet creates one
    #[arg(long = "as", value_name = "NAME", default_value = "Visitor")]
    player: String,
    #[command(flatten)]
    of: Whose,
    /// Print one JSON object per line (docs/json-output.md)
    #[arg(long)]
    json: bool,
}

/// Whose setting is changed, and by whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChangedBy {
    #[command(flatten)]
    of: Whose,
    /// Who changes it, for the log [default: your user name]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    json: JsonFlag,
}

/// Looking into the life of an assistant.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Print the events of its log, one per line, as `dormouse log show` does
    Events(PrintedEvents),
    /// Print its state after an event and the hash of that state, as `dormouse log replay --state` does
    State {
        #[command(flatten)]
        of: Whose,
        /// The event; 0 for the state before the first [default: the last in the log]
        #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
        at: Option<u64>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Make every decision again, and name the first that differs from the log, as `dormouse log replay --decide` does
    Decide {
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Read every event and compare it with its checksum, as `dormouse log verify` does
    Verify {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Write the whole life into a file, as `dormouse assistant export` does
    Archive {
        /// Its key
        #[arg(value_name = "KEY")]
        key: AssistantId,
        /// The new file; an existing file is never overwritten
        #[arg(long = "to", value_name = "FILE")]
        into: PathBuf,
    },
}

/// The word for the setting that says whether an assistant reacts to messages.
const ENABLED: &str = "enabled";

/// The name of a setting among all settings.
fn setting(name: &str) -> String {
    match name {
        ENABLED => "classify.interaction_enabled".to_owned(),
        name => format!("admission.{name}"),
    }
}

impl Interact {
    /// The command that does this.
    pub(crate) fn command(self) -> Command {
        match self {
            Self::Say(say) => {
                let Say {
                    words,
                    provider,
                    player,
                    of,
                    json,
                } = *say;
                // A line of input is one message. With this prefix it is never a command.
                let words = words.join(" ").replace(['\r', '\n'], " ");
                Command::Play(Play {
                    provider,
                    player,
                    assistant: of.assistant,
                    json,
                    replay: None,
                    script: None,
                    line: Some(format!("to: {words}")),
                })
            }
            Self::Show {
                setting: name,
                of,
                provider,
                json,
            } => Command::Config(Settings::Show {
                name: setting(&name),
                of,
                provider,
                json,
            }),
            Self::Set {
                setting: name,
                value,
                by: ChangedBy { of, by, json },
            } => Command::Config(Settings::Set {
                name: setting(&name),
                value,
                of,
                by,
                json,
            }),
            Self::Unset {
                setting: name,
                by: ChangedBy { of, by, json },
            } => Command::Config(Settings::Unset {
                name: setting(&name),
                of,
                by,
                json,
            }),
        }
    }
}

impl Audit {
    /// The command that does this.
    pub(crate) fn command(self) -> Command {
        match self {
            Self::Events(events) => Command::Log(Log::Show(events)),
            Self::State { of, at, json } => Command::Log(Log::Replay {
                of,
                at,
                decide: false,
                state: true,
                json,
            }),
            Self::Decide { of, json } => Command::Log(Log::Replay {
                of,
                at: None,
                decide: true,
                state: false,
                json,
            }),
            Self::Verify { json } => Command::Log(Log::Verify { json }),
            Self::Archive { key, into } => Command::Assistant(Assistant::Export { key, into }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::args::CommandLine;

    fn same(one: &str, other: &str) {
        let read = |line: &str| format!("{:?}", CommandLine::read(line.split(' ')).unwrap());
        assert_eq!(read(one), read(other));
    }

    #[test]
    fn documented_names_are_the_commands_that_do_the_same() {
        same(
            "dormouse interact show",
            "dormouse config show classify.interaction_enabled",
        );
        same(
            "dormouse interact show burst --assistant mole --json",
            "dormouse config show admission.burst --assistant mole --json",
        );
        same(
            "dormouse interact set enabled false --by Ada",
            "dormouse config set classify.interaction_enabled false --by Ada",
        );
        same(
            "dormouse interact unset waiting",
            "dormouse config unset admission.waiting",
        );
        same(
            "dormouse audit events --from 5 --to 9 --kinds",
            "dormouse log show --from 5 --to 9 --kinds",
        );
        same(
            "dormouse audit state --at 7",
            "dormouse log replay --at 7 --state",
        );
        same("dormouse audit decide", "dormouse log replay --decide");
        same("dormouse audit verify --json", "dormouse log verify --json");
        same(
            "dormouse audit archive mole --to life.jsonl",
            "dormouse assistant export mole --to life.jsonl",
        );
    }
}
