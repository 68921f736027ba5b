//! The part of an assistant's knowledge that its delegate is shown.

use std::cmp::Reverse;

use dormouse_contracts::{Audience, Origin, Seq, Sources, Trust};
use dormouse_text::{beginning, escape_template_tokens, one_line};

use crate::{
    builtin,
    config::Privacy,
    event::DelegatedWords,
    execution::Insulation,
    privacy::Shareable,
    render,
    state::{State, Step, Trigger, Turn},
};

/// The most goals in a briefing, for the insulation `none` and for `delegate`.
const GOALS: usize = 10;
const TOP_GOALS: usize = 3;
/// The most turns in a briefing, with the one under way.
const TURNS: usize = 6;
/// The most characters of one line.
const LINE: usize = 300;

/// A line of a briefing, with its trust, audience and sources.
struct Line {
    text: String,
    trust: Trust,
    audience: Audience,
    /// What it goes back to.
    rests_on: Vec<Origin>,
}

/// What a delegate is shown with a task that is given in this turn: only what all listeners of the turn perceived. If
/// the turn itself shows only trusted text, goals and earlier turns are left out. Its trust is the lowest of all its
/// parts; its audience is those who perceived all of them. Returns also the sources of the parts.
pub(crate) fn briefing(
    state: &State,
    turn: &Turn,
    insulation: Insulation,
) -> Option<(DelegatedWords, Sources)> {
    let (goals, turns) = match insulation {
        Insulation::None => (GOALS, TURNS),
        Insulation::Orchestrator => return None,
        Insulation::Delegate => (TOP_GOALS, 0),
    };
    let shareable = Shareable::of(state, turn);
    let mut open: Vec<_> = shareable
        .goals
        .iter()
        .filter(|it| it.goal.is_open())
        .collect();
    open.sort_by_key(|it| (Reverse(it.goal.priority), it.goal.id));
    let goals = open.into_iter().take(goals).map(|it| {
        let note = &it.goal.description;
        Line {
            text: format!("means to: {}", line(&note.text)),
            trust: note.trust,
            audience: note.audience.clone(),
            rests_on: with_event(it.goal.seq, &note.sources),
        }
    });
    let earlier = match turn.is_careful() {
        true => 0,
        false => turns.saturating_sub(1),
    };
    let skipped = shareable.turns.len().saturating_sub(earlier);
    let earlier = shareable.turns.iter().skip(skipped).map(|turn| &***turn);
    let talk = earlier.chain((turns > 0).then_some(turn)).flat_map(talk);
    let mut lines: Vec<_> = match turn.is_careful() {
        true => talk.collect(),
        false => goals.chain(talk).collect(),
    };
    if insulation == Insulation::None {
        lines.push(situation(state));
    }
    let first = lines.first()?;
    let (mut trust, mut audience) = (first.trust, first.audience.clone());
    for more in lines.iter().skip(1) {
        trust = trust.lowest(more.trust);
        audience = audience.intersection(&more.audience);
    }
    let sources = lines.iter().flat_map(|it| &it.rests_on).copied().collect();
    let lines: Vec<_> = lines.iter().map(|it| format!("> {}", it.text)).collect();
    let is_kept = state.configuration.settings.privacy == Privacy::Kept;
    let words = DelegatedWords {
        text: lines.join("\n"),
        trust,
        audience: is_kept.then(|| {
            let own = state.identities.own();
            own.fold(audience, Audience::without)
        }),
    };
    Some((words, sources))
}

/// What was said in a turn, and what the assistant answered.
fn talk(turn: &Turn) -> Vec<Line> {
    let heard = Line {
        text: match &turn.trigger {
            Trigger::Message(heard) => {
                let from = (&heard.perception.attested.sender).into();
                let words = heard.perception.words.as_claimed();
                format!("{} said: {}", render::name(&from), line(words))
            }
            Trigger::Occasion(occasion) => line(&occasion.text),
        },
        trust: turn.trigger.trust(),
        audience: turn.trigger.known_to(),
        rests_on: vec![Origin::event(turn.trigger_seq())],
    };
    let nothing = Sources::default();
    let answered = |step: &Step| {
        let said = builtin::spoken(&step.content, &step.calls, |it| &it.call);
        let said = line(&said);
        (!said.is_empty()).then(|| Line {
            text: format!("answered: {said}"),
            trust: step.trust,
            audience: turn.known_to(),
            rests_on: with_event(
                turn.trigger_seq(),
                step.sources.as_ref().unwrap_or(&nothing),
            ),
        })
    };
    let answers = turn.shown_steps().filter_map(answered);
    [heard].into_iter().chain(answers).collect()
}

/// The state of the assistant, in the program's words.
fn situation(state: &State) -> Line {
    let limits = &state.configuration.settings.limits;
    Line {
        text: format!(
            "is awake, and reads at most {} tokens at once",
            limits.max_context_tokens()
        ),
        trust: Trust::FULL,
        audience: Audience::Public,
        rests_on: Vec::new(),
    }
}

/// An event and its own sources.
fn with_event(event: Seq, sources: &Sources) -> Vec<Origin> {
    let event = [Origin::event(event)].into_iter();
    event.chain(sources.as_slice().iter().copied()).collect()
}

fn line(text: &str) -> String {
    beginning(&one_line(&escape_template_tokens(text)), LINE).to_owned()
}
