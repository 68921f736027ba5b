//! `dormouse goal`: what the assistant means to reach.

use clap::{Args, Subcommand};
use dormouse_contracts::{Audience, Clock, EntityId, Timestamp};
use dormouse_engine::{
    Event, Goal, GoalBlock, GoalError, GoalId, GoalMoment, GoalNote, GoalStatus, GoalUpdated,
    Goals, NewGoal, Recurrence, USUAL_PRIORITY,
};
use dormouse_host::SystemClock;
use serde_json::{Value, json};

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, Places, Whose, author, moment, say,
        view_state, whole,
    },
    exit::Exit,
};

/// The goals of an assistant.
#[derive(Debug, Subcommand)]
pub(crate) enum GoalCommand {
    /// Print the goals as a tree
    List {
        #[command(flatten)]
        of: Whose,
        /// Also list those that were closed lately
        #[arg(long)]
        closed: bool,
        /// The id of a person: list only goals that this person may know
        #[arg(long = "for", value_name = "ID")]
        listener: Option<EntityId>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print everything known about a goal
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Set a goal. The assistant may tell everybody about it
    Add {
        #[command(flatten)]
        of: Whose,
        /// What the assistant should achieve
        #[arg(value_name = "TEXT")]
        text: String,
        /// How important it is, 1 to 10
        #[arg(long, value_name = "N", default_value_t = USUAL_PRIORITY, value_parser = whole::<u8>(1..=10))]
        priority: u8,
        /// The goal that it is a part of
        #[arg(long, value_name = "GOAL", value_parser = whole::<u32>(0..=u32::MAX.into()))]
        parent: Option<u32>,
        #[command(flatten)]
        when: When,
    },
    /// Change a goal
    Set {
        #[command(flatten)]
        which: Which,
        /// How important it is, 1 to 10
        #[arg(long, value_name = "N", value_parser = whole::<u8>(1..=10))]
        priority: Option<u8>,
        /// The goal that it is a part of; 0 for none
        #[arg(long, value_name = "GOAL", value_parser = whole::<u32>(0..=u32::MAX.into()))]
        parent: Option<u32>,
        #[command(flatten)]
        when: When,
        /// Open it again if it waits, or was blocked or closed
        #[arg(long, conflicts_with_all = ["wait", "block"])]
        open: bool,
        /// Let it wait until this time
        #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with = "block")]
        wait: Option<Timestamp>,
        /// Block it, for this reason
        #[arg(long, value_name = "TEXT")]
        block: Option<String>,
    },
    /// Drop a goal and its parts: it is not wanted any more
    Drop {
        #[command(flatten)]
        which: Which,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Mark a goal as reached
    Done {
        #[command(flatten)]
        which: Which,
        /// The result
        #[arg(long, value_name = "TEXT")]
        outcome: Option<String>,
    },
}

/// One goal of an assistant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    #[command(flatten)]
    of: Whose,
    /// Its number
    #[arg(value_name = "GOAL", value_parser = whole::<u32>(1..=u32::MAX.into()))]
    goal: u32,
}

/// When a goal calls for a turn by itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct When {
    /// The assistant pursues it at this time, without a message
    #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with = "every")]
    due: Option<Timestamp>,
    /// It recurs: "daily 20:00", "weekly mon 08:00" or "every 2 hours", in UTC
    #[arg(long, value_name = "WHEN")]
    every: Option<Recurrence>,
}

