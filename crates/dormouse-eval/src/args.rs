//! The command line.

use std::{fmt, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use dormouse_providers::EmbedderRef;

use crate::{dataset::Format, encoder::OPENER};

/// What `--help` says about the exit codes.
const EXIT_CODES: &str = "Exit codes:
  0    done
  1    failed; standard error says why
  2    wrong command line or environment";

/// Measures how well a memory recalls, how a journal scores importance, and what sleep does to both.
#[derive(Debug, Parser)]
#[command(name = "dormouse-eval", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure how well a memory answers questions about conversations, compared with plain BM25
    #[command(after_help = EXIT_CODES)]
    Recall(Recall),
    /// Show how important a journal would find the turns of conversations, by the formula and by rank
    #[command(after_help = EXIT_CODES)]
    Importance(Importance),
    /// Let an assistant overhear a conversation for a week of seven days and nights, and show what each night did
    #[command(after_help = EXIT_CODES)]
    Week(Week),
    /// Measure how well an assistant answers questions before sleep, after one night and after seven, with controls
    #[command(after_help = EXIT_CODES)]
    Sleep(Sleep),
    /// Measure whether a memory knows which statement is the later one, about facts that change during conversations
    #[command(after_help = EXIT_CODES)]
    Changes(Changes),
    /// Measure which messages are recognised as standing orders
    #[command(after_help = EXIT_CODES)]
    Orders(Orders),
    /// Learn from messages which of them contain standing orders, and print the weights
    #[command(after_help = EXIT_CODES)]
    OrdersLearn(OrdersLearn),
    /// Measure how many tokens the definitions of tools take, and whether tasks find their tool
    #[command(after_help = EXIT_CODES)]
    Tools(ToolTasks),
}

/// Tools, and tasks that need them.
#[derive(Clone, Debug, Args)]
pub(crate) struct ToolTasks {
    /// A file of tools: a server in brackets, then one tool a line: name | description | parameters
    #[arg(value_name = "SERVERS")]
    pub(crate) servers: PathBuf,
    /// A file of tasks, one a line: `learn` or `kept` | tool | message | what is searched for
    #[arg(value_name = "TASKS")]
    pub(crate) tasks: PathBuf,
    /// Tokens that definitions may take
    #[arg(long, value_name = "TOKENS", default_value_t = 8_192)]
    pub(crate) budget: u32,
    /// Which half of the tasks
    #[arg(long, value_name = "HALF", default_value = "learn")]
    pub(crate) half: Half,
}

/// Standing orders.
#[derive(Clone, Debug, Args)]
pub(crate) struct Orders {
    /// A file of messages, one a line: `learn` or `kept`, then `+` for an order or `-` for none, then the message
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Which half of the messages
    #[arg(long, value_name = "HALF", default_value = "learn")]
    pub(crate) half: Half,
}

/// Learning what standing orders look like.
#[derive(Clone, Debug, Args)]
pub(crate) struct OrdersLearn {
    /// Files of messages as for `orders`, of which the half `learn` is used
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A file of which the half `kept` is used, too, because it can no longer measure anything
    #[arg(long, value_name = "FILE")]
    pub(crate) kept_too: Vec<PathBuf>,
    /// A file of turns of ordinary talk in the same form, all of them without an order
    #[arg(long, value_name = "FILE")]
    pub(crate) talk: PathBuf,
    /// How much of the ordinary talk may be taken for orders, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub(crate) most_talk: f64,
    /// How many features get a weight
    #[arg(long, value_name = "COUNT", default_value_t = 1500)]
    pub(crate) features: usize,
}

/// Facts that change.
#[derive(Clone, Debug, Args)]
pub(crate) struct Changes {
    /// A file of conversations in the published format of LoCoMo or LongMemEval, in which the facts are said
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the file [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Which half of the facts
    #[arg(long, value_name = "HALF", default_value = "learn")]
    pub(crate) half: Half,
    /// The seed of all random choices
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// A half of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Half {
    /// To choose between rankings
    Learn,
    /// To measure what was chosen, once
    Kept,
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Learn => "learn",
            Self::Kept => "kept",
        })
    }
}

/// A week.
#[derive(Clone, Debug, Args)]
pub(crate) struct Week {
    /// A file of conversations in the published format of LoCoMo or LongMemEval
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the file [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Which conversation of the file, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) conversation: usize,
    /// The model that makes facts, scores and insights at night
    #[arg(long, value_name = "MODEL", default_value = "offline")]
    pub(crate) model: ModelName,
    /// The seed of all random choices
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Live the week twice, and fail unless both end in the same state
    #[arg(long)]
    pub(crate) twice: bool,
}

/// What sleep does to recall.
#[derive(Clone, Debug, Args)]
pub(crate) struct Sleep {
    /// A file of conversations and questions in the published format of LoCoMo or LongMemEval
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the file [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Only this conversation of the file, counted from 1 [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) conversation: Option<usize>,
    /// The seed of all random choices
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// A model that needs no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    /// The offline model, which follows fixed rules
    Offline,
    /// A model that copies what it is shown
    Scripted,
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Offline => "offline",
            Self::Scripted => "scripted",
        })
    }
}

/// Scoring importance.
#[derive(Clone, Debug, Args)]
pub(crate) struct Importance {
    /// A file of conversations in the published format of LoCoMo or LongMemEval
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the file [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
}

/// Measuring recall.
#[derive(Clone, Debug, Args)]
pub(crate) struct Recall {
    /// A file of conversations and questions in the published format of LoCoMo or LongMemEval
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the file [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Also measure recall by vectors of this encoder: folder:PATH, openai:MODEL[@URL], ollama:MODEL[@URL] or none
    #[arg(long, value_name = "ENCODER", default_value = "none", value_parser = |text: &str| OPENER.parse(text))]
    pub(crate) embedder: EmbedderRef,
    /// Also measure recall by words after similar records were linked
    #[arg(long)]
    pub(crate) links: bool,
    /// Also measure recall by words if only the speaker of each turn knows it, and asks about it
    #[arg(long)]
    pub(crate) private: bool,
    /// Misspell this share of the words of every question, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) typos: Option<u8>,
    /// The seed of the typing errors
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "typos")]
    pub(crate) seed: u64,
    /// Measure instead how well a memory knows whether it contains an answer: each is also asked the questions about the other
    /// conversations, with the names of its own speakers
    #[arg(long, conflicts_with_all = ["json", "receipts", "links", "private", "embedder"])]
    pub(crate) confidence: bool,
    /// Print one JSON object instead of tables (docs/json-output.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the ranking for each question into this file, one JSON object per line
    #[arg(long, value_name = "OUT")]
    pub(crate) receipts: Option<PathBuf>,
    /// How many turns or sessions to rank for each question
    #[arg(long, value_name = "K", default_value_t = 50, value_parser = clap::value_parser!(u16).range(10..=1000))]
    pub(crate) limit: u16,
}

/// A format, as a user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Conversations of two people; evidence names turns
    Locomo,
    /// Chats with an assistant; evidence names sessions
    Longmemeval,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Locomo => Self::Locomo,
            FormatName::Longmemeval => Self::LongMemEval,
        }
    }
}
