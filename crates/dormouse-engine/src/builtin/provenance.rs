//! The trust and the origin of a line that a model wants to keep.

use std::collections::BTreeSet;

use dormouse_contracts::{Attribution, Audience, Origin, Sources, Trust};
use dormouse_memory::MIN_TRUST;
use dormouse_retrieval::support::{
    AnalysedText, INFERRED, ShownText, SuppliedWord, Support, is_only_in_name, suppliers, support,
};
use serde_json::{Value, json};

use super::{
    accounts::CORROBORATED,
    shown::{ShownItem, own_words_before, own_words_in, shown, spoken},
};
use crate::{
    event::Call,
    privacy::audience_of_notes,
    render,
    results::named_origin,
    state::{State, Turn},
};

/// The most sources that one line may name.
pub(super) const MOST_SOURCES: usize = 8;

/// A word that this many people say identifies none of them.
const COMMON: usize = 3;

/// The sources of a line, and what follows from them: its trust, its attribution, and who may learn it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Provenance {
    pub(crate) trust: Trust,
    pub(crate) from: Attribution,
    pub(crate) origin: Origin,
    /// Its sources: those that it names, or the message that is answered, and all others that supply missing words or
    /// lower its trust. If there are too many, the least trusted are listed, but the trust depends on all.
    pub(crate) sources: Sources,
    /// Who may learn it: those who perceived everything that was shown, and so all of its sources.
    pub(crate) audience: Option<Audience>,
    /// Whether a part of it is not supplied by any shown text.
    pub(crate) is_inferred: bool,
    /// For the model: an unnamed source of a part of it that is trusted less than the named ones.
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

    /// Raises its trust as far as these independent accounts allow, and adds them to its sources.
    pub(super) fn corroborate(&mut self, accounts: &[Origin]) {
        self.trust = CORROBORATED;
        self.from = Attribution::Several;
        self.accounts = Some(accounts.len());
        let before = self.sources.as_slice();
        self.sources = accounts.iter().chain(before).copied().collect();
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

    /// What the model reads about a note that is always shown: its trust, and why that is low.
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

/// A trust score with two decimals, rounded down.
pub(crate) fn shown_score(trust: Trust) -> f64 {
    // Most scores are tenths, which have no exact form.
    (f64::from(trust.score()) * 100.0 + 1e-4).floor() / 100.0
}

/// A named source that was not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotShown(pub(crate) String);

/// The provenance of `text`, made from the named sources, or from what is being answered if none is named. `subject` is
/// the name of the person that it is about.
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
    // The words of the last step are the ones to judge, so they are not a source.
    let spoken = turn.steps.len().saturating_sub(1);
    of_items(
        text,
        subject,
        sources,
        (state, turn),
        &shown(state, turn, spoken),
    )
}