impl CommandFailure for GoalError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Prints the goals, or changes them by an event that says who did it.
pub(crate) fn run(places: &Places, command: GoalCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let change = |of: Whose, change: &dyn Fn(&Goals) -> Result<Vec<Event>, GoalError>| {
        let log = AssistantLog::open(places, &data, of.assistant)?;
        let decided = log.append_decided(|state| change(&state.goals))??;
        Ok::<_, CommandError>(decided.events)
    };
    match command {
        GoalCommand::List {
            of,
            closed,
            listener,
            json,
        } => {
            let (_, state) = view_state(places, &data, of.assistant, json.printing())?;
            return list(&state.goals, closed, listener, json);
        }
        GoalCommand::Show { which, json } => {
            let Which { of, goal } = which;
            let (_, state) = view_state(places, &data, of.assistant, json.printing())?;
            let goal = GoalId(goal);
            let goal = state.goals.get(goal).ok_or(GoalError::Unknown(goal))?;
            let line = as_json(&state.goals, goal);
            json.printing().print(&line, || text(&state.goals, goal))?;
        }
        GoalCommand::Add {
            of,
            text,
            priority,
            parent,
            when,
        } => {
            let events = change(of, &|goals| {
                let goal = NewGoal {
                    description: GoalNote::by_operator(&text),
                    priority,
                    parent: parent.map(GoalId),
                    moment: when.moment()?.unwrap_or_default(),
                };
                let created = goals.create(goal, author())?;
                Ok(vec![Event::GoalCreated(created)])
            })?;
            if let [Event::GoalCreated(created)] = &*events {
                say(&format!("goal {} is set", created.id))?;
            }
        }
        GoalCommand::Set {
            which,
            priority,
            parent,
            when,
            open,
            wait,
            block,
        } => {
            let id = GoalId(which.goal);
            change(which.of, &|goals| {
                let status = match (open, wait) {
                    (true, _) => Some(GoalStatus::Open),
                    (false, Some(until)) => {
                        Some(GoalStatus::waiting_until(until, SystemClock.now())?)
                    }
                    (false, None) => {
                        let blocked = GoalStatus::Blocked(GoalBlock::Reported);
                        block.as_ref().map(|_| blocked)
                    }
                };
                let updated = GoalUpdated {
                    status,
                    priority,
                    parent_id: parent.map(GoalId),
                    moment: when.moment()?,
                    note: block.as_deref().map(GoalNote::by_operator),
                    ..GoalUpdated::of(id, author())
                };
                Ok(vec![Event::GoalUpdated(goals.update(updated)?)])
            })?;
            say(&format!("goal {id} is changed"))?;
        }
        GoalCommand::Drop { which, reason } => {
            let id = GoalId(which.goal);
            change(which.of, &|goals| {
                let updated = GoalUpdated {
                    status: Some(GoalStatus::Dropped),
                    note: reason.as_deref().map(GoalNote::by_operator),
                    ..GoalUpdated::of(id, author())
                };
                Ok(vec![Event::GoalUpdated(goals.update(updated)?)])
            })?;
            say(&format!("goal {id} and its parts are dropped"))?;
        }
        GoalCommand::Done { which, outcome } => {
            let id = GoalId(which.goal);
            let events = change(which.of, &|goals| {
                let outcome = outcome.as_deref().map(GoalNote::by_operator);
                let completed = goals.complete(id, outcome, &author())?;
                Ok(completed.into_iter().map(Event::GoalCompleted).collect())
            })?;
            let above = match events.len() {
                1 => "",
                _ => ", and so is each goal of which it was the last part",
            };
            say(&format!("goal {id} is done{above}"))?;
        }
    }
    Ok(Exit::Success)
}

impl When {
    /// The moment, if one is given.
    fn moment(&self) -> Result<Option<GoalMoment>, GoalError> {
        if self.due.is_none() && self.every.is_none() {
            return Ok(None);
        }
        GoalMoment::of(self.due, self.every, SystemClock.now()).map(Some)
    }
}

/// The goals, each after the goal that it is a part of.
fn list(
    goals: &Goals,
    closed: bool,
    listener: Option<EntityId>,
    json: JsonFlag,
) -> Result<Exit, CommandError> {
    let printing = json.printing();
    let listener = listener.and_then(|id| Audience::of([id]));
    let may_know = |goal: &Goal| {
        let mut notes = [Some(&goal.description), goal.note.as_ref()]
            .into_iter()
            .flatten();
        listener
            .as_ref()
            .is_none_or(|listener| notes.all(|note| note.audience.covers(listener)))
    };
    let mut waiting: Vec<&Goal> = goals
        .iter()
        .filter(|goal| goals.above(goal.id).next().is_none())
        .collect();
    waiting.reverse();
    let mut any = false;
    while let Some(goal) = waiting.pop() {
        let parts: Vec<_> = goals.children_of(goal.id).collect();
        waiting.extend(parts.into_iter().rev());
        if (goal.is_open() || closed) && may_know(goal) {
            any = true;
            let deep = "  ".repeat(goals.above(goal.id).count());
            let line = as_json(goals, goal);
            printing.print(&line, || format!("{deep}{}", text(goals, goal)))?;
        }
    }
    if !any && printing == crate::command::Printing::Text {
        say("no goal")?;
    }
    Ok(Exit::Success)
}

fn text(goals: &Goals, goal: &Goal) -> String {
    let mut text = format!(
        "{} [{}] {} (priority {}, trust {}",
        goal.id,
        goal.status.to_text(),
        goal.description.text,
        goal.priority,
        goal.description.trust,
    );
    if let GoalMoment::Repeating { every, .. } = goal.moment {
        text += &format!(", {every}");
    }
    if let Some(at) = goal.turns.next_at {
        text += &format!(", next at {at}");
    }
    if let Some((done, of)) = goals.progress(goal.id) {
        text += &format!(", {done} of {of} parts done");
    }
    text += ")";
    if let Some(note) = &goal.note {
        text += &format!(": {}", note.text);
    }
    text
}

fn as_json(goals: &Goals, goal: &Goal) -> Value {
    let progress = goals.progress(goal.id);
    let repeats = match goal.moment {
        GoalMoment::Repeating { every, .. } => Some(every),
        GoalMoment::Never | GoalMoment::At(_) => None,
    };
    json!({
        "type": "goal",
        "goal": goal.id,
        "event": goal.seq,
        "created_at": goal.created_at.to_string(),
        "parent": goal.parent,
        "description": goal.description,
        "priority": goal.priority,
        "status": goal.status,
        "repeats": repeats,
        "next_at": goal.turns.next_at.map(|at| at.to_string()),
        "note": goal.note,
        "parts_done": progress.map(|(done, _)| done),
        "parts": progress.map(|(_, of)| of),
        "turns": goal.turns.taken,
        "turns_in_vain": goal.turns.in_vain,
        "version": goals.version(),
    })
}
