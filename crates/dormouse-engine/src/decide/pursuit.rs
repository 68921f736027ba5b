//! The end of a turn for a goal: what it did for the goal, and when the goal calls for the next one.

use std::time::Duration;

use dormouse_contracts::Timestamp;

use super::{action::Action, view::View};
use crate::{
    config::GoalSettings,
    event::{
        Event, GoalBlock, GoalMoment, GoalPursued, GoalStatus, Pursuit, StopReason, TickEnded,
    },
    state::{Goal, Goals, Turn},
};

/// The longest pause between two turns for a goal that does not come back.
const LONGEST_PAUSE: Duration = Duration::from_secs(86_400);

/// The same action; if it closes a turn for a goal, with the event that says what the turn did for it.
pub(super) fn with_end(view: View<'_>, turn: &Turn, action: Action) -> Action {
    let goals = &view.state.goals;
    let goal = turn.trigger.goal().and_then(|due| goals.get(due.id));
    match (goal, action) {
        (Some(goal), Action::Decide(decided)) => match decided.last() {
            Some(Event::TickEnded(TickEnded {
                reason,
                resume_at: None,
                ..
            })) => {
                let settings = &view.config().goals;
                let pursued = ended(goals, goal, *reason, settings, view.now);
                decided.before_last(Event::GoalPursued(pursued)).into()
            }
            _ => decided.into(),
        },
        (_, action) => action,
    }
}

fn ended(
    goals: &Goals,
    goal: &Goal,
    reason: StopReason,
    settings: &GoalSettings,
    now: Timestamp,
) -> GoalPursued {
    let begun = goal.turns.under_way.unwrap_or_default();
    let was_changed = |goal: &Goal| goal.changed > begun;
    let pursuit = match reason {
        _ if was_changed(goal) || goals.parts_of(goal.id).any(was_changed) => Pursuit::Progress,
        StopReason::GivenUp => Pursuit::Failed,
        _ => Pursuit::Nothing,
    };
    let blocked = block(goal, pursuit, settings);
    let next_at = match goal.status {
        GoalStatus::Open | GoalStatus::Waiting(_) if blocked.is_none() => {
            next_at(goal, pursuit, settings, now)
        }
        _ => None,
    };
    GoalPursued {
        id: goal.id,
        pursuit,
        next_at,
        blocked,
    }
}

/// Why the goal calls for no further turn, although nobody said so.
fn block(goal: &Goal, pursuit: Pursuit, settings: &GoalSettings) -> Option<GoalBlock> {
    let comes_back = goal.comes_back();
    let in_vain = goal.turns.in_vain.saturating_add(1);
    let taken = goal.turns.taken.saturating_add(1);
    match (&goal.status, pursuit) {
        (GoalStatus::Blocked(_) | GoalStatus::Done | GoalStatus::Dropped, _) => None,
        (_, Pursuit::Failed) if in_vain >= settings.attempts => Some(GoalBlock::Failures(in_vain)),
        // That there was nothing to do this time is no reason to give up what comes back.
        (_, Pursuit::Failed | Pursuit::Nothing | Pursuit::Progress) if comes_back => None,
        (_, Pursuit::Nothing) if in_vain >= settings.attempts => {
            Some(GoalBlock::NoProgress(in_vain))
        }
        _ if taken >= settings.turns => Some(GoalBlock::Endless(taken)),
        _ => None,
    }
}

/// When the goal calls for the next turn. Between two turns there is a pause, which doubles while they come to nothing.
fn next_at(
    goal: &Goal,
    pursuit: Pursuit,
    settings: &GoalSettings,
    now: Timestamp,
) -> Option<Timestamp> {
    let in_vain = match pursuit {
        Pursuit::Progress => 0,
        Pursuit::Nothing | Pursuit::Failed => goal.turns.in_vain,
    };
    let pause = Duration::from_secs(settings.retry_after_seconds.into());
    let pause = pause
        .saturating_mul(1 << in_vain.min(16))
        .min(LONGEST_PAUSE);
    let earliest = now.plus(pause);
    match (&goal.status, goal.moment, goal.turns.next_at) {
        // A call decided it in the turn.
        (_, _, Some(at)) => Some(at.max(earliest)),
        // It waits for somebody.
        (GoalStatus::Waiting(_), _, None) => None,
        (_, GoalMoment::Repeating { every, .. }, None) => Some(every.first_after(now)),
        (_, GoalMoment::At(_) | GoalMoment::Never, None) => Some(earliest),
    }
}
