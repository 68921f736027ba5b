//! The command line of `dormouse entity`.

use clap::{Args, Subcommand, ValueEnum};
use dormouse_contracts::{EntityId, Trust};
use dormouse_entities::{
    CommunicationStyle, EntityType, Favorability, Keyword, Name, ObservationSource,
    ObservationText, Phrase, Preference, Rapport, TextLineError,
};

use crate::command::{JsonFlag, trust};

/// Whom the assistant knows.
#[derive(Debug, Subcommand)]
pub(crate) enum Entity {
    /// Print everybody, one per line
    List {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print everything that is known of somebody
    Show(Who),
    /// Make a profile
    Create {
        /// The id their world knows them by
        #[arg(value_name = "ID")]
        id: EntityId,
        /// The name they go by
        #[arg(value_name = "NAME", value_parser = line::<64>)]
        name: Name,
        /// What kind of thing it is
        #[arg(long = "type", value_name = "TYPE", default_value = "player")]
        kind: Kind,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Note something about somebody
    Observe {
        #[command(flatten)]
        who: Who,
        /// What
        #[arg(value_name = "TEXT", value_parser = line::<500>)]
        text: ObservationText,
        /// How it became known
        #[arg(long, value_name = "WORD", default_value = "direct", value_parser = line::<32>)]
        source: ObservationSource,
        /// How far it is believed, 0 to 1
        #[arg(long, value_name = "SCORE", default_value = "1", value_parser = trust)]
        trust: Trust,
    },
    /// Say by what other name somebody is known
    Alias {
        #[command(flatten)]
        who: Who,
        /// The other name
        #[arg(value_name = "NAME", value_parser = line::<64>)]
        alias: Name,
        /// They are not known by it after all
        #[arg(long)]
        remove: bool,
    },
    /// Say that two are one
    Merge {
        /// Who is no longer known separately
        #[arg(value_name = "FROM")]
        from: String,
        /// Who stays
        #[arg(value_name = "INTO")]
        into: String,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Say that two are two after all
    Unmerge(Exactly),
    /// Set what is known of somebody
    Set(Box<Set>),
    /// Put a profile away
    Delete(Who),
    /// Bring a deleted profile back
    Restore(Exactly),
    /// Print the block of entities as the assistant's prompt shows it
    Block {
        /// The most tokens it may take
        #[arg(long, value_name = "N", default_value_t = 1024)]
        tokens: u32,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// Who is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Who {
    /// Their id, or a name only they go by
    #[arg(value_name = "WHO")]
    pub(crate) who: String,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Exactly which id is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Exactly {
    /// The id
    #[arg(value_name = "ID")]
    pub(crate) id: EntityId,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Setting what is known of somebody.
#[derive(Clone, Debug, Args)]
#[group(id = "what", multiple = true)]
pub(crate) struct Set {
    #[command(flatten)]
    pub(crate) who: Who,
    /// The name they go by
    #[arg(long, value_name = "NAME", value_parser = line::<64>)]
    pub(crate) name: Option<Name>,
    /// What kind of thing it is
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<Kind>,
    /// How much the assistant likes them, -1 to 1
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = favorability)]
    pub(crate) favorability: Option<Favorability>,
    /// How far it believes them, 0 to 1
    #[arg(long, value_name = "SCORE", value_parser = trust)]
    pub(crate) trust: Option<Trust>,
    /// How well they know each other, 0 to 1
    #[arg(long, value_name = "SCORE", value_parser = rapport)]
    pub(crate) rapport: Option<Rapport>,
    /// How they talk: formal, casual, terse or another word
    #[arg(long, value_name = "WORD", value_parser = style)]
    pub(crate) style: Option<CommunicationStyle>,
    /// What they are like
    #[arg(long, value_name = "WORD", value_parser = line::<40>)]
    pub(crate) temperament: Option<Phrase>,
    /// What they care about; may be given several times
    #[arg(long, value_name = "WORD", value_parser = line::<64>)]
    pub(crate) interest: Vec<Keyword>,
    /// What they prefer, as in drink=tea; may be given several times
    #[arg(long, value_name = "SUBJECT=WHAT", value_parser = preference)]
    pub(crate) prefer: Vec<(Keyword, Preference)>,
}

/// What kind of thing an entity is, as a user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Somebody's character
    Player,
    /// A character of the world's, or another assistant
    Npc,
    /// A thing
    Object,
}

impl From<Kind> for EntityType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Player => Self::Player,
            Kind::Npc => Self::Npc,
            Kind::Object => Self::Object,
        }
    }
}

fn line<const CHARS: usize>(
    text: &str,
) -> Result<dormouse_entities::TextLine<CHARS>, TextLineError> {
    dormouse_entities::TextLine::try_new(text)
}

fn style(text: &str) -> Result<CommunicationStyle, TextLineError> {
    CommunicationStyle::try_from(text.to_owned())
}

/// A number that is no measure of a relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this takes a number from {least} to 1")]
pub(crate) struct NoMeasure {
    least: i8,
}

fn favorability(text: &str) -> Result<Favorability, NoMeasure> {
    let wrong = NoMeasure { least: -1 };
    let number = text.parse().map_err(|_no_number| wrong)?;
    Favorability::try_new(number).map_err(|_out_of_range| wrong)
}

fn rapport(text: &str) -> Result<Rapport, NoMeasure> {
    let wrong = NoMeasure { least: 0 };
    let number = text.parse().map_err(|_no_number| wrong)?;
    Rapport::try_new(number).map_err(|_out_of_range| wrong)
}

/// A text that is no preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoPreference {
    #[error("write a preference as in drink=tea")]
    Form,
    #[error(transparent)]
    Line(#[from] TextLineError),
}

fn preference(text: &str) -> Result<(Keyword, Preference), NoPreference> {
    let (subject, what) = text.split_once('=').ok_or(NoPreference::Form)?;
    let subject = Keyword::try_new(subject.trim())?;
    Ok((subject, Preference::try_new(what.trim())?))
}
