//! How far a line is believed that a model wants to keep, and whom it comes from.

use dormouse_contracts::{Attribution, Origin, Trust};
use dormouse_memory::MIN_TRUST;
use dormouse_retrieval::support::{INFERRED, ShownText, Support, is_only_in_name, support};
use serde_json::{Value, json};

use super::{
    accounts::CORROBORATED,
    shown::{ShownItem, shown},
};
use crate::{
    render,
    state::{State, Turn},
};

/// The most sources that one line may name.
pub(super) const MOST_SOURCES: usize = 8;

/// How far a line is believed, whom it comes from, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Provenance {
    pub(crate) trust: Trust,
    pub(crate) from: Attribution,
    pub(crate) origin: Origin,
    /// Whether nothing that was shown supplies a part of it.
    pub(crate) is_inferred: bool,
    /// What else supplies a part of it and is trusted less than its named sources, for the model to read.
    pub(crate) lowered_by: Option<String>,
    /// How many independent accounts made it more credible, if they did.
    pub(crate) accounts: Option<usize>,
}

impl Provenance {
    /// Treats it as a conclusion, even if shown texts supply all its words.
    pub(super) fn infer(&mut self) {
        if !self.is_inferred && self.lowered_by.is_none() {
            self.from = Attribution::Myself;
        }
        self.is_inferred = true;
        self.trust = self.trust.lowest(INFERRED);
    }

    /// Believes it as far as this many independent accounts allow.
    pub(super) fn corroborate(&mut self, accounts: usize) {
        self.trust = CORROBORATED;
        self.from = Attribution::Several;
        self.accounts = Some(accounts);
    }

    /// What the model reads about the note: its trust, whether default recall finds it, and why not.
    pub(super) fn belief(&self) -> Value {
        self.with_why(json!({
            "trust": shown_score(self.trust),
            "recalled_by_default": self.trust >= MIN_TRUST,
        }))
    }

    /// What the model reads about a judgement: its trust, whether it changes anything, and why not.
    pub(super) fn applied(&self) -> Value {
        self.with_why(json!({
            "trust": shown_score(self.trust),
            "applied": self.trust >= MIN_TRUST,
        }))
    }

    /// What the model reads about what is always shown: its trust, and why that is low.
    pub(super) fn shown(&self) -> Value {
        self.with_why(json!({"trust": shown_score(self.trust)}))
    }

    fn with_why(&self, mut belief: Value) -> Value {
        let why = match &self.lowered_by {
            _ if self.accounts.is_some() => self.accounts.map(|accounts| {
                format!("{accounts} people say so who did not hear it from each other here")
            }),
            Some(source) => Some(format!(
                "believed like {source}: it holds words that its named sources lack"
            )),
            None if self.is_inferred => {
                Some("part of it is in nothing that you were shown".to_owned())
            }
            None => None,
        };
        if let (Some(why), Value::Object(fields)) = (why, &mut belief) {
            fields.insert("why".to_owned(), why.into());
        }
        belief
    }
}

/// A trust score in two digits, never higher than it is.
pub(crate) fn shown_score(trust: Trust) -> f64 {
    // Most scores are tenths, which have no exact form.
    (f64::from(trust.score()) * 100.0 + 1e-4).floor() / 100.0
}

/// The event that an id in the form of the prompt names.
pub(super) fn named_origin(id: &str) -> Option<Origin> {
    id.trim().trim_start_matches('#').parse().ok()
}

/// A source that was named, and was not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotShown(pub(crate) String);

/// The provenance of `text`, made from the named sources, or from what is being answered if none is named. `subject`
/// is the name of whom it is noted about.
///
/// # Errors
///
/// [`NotShown`] if a named source is not among what the prompts of this turn show.
pub(crate) fn provenance(
    text: &str,
    subject: &str,
    sources: &[String],
    state: &State,
    turn: &Turn,
) -> Result<Provenance, NotShown> {
    // The words of the last step are what is judged.
    let spoken = turn.steps.len().saturating_sub(1);
    of_items(text, subject, sources, turn, shown(state, turn, spoken))
}

