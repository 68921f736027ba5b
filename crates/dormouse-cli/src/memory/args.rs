//! The command line of `dormouse memory`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Subcommand};
use dormouse_contracts::{Timestamp, Trust};
use dormouse_host::OPENER;
use dormouse_memory::{RecordId, RecordKind};
use dormouse_providers::EmbedderRef;

use crate::{
    command::{ByEncoder, JsonFlag, moment, query, trust, whole},
    provider::ProviderFlags,
};

/// Looking into a memory, and changing it.
#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// Add a record. The assistant may tell everybody about it
    Add(Add),
    /// Search the memory, and show why each record was found
    Search(Box<Search>),
    /// Print the records in use, in the order they were added
    List(List),
    /// Print a record
    Show(Of),
    /// Print the sources and the changes of a record
    Why(Of),
    /// Import records from JSON lines; known records are not added again
    Import {
        /// The file, or - for standard input
        #[arg(value_name = "FILE")]
        from: PathBuf,
        /// The highest trust of a line, 0 to 1 [default: 0.4, or 1 with --own]
        #[arg(long, value_name = "SCORE", value_parser = trust)]
        trust: Option<Trust>,
        /// The file was exported from an assistant of yours: believe what it says about who said something, how and where
        #[arg(long)]
        own: bool,
        /// Make lines without an audience public knowledge [default: only the assistant knows them]
        #[arg(long)]
        public: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Export every record in use as a JSON line
    Export {
        /// The new file [default: standard output]; an existing file is never overwritten
        #[arg(value_name = "FILE")]
        into: Option<PathBuf>,
    },
    /// Print duplicates, and records that are outdated, not trusted enough, or look like secrets
    Hygiene {
        /// Fold duplicates into one record; `undo` reverses it
        #[arg(long)]
        apply: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Let a model extract facts from what was heard, and traits from observations about people
    Consolidate(Consolidate),
    /// If earlier turns fill the context window, leave them out of prompts and let a model sum them up. Do this while nobody
    /// waits for an answer
    Compact(Compact),
    /// Rebuild the search index and, with an embedder, the vectors
    Rebuild {
        #[command(flatten)]
        by: ByEncoder,
        /// First rebuild the whole memory from the log; asks before records are lost
        #[arg(long)]
        from_log: bool,
        /// Replace the memory even if the log gives fewer records than it has
        #[arg(long, requires = "from_log")]
        yes: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Change to another embedder, unless recall gets worse
    Migrate(Migrate),
    /// Print how much the memory holds
    Stats {
        #[command(flatten)]
        by: ByEncoder,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Undo what an event of the log did to records; undoing the undo event does it again
    Undo {
        /// The number of the event, as `why` and `log show` print it
        #[arg(value_name = "EVENT", value_parser = whole::<u64>(1..=u64::MAX))]
        event: u64,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Exclude a record from recall; `undo` reverses it
    Withdraw(Of),
    /// Make a record public knowledge: the assistant may tell everybody about it; `undo` reverses it
    Publish(Of),
    /// Remove a record's text from the memory for good; the log keeps the message it came from
    Erase {
        #[command(flatten)]
        of: Of,
        /// Confirm that the text is removed for good
        #[arg(long, required = true)]
        yes: bool,
    },
    /// Mark a record as no longer valid
    Supersede {
        #[command(flatten)]
        of: Of,
        /// The record that replaces it
        #[arg(long, value_name = "NEW", value_parser = record_id)]
        by: Option<RecordId>,
        /// Since when it is no longer valid [default: the time of NEW, or now]
        #[arg(long, value_name = "TIME", value_parser = moment)]
        since: Option<Timestamp>,
    },
}

/// Reads the id of a record, with or without the sign that the output prints before it.
fn record_id(text: &str) -> Result<RecordId, <RecordId as FromStr>::Err> {
    text.strip_prefix('#').unwrap_or(text).parse()
}

/// Which record.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Of {
    /// Its id: the number of its event in the log, as in 42, #42 or 42.3
    #[arg(value_name = "ID", value_parser = record_id)]
    pub(crate) id: RecordId,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Remembering.
#[derive(Clone, Debug, Args)]
pub(crate) struct Add {
    /// The text; several words are one text
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
    /// How far it is trusted, 0 to 1 [default: 1]
    #[arg(long, value_name = "SCORE", value_parser = trust)]
    pub(crate) trust: Option<Trust>,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Consolidating.
#[derive(Clone, Debug, Args)]
pub(crate) struct Consolidate {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// Only print how many requests it would take, and how many tokens
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The maximum number of requests; the next run continues from there
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) requests: u64,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Leaving earlier turns out of prompts.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub(crate) provider: ProviderFlags,
    /// Only print how full the context window is, and what would be left out
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Listing.
#[derive(Clone, Debug, Args)]
pub(crate) struct List {
    /// Also print folded and withdrawn records
    #[arg(long)]
    pub(crate) all: bool,
    /// Only this kind; may be given several times
    #[arg(long)]
    pub(crate) kind: Vec<RecordKind>,
    /// Only the last N [default: every record]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=u64::MAX))]
    pub(crate) last: Option<usize>,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Recalling.
#[derive(Clone, Debug, Args)]
pub(crate) struct Search {
    /// The question; several words are one question
    #[arg(required = true, value_name = "QUERY", value_parser = query)]
    pub(crate) query: Vec<String>,
    /// How many matches to print at most [default: 10, or as many as fit into --tokens]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1_000))]
    pub(crate) limit: Option<u16>,
    /// Print the best evidence that fits into this many tokens, in order of time
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=u32::MAX.into()))]
    pub(crate) tokens: Option<u32>,
    /// Only records trusted at least this far, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "SCORE", value_parser = trust)]
    pub(crate) min_trust: Option<Trust>,
    /// Print nothing if the memory probably has no answer: the least probability, 0 to 1. Memories of fewer than 300 records ignore it [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) min_confidence: Option<f32>,
    /// Recall only what this listener may hear: the id or the name of somebody the assistant knows; may be given several
    /// times
    #[arg(long = "for", value_name = "WHO")]
    pub(crate) listeners: Vec<String>,
    /// Only this kind; may be given several times
    #[arg(long)]
    pub(crate) kind: Vec<RecordKind>,
    /// Only records that were valid at this time [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) as_of: Option<Timestamp>,
    /// Only records said at this time or later
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Timestamp>,
    /// Only records said before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) before: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) by: ByEncoder,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(_) | Err(_) => Err(format!("{text:?} is not a number from 0 to 1")),
    }
}

/// Changing to another encoder.
#[derive(Clone, Debug, Args)]
pub(crate) struct Migrate {
    /// The new encoder: folder:PATH, openai:MODEL[@URL] or ollama:MODEL[@URL]
    #[arg(long, value_name = "ENCODER", value_parser = |text: &str| OPENER.parse(text), required_unless_present = "back")]
    pub(crate) embedder: Option<EmbedderRef>,
    /// The encoder that is in use now, for the comparison [default: compare with recall by words]
    #[arg(long, value_name = "ENCODER", value_parser = |text: &str| OPENER.parse(text))]
    pub(crate) former: Option<EmbedderRef>,
    /// Change even if recall becomes worse
    #[arg(long, conflicts_with = "compare")]
    pub(crate) force: bool,
    /// Only compare
    #[arg(long)]
    pub(crate) compare: bool,
    /// Change back to the former encoder
    #[arg(long, conflicts_with_all = ["embedder", "former", "force", "compare"])]
    pub(crate) back: bool,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}
