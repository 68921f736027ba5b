//! What a prompt may show, by who hears the answer.

use std::{borrow::Cow, collections::BTreeSet};

use dormouse_contracts::{Audience, Timestamp, Trust};
use dormouse_journal::{Journal, JournalChange, PruneReason};

use crate::{
    builtin,
    config::Privacy,
    event::{GoalNote, SpokenWords, Verdict},
    state::{
        CallState, FinishedTurn, Goal, Heard, HistorySummary, Project, SelfNote, State, Trigger,
        Turn, TurnView,
    },
};

/// Who hears what is said in a turn, other than the assistant itself; `None` if everything may be told to everybody. Pure.
pub(crate) fn listeners(state: &State, turn: &Turn) -> Option<Audience> {
    // A turn of looking back or of sleep has no listeners, and its results are private.
    if state.configuration.settings.privacy == Privacy::Shared || turn.trigger.is_unheard() {
        return None;
    }
    let reached = turn.answer_reaches();
    let others = state.identities.own().fold(reached, Audience::without);
    // If no listener is known, somebody unknown may still hear the answer.
    let is_unknown = others == Audience::nobody();
    Some(if is_unknown { Audience::Public } else { others })
}

/// What the prompts of a turn may show in addition to the turn itself and to what was recalled for it, which the memory
/// filters in the same way. Everybody who hears the answer perceived it. Pure; takes time in proportion to the turns
/// and lines that a state keeps.
#[derive(Debug)]
pub(crate) struct Shareable<'a> {
    /// Finished turns, oldest first, without those that are left out.
    pub(crate) turns: Vec<&'a FinishedTurn>,
    /// Finished turns that are left out and that no summary replaces, oldest first.
    pub(crate) dropped: Vec<&'a FinishedTurn>,
    /// Summaries of turns that are left out, oldest first.
    pub(crate) summaries: Vec<&'a HistorySummary>,
    /// Overheard lines, oldest first.
    pub(crate) overheard: Vec<&'a Heard>,
    /// Goals, also those that were closed lately, by number.
    pub(crate) goals: Vec<KnownGoal<'a>>,
    /// Projects, by number.
    pub(crate) projects: Vec<KnownProject<'a>>,
    /// What it keeps for itself, by number.
    pub(crate) notes: Vec<&'a SelfNote>,
    /// Notes that were replaced or dropped since the last reply. The prompt of that reply may have shown them.
    pub(crate) replaced: Vec<&'a GoalNote>,
}

/// A goal that everybody who listens perceived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownGoal<'a> {
    pub(crate) goal: &'a Goal,
    /// What was noted about it, if they perceived that as well.
    pub(crate) note: Option<&'a GoalNote>,
}

/// A project that everybody who listens perceived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownProject<'a> {
    pub(crate) project: &'a Project,
    /// Where it stands, if they perceived that as well.
    pub(crate) context: Option<&'a GoalNote>,
}

impl KnownProject<'_> {
    /// The lowest trust of its texts.
    pub(crate) fn least_trust(&self) -> Trust {
        let summary = self.project.summary.trust;
        self.context
            .map_or(summary, |context| summary.lowest(context.trust))
    }
}