fn of_items(
    text: &str,
    subject: &str,
    sources: &[String],
    (state, turn): (&State, &Turn),
    items: &[ShownItem<'_>],
) -> Result<Provenance, NotShown> {
    let is_named = named(items, sources, turn)?;
    let (named, others): (Vec<_>, Vec<_>) = items
        .iter()
        .partition(|item| item.origin.is_some_and(|origin| is_named.contains(&origin)));
    let Support {
        trust,
        is_inferred,
        lowered_by,
        sources,
    } = support(text, subject, &texts(&named), &texts(&others));
    let mut more: Vec<_> = sources
        .iter()
        .filter_map(|place| others.get(*place))
        .collect();
    more.sort_by(|one, other| one.said.trust.score().total_cmp(&other.said.trust.score()));
    let sources = named.iter().chain(more).flat_map(|item| &item.rests_on);
    let sources = sources.copied().collect();
    let lowered = lowered_by.and_then(|index| others.get(index));
    let trigger = Origin::event(turn.trigger_seq());
    let (from, origin) = match lowered {
        Some(item) => (item.from.clone(), item.origin.unwrap_or(trigger)),
        None => of_all(&named, trigger),
    };
    // A line without a source is the assistant's own. A line that also has words of another text is not from its named
    // source alone.
    let from = match (is_inferred, lowered) {
        (true, None) => Attribution::Myself,
        (true, Some(_)) => Attribution::Several,
        (false, _) => from,
    };
    Ok(Provenance {
        trust,
        from,
        origin,
        sources,
        audience: audience_of_notes(state, turn),
        is_inferred,
        lowered_by: lowered.map(|item| described(item)),
        accounts: None,
    })
}

/// The sources of a line in an older log, which names none: found among what was shown in its turn.
pub(crate) fn sources_of_note(text: &str, state: &State, turn: &Turn) -> Sources {
    provenance(text, "", &[], state, turn)
        .map_or_else(|_| Sources::default(), |found| found.sources)
}

/// The trust of a reply when it is shown again, and the sources of its words.
pub(crate) fn support_of_reply(
    content: &str,
    calls: &[Call],
    state: &State,
    turn: &Turn,
) -> (Trust, Sources) {
    let items = shown(state, turn, turn.steps.len());
    let said: Vec<_> = calls.iter().map(|call| call.arguments.as_str()).collect();
    let said = format!("{content}\n{}", said.join("\n"));
    // What is being answered is always shown.
    let found = of_items(&said, "", &[], (state, turn), &items);
    let trust = found.map_or(Trust::NONE, |found| found.trust);
    let sources = sources_of_reply(content, calls, (state, turn), &items);
    (trust, sources)
}

/// The sources of a reply, other than the answered message: shown texts of others with a word that the reply repeats
/// and that neither the message nor the persona has. A model chooses most words of a reply itself. So a similar wording
/// is no evidence of a source, and neither is a word that the assistant used before or that three people use.
///
/// Of a text that the assistant or the program worded, the reply must repeat a name, a number or two words, because it
/// is unknown which of its words come from its sources.
fn sources_of_reply(
    content: &str,
    calls: &[Call],
    (state, turn): (&State, &Turn),
    items: &[ShownItem<'_>],
) -> Sources {
    let text = spoken(content, calls, |call| call);
    let trigger = Origin::event(turn.trigger_seq());
    let own: Vec<_> = own_words_before(state, turn)
        .chain(own_words_in(turn))
        .collect();
    let chosen = own.iter().filter_map(|own| own.chosen.as_ref());
    let persona = ShownText::text(Trust::FULL, &*state.configuration.persona).into();
    let answered = items.iter().filter(|item| item.origin == Some(trigger));
    let known = answered.map(|item| &item.said).chain(chosen);
    let known: Vec<_> = known.chain([&persona]).collect();
    let of_others = |item: &&ShownItem<'_>| {
        let is_own = item.from == Attribution::Myself && item.origin.is_none();
        !is_own && item.origin != Some(trigger) && item.from != Attribution::Surroundings
    };
    let others: Vec<_> = items.iter().filter(of_others).collect();
    let said = others.iter().map(|item| &item.said);
    let said: Vec<_> = said.chain(own.iter().map(|own| &own.said)).collect();
    let is_common = |word: &SuppliedWord| {
        let people = word.by.iter().filter_map(|at| others.get(*at)?.from.id());
        people.collect::<BTreeSet<_>>().len() >= COMMON
    };
    let is_of_person = |at: &usize| {
        let item = others.get(*at);
        item.is_some_and(|item| item.from.name().is_some())
    };
    let words = suppliers(&text, &known, &said).into_iter();
    let mut words: Vec<_> = words.filter(|word| !is_common(word)).collect();
    for word in &mut words {
        // A word comes from the person who said it first.
        let said = word.by.iter().filter(|at| is_of_person(at));
        if let Some(first) = said.min_by_key(|at| others.get(**at).and_then(|item| item.origin)) {
            word.by = BTreeSet::from([*first]);
        }
    }
    // A word that few people use is the best evidence.
    words.sort_by_key(|word| word.by.len());
    let repeats = |at: &usize| {
        let mut repeated = words.iter().filter(|word| word.by.contains(at));
        repeated.clone().any(|word| word.is_exact) || repeated.nth(1).is_some()
    };
    let rests_on = |at: &usize| match others.get(*at) {
        Some(item) if is_of_person(at) || repeats(at) => Some(item.rests_on.clone()),
        None if repeats(at) => {
            let own = own.get(at.checked_sub(others.len())?)?;
            let sources = own.sources.as_ref();
            sources.map(|sources| sources.as_slice().to_vec())
        }
        _ => None,
    };
    let all = words.iter().flat_map(|word| &word.by);
    all.filter_map(rests_on).flatten().collect()
}

/// The lowest trust of the shown names that contain a word of `call` which is in no message and no remembered line.
pub(crate) fn trust_in_names(call: &str, state: &State, turn: &Turn) -> Trust {
    let spoken = turn.steps.len().saturating_sub(1);
    let items = shown(state, turn, spoken);
    let (names, others): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.said.is_name);
    // Texts of the engine are skipped, because they repeat names.
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
        let is_shown = |origin: &Origin| {
            let mut shown = items.iter().filter(|item| item.was_shown);
            shown.any(|item| item.origin == Some(*origin))
        };
        origin
            .filter(is_shown)
            .ok_or_else(|| NotShown(source.clone()))
    });
    named.collect()
}

/// The attribution of something that was made from all of these.
fn of_all(named: &[&ShownItem<'_>], trigger: Origin) -> (Attribution, Origin) {
    match named {
        [] => (Attribution::Unknown, trigger),
        [first, rest @ ..] if rest.iter().all(|item| item.from.is_same_as(&first.from)) => {
            (first.from.clone(), first.origin.unwrap_or(trigger))
        }
        _ => (Attribution::Several, trigger),
    }
}

fn texts<'a, 'b>(items: &[&'a ShownItem<'b>]) -> Vec<&'a AnalysedText<'b>> {
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
