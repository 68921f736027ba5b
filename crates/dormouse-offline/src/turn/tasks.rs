//! The turns about tasks between assistants.

use dormouse_contracts::{AssistantTask, TaskReport};
use dormouse_text::shortened;

use super::{Steps, failed, full_stop, recall};
use crate::{
    act::Act,
    done::Outcome,
    errand,
    intent::{Intent, recognise},
    memories,
    persona::Character,
    phrasing::{LONGEST_ANSWER, plain, tame},
    place,
};

/// Answers the task of another assistant with what the memory, or a look around, has about it.
pub(super) fn answer(task: &str, character: &Character, steps: &Steps<'_>) -> Act {
    let question = errand::question(task);
    let intent = recognise(question, &[&character.name]);
    let look = match intent {
        Intent::Look => Act::call("inspect_location", []),
        _ => recall(&shortened(question, 500)),
    };
    if let Some(look) = steps.if_fresh(look) {
        return look;
    }
    let result = match (intent, steps.outcome("recall_memories")) {
        (Intent::Look, _) => match steps.outcome("inspect_location") {
            Some(Outcome::Success(place)) => place::describe(&place),
            Some(other) => failed("I could not look around", &other),
            None => "I have no way to look around here.".to_owned(),
        },
        (_, Some(Outcome::Success(result))) => memories::found(question, &result),
        (_, Some(other)) => failed("I could not search my memory", &other),
        (_, None) => "I have no way to search my memory here.".to_owned(),
    };
    let result = shortened(&result, LONGEST_ANSWER);
    let answer = Act::call("answer_task", [("result", &*result)]);
    steps.if_fresh(answer).unwrap_or_else(|| steps.rest())
}

/// Reports the result of a task to the one who wanted to know it.
pub(super) fn pass_on(task: &AssistantTask, report: &TaskReport, steps: &Steps<'_>) -> Act {
    let (Some(asker), what) = errand::asked(&task.task) else {
        return steps.rest();
    };
    let other = task.other.as_ref().map(|other| plain(other.as_str()));
    let other = other.as_deref().unwrap_or("The other one");
    let words = match report {
        TaskReport::Done(result) => {
            let result = full_stop(&tame(result));
            format!(
                "{}, {other} says about what you wanted to know: {result}",
                plain(asker)
            )
        }
        TaskReport::NotDone(why) => {
            let (what, why) = (full_stop(&tame(what)), tame(why));
            format!(
                "{}, I got no answer, because {why}. You wanted to know: {what}",
                plain(asker)
            )
        }
    };
    let words = shortened(&words, LONGEST_ANSWER);
    steps.tell_in_private(asker, &words)
}
