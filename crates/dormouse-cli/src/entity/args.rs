//! The command line of `dormouse entity`.

use clap::{Args, Subcommand, ValueEnum};
use dormouse_contracts::{EntityId, Trust};
use dormouse_entities::{
    CommunicationStyle, EntityType, Favorability, Keyword, Name, ObservationSource,
    ObservationText, Phrase, Preference, ProfileEdit, Rapport, TextLineError,
};

use crate::command::{JsonFlag, trust, whole};

/// The entities that the assistant knows.
#[derive(Debug, Subcommand)]
pub(crate) enum Entity {
    /// Print all entities, one per line
    List {
        /// Only those with a current conversation on this topic
        #[arg(long, value_name = "TOPIC")]
        topic: Option<String>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print everything known about an entity
    Show(Who),
    /// Create an entity
    Create {
        /// Its id in the world
        #[arg(value_name = "ID")]
        id: EntityId,
        /// Its name
        #[arg(value_name = "NAME", value_parser = line::<64>)]
        name: Name,
        /// Its type
        #[arg(long = "type", value_name = "TYPE", default_value = "player")]
        kind: Kind,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Add an observation about an entity
    Observe {
        #[command(flatten)]
        who: Who,
        /// The observation
        #[arg(value_name = "TEXT", value_parser = line::<500>)]
        text: ObservationText,
        /// The source of the observation, in one word
        #[arg(long, value_name = "WORD", default_value = "direct", value_parser = line::<32>)]
        source: ObservationSource,
        /// How far it is trusted, 0 to 1
        #[arg(long, value_name = "SCORE", default_value = "1", value_parser = trust)]
        trust: Trust,
    },
    /// Add or remove another name of an entity
    Alias {
        #[command(flatten)]
        who: Who,
        /// The other name
        #[arg(value_name = "NAME", value_parser = line::<64>)]
        alias: Name,
        /// Remove the name instead of adding it
        #[arg(long)]
        remove: bool,
    },
    /// Merge two entities that are the same
    Merge {
        /// The entity that becomes part of the other
        #[arg(value_name = "FROM")]
        from: String,
        /// The entity that stays
        #[arg(value_name = "INTO")]
        into: String,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Undo a merge
    Unmerge(Exactly),
    /// Set what is known about an entity
    Set(Box<Set>),
    /// Delete an entity; `restore` brings it back
    Delete(Who),
    /// Restore a deleted entity
    Restore(Exactly),
    /// Print the part of the prompt that describes entities
    Block {
        /// The maximum number of tokens for it
        #[arg(long, value_name = "N", default_value_t = 1024, value_parser = whole::<u32>(1..=u32::MAX.into()))]
        tokens: u32,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// One entity, by id or name.
#[derive(Clone, Debug, Args)]
pub(crate) struct Who {
    /// Its id, or a name that no other entity has
    #[arg(value_name = "WHO")]
    pub(crate) who: String,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// One entity, by id.
#[derive(Clone, Debug, Args)]
pub(crate) struct Exactly {
    /// The id
    #[arg(value_name = "ID")]
    pub(crate) id: EntityId,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Setting what is known about an entity.
#[derive(Clone, Debug, Args)]
#[group(id = "what", multiple = true)]
pub(crate) struct Set {
    #[command(flatten)]
    pub(crate) who: Who,
    /// Its name
    #[arg(long, value_name = "NAME", value_parser = line::<64>)]
    pub(crate) name: Option<Name>,
    /// Its type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<Kind>,
    /// How much the assistant likes them, -1 to 1
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = favorability)]
    pub(crate) favorability: Option<Favorability>,
    /// How far the assistant trusts them, 0 to 1
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

impl Set {
    /// What is set.
    pub(crate) fn edit(self) -> ProfileEdit {
        ProfileEdit {
            name: self.name,
            entity_type: self.kind.map(Into::into),
            favorability: self.favorability,
            trust: self.trust,
            rapport: self.rapport,
            communication_style: self.style,
            temperament: self.temperament,
            interests: self.interest,
            preferences: self.prefer.into_iter().collect(),
        }
    }
}

/// The type of an entity, as a user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A person's character
    Player,
    /// A character of the world, or another assistant
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

/// A number outside the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number from {least} to 1")]
pub(crate) struct OutOfScale {
    least: i8,
}

fn favorability(text: &str) -> Result<Favorability, OutOfScale> {
    let wrong = OutOfScale { least: -1 };
    let number = text.parse().map_err(|_no_number| wrong)?;
    Favorability::try_new(number).map_err(|_out_of_range| wrong)
}

fn rapport(text: &str) -> Result<Rapport, OutOfScale> {
    let wrong = OutOfScale { least: 0 };
    let number = text.parse().map_err(|_no_number| wrong)?;
    Rapport::try_new(number).map_err(|_out_of_range| wrong)
}

/// A text that is not a preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PreferenceError {
    #[error("expected SUBJECT=WHAT, as in drink=tea")]
    Form,
    #[error(transparent)]
    Line(#[from] TextLineError),
}

fn preference(text: &str) -> Result<(Keyword, Preference), PreferenceError> {
    let (subject, what) = text.split_once('=').ok_or(PreferenceError::Form)?;
    let subject = Keyword::try_new(subject.trim())?;
    Ok((subject, Preference::try_new(what.trim())?))
}