fn of_items(
    text: &str,
    subject: &str,
    sources: &[String],
    turn: &Turn,
    items: Vec<ShownItem<'_>>,
) -> Result<Provenance, NotShown> {
    let is_named = named(&items, sources, turn)?;
    let (named, others): (Vec<_>, Vec<_>) = items
        .into_iter()
        .partition(|item| item.origin.is_some_and(|origin| is_named.contains(&origin)));
    let Support {
        trust,
        is_inferred,
        lowered_by,
    } = support(text, subject, &texts(&named), &texts(&others));
    let lowered = lowered_by.and_then(|index| others.get(index));
    let trigger = Origin::event(turn.trigger_seq());
    let (from, origin) = match lowered {
        Some(item) => (item.from.clone(), item.origin.unwrap_or(trigger)),
        None => of_all(&named, trigger),
    };
    // What nobody said is the assistant's own; what was made of the words of another text as well is not that alone.
    let from = match (is_inferred, lowered) {
        (true, None) => Attribution::Myself,
        (true, Some(_)) => Attribution::Several,
        (false, _) => from,
    };
    Ok(Provenance {
        trust,
        from,
        origin,
        is_inferred,
        lowered_by: lowered.map(described),
        accounts: None,
    })
}

/// How far the text of a reply is believed when it is shown again.
pub(crate) fn trust_of_reply(text: &str, state: &State, turn: &Turn) -> Trust {
    let items = shown(state, turn, turn.steps.len());
    // What is being answered is always shown.
    of_items(text, "", &[], turn, items).map_or(Trust::NONE, |found| found.trust)
}

/// The lowest trust of everything that the prompt of the next step shows. Names do not count: there are some in every
/// prompt.
pub(crate) fn least_trusted(state: &State, turn: &Turn) -> Trust {
    let items = shown(state, turn, turn.steps.len()).into_iter();
    items
        .filter(|item| !item.said.is_name)
        .map(|item| item.said.trust)
        .fold(Trust::FULL, Trust::lowest)
}

/// The lowest trust of the names that the prompt of the last step showed and that say a word of `call` which no message
/// and no remembered line says.
pub(crate) fn trust_in_names(call: &str, state: &State, turn: &Turn) -> Trust {
    let spoken = turn.steps.len().saturating_sub(1);
    let items = shown(state, turn, spoken);
    let (names, others): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.said.is_name);
    // What the engine wrote repeats names.
    let others: Vec<_> = others
        .into_iter()
        .filter(|item| item.origin.is_some())
        .collect();
    let others = texts(&others);
    let only = names
        .iter()
        .filter(|name| is_only_in_name(call, &name.said, &others));
    only.map(|name| name.said.trust)
        .fold(Trust::FULL, Trust::lowest)
}

fn named(
    items: &[ShownItem<'_>],
    sources: &[String],
    turn: &Turn,
) -> Result<Vec<Origin>, NotShown> {
    if sources.is_empty() {
        return Ok(vec![Origin::event(turn.trigger_seq())]);
    }
    let named = sources.iter().map(|source| {
        let origin = named_origin(source);
        let is_shown = |origin: &Origin| items.iter().any(|item| item.origin == Some(*origin));
        origin
            .filter(is_shown)
            .ok_or_else(|| NotShown(source.clone()))
    });
    named.collect()
}

/// Whom something comes from that was made from all of these.
fn of_all(named: &[ShownItem<'_>], trigger: Origin) -> (Attribution, Origin) {
    match named {
        [] => (Attribution::Unknown, trigger),
        [first, rest @ ..] if rest.iter().all(|item| item.from.is_same_as(&first.from)) => {
            (first.from.clone(), first.origin.unwrap_or(trigger))
        }
        _ => (Attribution::Several, trigger),
    }
}

fn texts<'a>(items: &'a [ShownItem<'a>]) -> Vec<&'a ShownText<'a>> {
    items.iter().map(|item| &item.said).collect()
}

fn described(item: &ShownItem<'_>) -> String {
    let from = render::name(&item.from);
    if item.said.is_name {
        return "a name that was shown".to_owned();
    }
    match item.origin {
        Some(origin) => format!("#{origin} from {from}"),
        None => format!("what was shown from {from}"),
    }
}