impl<'a> Shareable<'a> {
    pub(crate) fn of(state: &'a State, turn: &Turn) -> Self {
        let listeners = listeners(state, turn);
        let listeners = listeners.map(|all| renamed(&all, state));
        let covers = |audience: &Audience| {
            let listeners = listeners.as_ref();
            listeners.is_none_or(|all| match state.identities.has_merged() {
                true => renamed(audience, state).covers(all),
                false => audience.covers(all),
            })
        };
        let knows = |note: &GoalNote| covers(&note.audience);
        let is_kept = listeners.is_some();
        let is_compacted = state.configuration.settings.compaction.is_on;
        let turns = state.history.turns();
        let turns = turns.filter(|turn| !is_kept || covers(turn.known_to()));
        let is_shown = |turn: &&FinishedTurn| !is_compacted || turn.view != TurnView::Dropped;
        let (turns, mut dropped): (Vec<_>, Vec<_>) = turns.partition(is_shown);
        let summaries = state.compactions.summaries();
        let summaries: Vec<_> = summaries
            .filter(|made| is_compacted && (!is_kept || covers(&made.audience)))
            .collect();
        let summed_up = summaries.iter().flat_map(|made| &made.span.turns);
        let summed_up: BTreeSet<_> = summed_up.collect();
        dropped.retain(|turn| !summed_up.contains(&turn.trigger_seq()));
        let lines = state.overheard.shown();
        Self {
            turns,
            dropped,
            summaries,
            overheard: lines
                .filter(|line| !is_kept || covers(&line.known_to()))
                .collect(),
            goals: (state.goals.iter())
                .filter(|goal| knows(&goal.description))
                .map(|goal| KnownGoal {
                    goal,
                    note: goal.note.as_ref().filter(|note| knows(note)),
                })
                .collect(),
            projects: (state.projects.iter())
                .filter(|project| knows(&project.summary))
                .map(|project| KnownProject {
                    project,
                    context: project.context.as_ref().filter(|note| knows(note)),
                })
                .collect(),
            notes: (state.self_notes.iter())
                .filter(|kept| knows(&kept.note))
                .collect(),
            replaced: (state.goals.replaced().iter())
                .chain(state.projects.replaced())
                .chain(state.self_notes.dropped())
                .filter(|note| knows(note))
                .collect(),
        }
    }
}

/// The journal as far as everybody who listens perceived it, and how many entries that leaves out. Pure.
pub(crate) fn known_journal<'a>(state: &'a State, turn: &Turn) -> (Cow<'a, Journal>, usize) {
    let all = state.journal.journal();
    let Some(listeners) = listeners(state, turn) else {
        return (Cow::Borrowed(all), 0);
    };
    let listeners = renamed(&listeners, state);
    let covers = |audience: &Audience| {
        *audience == Audience::Public || renamed(audience, state).covers(&listeners)
    };
    let entries = all.entries();
    let hidden: Vec<_> = entries
        .filter(|entry| !covers(&entry.provenance.audience))
        .map(|entry| entry.id)
        .collect();
    if hidden.is_empty() {
        return (Cow::Borrowed(all), 0);
    }
    let (mut known, withheld) = (all.clone(), hidden.len());
    // A private repetition of an entry is hidden, too.
    let unlinked = hidden
        .iter()
        .map(|entry| JournalChange::Unlinked { entry: *entry });
    let mut changes: Vec<_> = unlinked.collect();
    changes.push(JournalChange::Pruned {
        entries: hidden,
        reason: PruneReason::Faded,
    });
    for change in &changes {
        // This cannot fail, because the entries exist.
        let _done = known.apply(change, Timestamp::EPOCH);
    }
    (Cow::Owned(known), withheld)
}

