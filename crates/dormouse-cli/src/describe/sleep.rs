//! Nights in words.

use dormouse_engine::{
    Activity, Event, FellAsleep, GoalNote, NightProbed, NightStepped, ProbeResult, ProbeStage,
    Status, StepOutcome, WakeCause, WokeUp,
};

use super::{excerpt, second};
use crate::grammar::counted;

/// An event about sleep; empty for any other event.
pub(super) fn of(event: &Event) -> String {
    match event {
        Event::FellAsleep(FellAsleep {
            night,
            author,
            until,
            reason,
        }) => {
            let reason = said(reason.as_ref());
            format!(
                "night {night}, by {author}, until {}{reason}",
                second(*until)
            )
        }
        Event::NightStepped(NightStepped {
            night,
            step,
            outcome,
            ..
        }) => format!("night {night}, {step}: {}", came_to(outcome)),
        Event::NightProbed(NightProbed { night, step, stage }) => {
            format!("night {night}, {step}: {}", answered(stage))
        }
        Event::WokeUp(WokeUp {
            night,
            cause,
            reason,
        }) => {
            let reason = said(reason.as_ref());
            format!("from night {night}: {}{reason}", woken_by(cause))
        }
        _ => String::new(),
    }
}

fn said(reason: Option<&GoalNote>) -> String {
    let reason = reason.map(|reason| format!(": {}", excerpt(&reason.text)));
    reason.unwrap_or_default()
}

fn came_to(outcome: &StepOutcome) -> String {
    match outcome {
        StepOutcome::GoesOn => "goes on".to_owned(),
        StepOutcome::Done => "done".to_owned(),
        StepOutcome::Failed(why) => format!("failed: {why}"),
        StepOutcome::OverBudget => "the budget is spent".to_owned(),
        StepOutcome::TakenBack(result) => taken_back(result),
        _ => "of a kind that this version does not know".to_owned(),
    }
}

fn answered(stage: &ProbeStage) -> String {
    let (when, answered): (_, Vec<bool>) = match stage {
        ProbeStage::Before(answers) => {
            let answered = answers.iter().map(|answer| answer.answered);
            ("before", answered.collect())
        }
        ProbeStage::After { answered, .. } => ("afterwards", answered.clone()),
        _ => return "of a kind that this version does not know".to_owned(),
    };
    let found = answered.iter().filter(|answered| **answered).count();
    let asked = u64::try_from(answered.len()).unwrap_or(u64::MAX);
    let asked = counted(asked, "question", "questions");
    format!("{when}, the memory finds the evidence for {found} of {asked}")
}

/// Why a piece of work was taken back.
pub(crate) fn taken_back(result: &ProbeResult) -> String {
    let ProbeResult {
        asked,
        before,
        after,
        kept,
    } = result;
    let kept = match kept {
        0 => String::new(),
        _ => format!(
            "; {} could not be taken back, because something followed from it",
            counted(u64::from(*kept), "change", "changes")
        ),
    };
    format!(
        "taken back, because afterwards the memory found the evidence for {after} of {}, before for {before}{kept}",
        counted(u64::from(*asked), "question", "questions"),
    )
}

/// Why it woke.
pub(crate) fn woken_by(cause: &WakeCause) -> String {
    match cause {
        WakeCause::Time => "its time had come".to_owned(),
        WakeCause::Message(seq) => format!("message {seq}"),
        WakeCause::Operator(who) => format!("woken by {who}"),
        WakeCause::Tool(call) => format!("by itself, by call {call}"),
        WakeCause::AllDone => "all work was done".to_owned(),
        _ => "of a kind that this version does not know".to_owned(),
    }
}

/// What a status says about sleep.
pub(super) fn status(status: &Status) -> String {
    match (&status.activity, status.sleep_phase, status.falls_asleep_at) {
        (Activity::Asleep { is_working, .. }, Some(phase), _) => {
            let work = match is_working {
                true => ", at work",
                false => "",
            };
            format!("; {phase}{work}")
        }
        (_, _, Some(at)) => format!(
            "; falls asleep at {}, {} used since it woke",
            second(at),
            counted(status.activity_since_wake, "tool", "tools"),
        ),
        _ => String::new(),
    }
}
