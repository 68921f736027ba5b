//! The command line of `dormouse forget`.

use clap::{ArgGroup, Args};
use dormouse_contracts::{Origin, Timestamp};

use crate::command::{JsonFlag, Whose, moment};

/// What to forget.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)
    .args(["person", "record", "from", "until", "text", "secrets", "requests", "retention"])))]
pub(crate) struct Forget {
    /// What this person said, and what is stored about them: an id, or a name that only one person has
    #[arg(long, value_name = "NAME|ID", conflicts_with_all = ["record", "from", "until", "text"])]
    pub(crate) person: Option<String>,
    /// With --person: also lines that contain a name of the person but no id, even if other people have this name
    #[arg(long, requires = "person")]
    pub(crate) named: bool,
    /// One record, by its number (412, 412.3 or #412)
    #[arg(long, value_name = "N", value_parser = record, conflicts_with_all = ["from", "until", "text"])]
    pub(crate) record: Option<Origin>,
    /// With --record: also the messages that it was made from
    #[arg(long, requires = "record", conflicts_with_all = ["person", "secrets", "retention", "requests"])]
    pub(crate) with_messages: bool,
    /// What was heard and noted since this time
    #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with = "text")]
    pub(crate) from: Option<Timestamp>,
    /// What was heard and noted before this time
    #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with = "text")]
    pub(crate) until: Option<Timestamp>,
    /// Everything that contains this text, compared word by word
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Keys, passwords and card numbers: they are masked, the words around them are kept
    #[arg(long, conflicts_with_all = ["person", "record", "from", "until", "text"])]
    pub(crate) secrets: bool,
    /// Show who asked an assistant to be forgotten and still waits for it; changes nothing
    #[arg(long, conflicts_with_all = ["person", "record", "from", "until", "text", "secrets", "retention", "yes", "dry_run"])]
    pub(crate) requests: bool,
    /// Speech that is older than `utterances_kept_days` and that nothing refers to. Does not ask for confirmation, because
    /// the configuration requires this removal
    #[arg(long, conflicts_with_all = ["person", "record", "from", "until", "text", "secrets"])]
    pub(crate) retention: bool,
    /// Only this assistant's log and memory [default: every assistant of the folder, and its world; for --record, the only
    /// one in the log, or the configured one]
    #[command(flatten)]
    pub(crate) of: Whose,
    /// Show what would be forgotten, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Forget even if that removes every message of an assistant
    #[arg(long, requires = "yes")]
    pub(crate) everything: bool,
    /// Show what is removed: the beginning of each text, up to 100 of each kind
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
    /// Who orders the removal, for the log [default: your user name]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

impl Forget {
    /// Whether it is meant for regular runs. Then it succeeds even if there is nothing to remove.
    pub(super) fn is_regular(&self) -> bool {
        self.secrets || self.retention
    }
}

/// Reads the number of a record, with or without `#`.
fn record(text: &str) -> Result<Origin, dormouse_contracts::OriginError> {
    text.strip_prefix('#').unwrap_or(text).parse()
}