/// Who may hear what is made of a prompt; `None` if anybody may. `shown` is who perceived each part of it that is not of
/// the turn itself, absent for parts with an unknown audience, which were chosen for the listeners.
///
/// The words may repeat everything that was shown, so it is those who perceived all of it: a message that was said to
/// the assistant alone, `shown`, the steps before, and what these looked up in the memory. A message that others heard
/// as well
/// is answered where it was said, no matter who has come there, so it does not count. Pure.
pub(crate) fn may_hear<'a>(
    state: &State,
    turn: &Turn,
    shown: impl Iterator<Item = Option<Cow<'a, Audience>>>,
) -> Option<Audience> {
    let listeners = renamed(&listeners(state, turn)?, state);
    let of_listeners = |is_so: bool| is_so.then_some(Cow::Borrowed(&listeners));
    let looked_up = |call: &CallState| {
        let is_own = builtin::is_own(&call.call.name);
        of_listeners(is_own && call.verdict == Some(Verdict::Success))
    };
    let steps = turn.shown_steps();
    let done = steps.flat_map(|step| {
        let results = step.calls.iter().filter_map(looked_up);
        let within = step.within.as_ref().map(Cow::Borrowed);
        within.into_iter().chain(results)
    });
    let message = match turn.trigger.goal() {
        // Even if no listener is known, nobody else may hear it.
        Some(goal) => Some(Cow::Borrowed(&goal.description.audience)),
        None => of_listeners(turn.trigger.is_for_one()),
    };
    let shown = shown
        .map(|known_to: Option<Cow<'_, Audience>>| known_to.unwrap_or(Cow::Borrowed(&listeners)));
    let parts = shown.chain(done).chain(message);
    let all = parts.fold(Audience::Public, |all, part| {
        let part = match state.identities.has_merged() {
            true => Cow::Owned(renamed(&part, state)),
            false => part,
        };
        // Nearly all parts have the same audience, so this is the fast path.
        match part.covers(&all) {
            true => all,
            false => all.intersection(&part),
        }
    });
    (all != Audience::Public).then(|| state.identities.all_of(&all))
}

/// Who may hear the words of an act; `None` if anybody may. An act that does not answer where the message was said may repeat
/// the message to others, so these must have perceived it. Pure.
pub(crate) fn within(state: &State, turn: &Turn, is_answer: bool) -> Option<Audience> {
    let step = turn.steps.last()?;
    if state.configuration.settings.privacy == Privacy::Shared || step.is_of_the_engine() {
        return None;
    }
    let known_to = turn.trigger.known_to();
    if is_answer || turn.message().is_none() || known_to == Audience::Public {
        return step.within.clone();
    }
    let made_from = step.within.as_ref().unwrap_or(&Audience::Public);
    let all = renamed(made_from, state).intersection(&renamed(&known_to, state));
    Some(state.identities.all_of(&all))
}

/// Who perceived all of these turns, other than the assistant. Pure.
pub(crate) fn known_to_all<'a>(
    state: &State,
    turns: impl IntoIterator<Item = &'a Turn>,
) -> Audience {
    let known_to = turns.into_iter().map(Turn::known_to);
    let all = known_to.fold(Audience::Public, |all, one| {
        all.intersection(&renamed(&one, state))
    });
    match all {
        Audience::Public => all,
        _ => state.identities.all_of(&all),
    }
}

fn renamed(audience: &Audience, state: &State) -> Audience {
    audience.renamed(|id| state.identities.id_of(id))
}

/// Who may learn what is made in a turn, as far as that is recorded. Pure.
pub(crate) fn audience_of_notes(state: &State, turn: &Turn) -> Option<Audience> {
    let is_kept = state.configuration.settings.privacy == Privacy::Kept;
    is_kept.then(|| turn.known_to())
}

/// Who may learn what an act says. What is said to one person is known to that person alone. Pure.
pub(crate) fn audience_of_act(
    state: &State,
    turn: &Turn,
    said: Option<SpokenWords<'_>>,
) -> Option<Audience> {
    let known_to = audience_of_notes(state, turn)?;
    let private = said.filter(SpokenWords::is_private);
    let Some(to) = private.and_then(|said| said.to) else {
        return Some(known_to);
    };
    let by_name = state.people.attribution(to);
    let id = match is_addressed(&turn.trigger, to) {
        true => turn.trigger.entity(),
        false => by_name.id(),
    };
    let listener: Audience = id.cloned().into_iter().collect();
    Some(known_to.intersection(&listener))
}

/// Whether a name is that of the sender, or of the person to whom something was promised.
fn is_addressed(trigger: &Trigger, name: &str) -> bool {
    let sender = trigger
        .message()
        .map(|heard| heard.perception.attested.sender.name());
    let promised = trigger.promise().map(|(name, _)| name);
    let known = sender.or(promised);
    known.is_some_and(|known| known.to_lowercase() == name.to_lowercase())
}
