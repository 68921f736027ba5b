//! The command line of `dormouse memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dormouse_contracts::{Timestamp, Trust};
use dormouse_memory::{RecordId, RecordKind};
use dormouse_providers::EmbedderWish;

use crate::{
    command::{ByEncoder, JsonFlag, moment, trust},
    encoder,
};

/// Looking into a memory, and changing it.
#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// Remember something
    Add(Add),
    /// Recall what fits a question, and say why it does
    Search(Box<Search>),
    /// Print the records in use, in the order in which they were added
    List(List),
    /// Print a record
    Show(Of),
    /// Print where a record comes from, and everything that happened to it
    Why(Of),
    /// Bring records in from JSON lines; what is there already is not added again
    Import {
        /// The file, or - for standard input
        #[arg(value_name = "FILE")]
        from: PathBuf,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Write every record that is in use as a JSON line
    Export {
        /// The new file [default: standard output]; nothing is ever written over
        #[arg(value_name = "FILE")]
        into: Option<PathBuf>,
    },
    /// Print what is said twice, out of date, not believed or secret
    Hygiene {
        /// Fold what is said twice into one record; `undo` takes it back
        #[arg(long)]
        apply: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Make anew what is derived from the records: the search index, and with an embedder the index of vectors
    Rebuild {
        #[command(flatten)]
        by: ByEncoder,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Bind the memory to the log that is there now, after that was lost or set back; all that it holds is kept
    Rebind {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Go over to another embedder, if it recalls no worse
    Migrate(Migrate),
    /// Print how much there is
    Stats {
        #[command(flatten)]
        by: ByEncoder,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Take a change back
    Undo {
        /// Its number, as `why` prints it
        #[arg(value_name = "CHANGE")]
        change: u64,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Take a record out of recall; `undo` puts it back
    Withdraw(Of),
    /// Remove a record's text from the memory for good; the log keeps the message it came from
    Erase {
        #[command(flatten)]
        of: Of,
        /// Yes, for good
        #[arg(long, required = true)]
        yes: bool,
    },
    /// Say that a record is no longer so
    Supersede {
        #[command(flatten)]
        of: Of,
        /// The record that took its place
        #[arg(long, value_name = "NEW")]
        by: Option<RecordId>,
        /// Since when it is no longer so [default: when NEW was said, or now]
        #[arg(long, value_name = "TIME", value_parser = moment)]
        since: Option<Timestamp>,
    },
}

/// Which record.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Of {
    /// Its number, as in m42
    #[arg(value_name = "ID")]
    pub(crate) id: RecordId,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Remembering.
#[derive(Clone, Debug, Args)]
pub(crate) struct Add {
    /// What to remember; several words are one text
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// event, fact, preference, instruction or insight
    #[arg(long, default_value_t)]
    pub(crate) kind: RecordKind,
    /// Who said it
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// The conversation it belongs to
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,
    /// When it was said [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) at: Option<Timestamp>,
    /// A word to find it by; may be given several times
    #[arg(long, value_name = "WORD")]
    pub(crate) tag: Vec<String>,
    /// How far it is believed, 0 to 1 [default: 1]
    #[arg(long, value_name = "SCORE", value_parser = trust)]
    pub(crate) trust: Option<Trust>,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Listing.
#[derive(Clone, Debug, Args)]
pub(crate) struct List {
    /// Those that were folded or withdrawn as well
    #[arg(long)]
    pub(crate) all: bool,
    /// Only this kind; may be given several times
    #[arg(long)]
    pub(crate) kind: Vec<RecordKind>,
    /// Only the last N [default: every record]
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Recalling.
#[derive(Clone, Debug, Args)]
pub(crate) struct Search {
    /// What to look for; several words are one question
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// The most records that match [default: 10, or as many as fit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: Option<u16>,
    /// Pack the best evidence into so many tokens, in the order of time
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u32>,
    /// Only what is believed so far, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "SCORE", value_parser = trust)]
    pub(crate) min_trust: Option<Trust>,
    /// Only this kind; may be given several times
    #[arg(long)]
    pub(crate) kind: Vec<RecordKind>,
    /// What was so then [default: what is so now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) as_of: Option<Timestamp>,
    /// Only what was said then or later
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Timestamp>,
    /// Only what was said before
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) before: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) by: ByEncoder,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Going over to another encoder.
#[derive(Clone, Debug, Args)]
pub(crate) struct Migrate {
    /// The new one: folder:PATH, openai:MODEL[@URL] or ollama:MODEL[@URL]
    #[arg(long, value_name = "WHICH", value_parser = encoder::wish, required_unless_present = "back")]
    pub(crate) embedder: Option<EmbedderWish>,
    /// The one in use, to compare with; without it the new one is compared with recall by words
    #[arg(long, value_name = "WHICH", value_parser = encoder::wish)]
    pub(crate) former: Option<EmbedderWish>,
    /// Go over even if it recalls worse
    #[arg(long, conflicts_with = "compare")]
    pub(crate) force: bool,
    /// Compare, and do not go over
    #[arg(long)]
    pub(crate) compare: bool,
    /// Go back to the one before
    #[arg(long, conflicts_with_all = ["embedder", "former", "force", "compare"])]
    pub(crate) back: bool,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}
