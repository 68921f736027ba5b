//! Texts that the model reads.
//!
//! A message has one line that the world vouches for, in brackets. After it comes what somebody wrote, each line behind
//! `> `. No outside text can imitate the first line, and no name can extend or end it.

mod name;
mod quote;

use dormouse_contracts::{Attested, Attribution, Origin, Perception, Sender, SourceKind, Trust};
use dormouse_text::{NameSkeleton, escape_id, escape_template_tokens, one_line};

use name::plain;
use quote::quote;

use crate::{
    event::{GoalMoment, GoalNote, GoalStatus, GoalWait, NameDoubt, RecalledLine},
    privacy::KnownGoal,
    state::{Goals, Project, SelfNote},
};

/// The name of the assistant in its own memories.
pub(crate) const YOU: &str = "you";
/// The name for a person whose name in the world is "You".
const NAMED_YOU: &str = "someone called You";
/// The word for a person without a name.
const SOMEONE: &str = "someone";
/// The most characters of a remembered line that are shown.
const LINE: usize = 2_000;

/// A word for who something comes from: a name, `you` for the assistant itself, or what is known instead of a name.
pub(crate) fn name(from: &Attribution) -> &str {
    match from {
        Attribution::Myself => YOU,
        Attribution::Entity { name, .. } | Attribution::Named(name) => somebody(name),
        Attribution::Surroundings => "the surroundings",
        Attribution::Several => "several",
        Attribution::Unknown => SOMEONE,
    }
}

/// The name of another person, which never passes for the assistant itself.
pub(crate) fn somebody(name: &str) -> &str {
    if NameSkeleton::of(name).is_confusable_with(&NameSkeleton::of(YOU)) {
        NAMED_YOU
    } else {
        name
    }
}

/// A message as the model reads it. At most `max_chars` characters of the text are shown, including the marks before
/// its lines; a note says what is left out.
pub(crate) fn perception(
    id: Origin,
    perception: &Perception,
    trust: Trust,
    doubts: &[NameDoubt],
    max_chars: usize,
) -> String {
    let mut text = headline(id, &perception.attested, trust, doubts);
    let quoted = quote(perception.words.as_claimed(), max_chars);
    text.push_str(&quoted.text);
    if quoted.blank_lines_left_out > 0 {
        text.push_str(&format!(
            "\n({} more blank lines are not shown)",
            quoted.blank_lines_left_out
        ));
    }
    if quoted.bytes_left_out > 0 {
        text.push_str(&format!(
            "\n(the message goes on for {} more bytes, which are not shown)",
            quoted.bytes_left_out
        ));
    }
    text
}

/// A text that a model wrote, each line behind a mark.
pub(crate) fn quoted(text: &str) -> String {
    quote(text, LINE).text
}

/// A remembered line as the model reads it: `(#12 HOW "NAME" (ID) in "PLACE", trust 0.90, TIME)`, and what was said or
/// noted. Round brackets distinguish it from a message that waits.
pub(crate) fn memory(line: &RecalledLine) -> String {
    let from = match line.from.name().map(|name| plain(somebody(name))) {
        None => name(&line.from).to_owned(),
        Some(name) if name.is_empty() => SOMEONE.to_owned(),
        Some(name) => format!("\"{name}\""),
    };
    let id = line.from.id().map(|id| escape_id(id.as_str()));
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    let place = place(line).map(|place| format!(" in \"{place}\""));
    let place = place.unwrap_or_default();
    let (trust, at) = (line.trust, line.at);
    let said = quote(&line.text, LINE);
    let goes_on = match said.bytes_left_out {
        0 => "",
        _ => "\n(it goes on)",
    };
    // It is certain that somebody said it, but not that it is true. So the model must see that it is a quotation and
    // not a fact.
    let how = match &line.heard {
        Some(heard) => format!("{} of", heard_as(heard)),
        None => "noted from".to_owned(),
    };
    format!(
        "(#{} {how} {from}{id}{place}, trust {trust}, {at}){}{goes_on}",
        line.record, said.text
    )
}

/// A goal as the model reads it, in one line: `> goal 3 (#12, priority 7, open, daily 20:00, next TIME, trust 0.90):
/// WORDS`, indented by its depth in the tree.
pub(crate) fn goal(goals: &Goals, known: KnownGoal<'_>) -> String {
    let goal = known.goal;
    let deep = "  ".repeat(goals.above(goal.id).count());
    let progress = goals.progress(goal.id);
    let progress = progress.map(|(done, of)| format!(", {done} of {of} parts done"));
    let moment = match goal.moment {
        GoalMoment::Repeating { every, .. } => format!(", {every}"),
        GoalMoment::Never | GoalMoment::At(_) => String::new(),
    };
    let next = goal.turns.next_at.map(|at| format!(", next {at}"));
    let note = known.note.map(|note| {
        let (text, trust) = (words(&note.text), note.trust);
        format!(" (noted, trust {trust}: {text})")
    });
    format!(
        "> {deep}goal {} (#{}, priority {}, {}{moment}{}{}, trust {}): {}{}",
        goal.id,
        goal.seq,
        goal.priority,
        goal_status(&goal.status),
        next.unwrap_or_default(),
        progress.unwrap_or_default(),
        goal.description.trust,
        words(&goal.description.text),
        note.unwrap_or_default(),
    )
}

/// A project as the model reads it, in one line: `> project-2 (#9, active, trust 0.90): WORDS`.
pub(crate) fn project(project: &Project) -> String {
    let Project {
        id,
        seq,
        status,
        summary,
        ..
    } = project;
    let trust = summary.trust;
    format!(
        "> {id} (#{seq}, {status}, trust {trust}): {}",
        words(&summary.text)
    )
}

/// The state of a project, in the line below it.
pub(crate) fn project_context(context: &GoalNote) -> String {
    let trust = context.trust;
    format!(">   it stands (trust {trust}): {}", words(&context.text))
}

/// An own note of the assistant, in one line: `> fact 4 (#12, trust 0.90): WORDS`.
pub(crate) fn self_note(kept: &SelfNote) -> String {
    let SelfNote {
        id,
        seq,
        kind,
        note,
        ..
    } = kept;
    let trust = note.trust;
    format!(
        "> {kind} {id} (#{seq}, trust {trust}): {}",
        words(&note.text)
    )
}

fn words(text: &str) -> String {
    one_line(&escape_template_tokens(text))
}

/// The status of a goal. The person for whom it waits is not named, because not everybody who knows the goal may know
/// that.
pub(crate) fn goal_status(status: &GoalStatus) -> String {
    match status {
        GoalStatus::Waiting(GoalWait::Heard(_)) => "waiting for somebody to be heard".to_owned(),
        status => status.to_text(),
    }
}

/// `[#12 HOW from "NAME" (ID), trust 0.90, TIME]`, and `(ID; DOUBT; DOUBT)` if the name is suspicious. The name is in
/// quotation marks, and neither it nor the id can contain a quotation mark, a bracket, a comma or a semicolon. No two
/// ids look the same.
fn headline(origin: Origin, attested: &Attested, trust: Trust, doubts: &[NameDoubt]) -> String {
    let how = match &attested.source {
        SourceKind::Whisper => "whisper".to_owned(),
        SourceKind::Page => "page".to_owned(),
        SourceKind::Addressed => "words".to_owned(),
        SourceKind::Channel(channel) => format!("channel \"{}\"", plain(channel.as_str())),
        SourceKind::Say => "say".to_owned(),
        SourceKind::Pose => "pose".to_owned(),
        SourceKind::Movement => "movement".to_owned(),
        SourceKind::Emit => "emit".to_owned(),
        SourceKind::CommandOutput => "output".to_owned(),
        _ => "message".to_owned(),
    };
    let sender = &attested.sender;
    let id = sender.id().map(|id| escape_id(id.as_str()));
    let doubts: String = doubts.iter().map(|doubt| format!("; {doubt}")).collect();
    let id = id.map(|id| format!(" ({id}{doubts})"));
    let id = id.unwrap_or_default();
    let name = sender_name(sender);
    format!(
        "[#{origin} {how} from \"{name}\"{id}, trust {trust}, {}]",
        attested.at
    )
}

/// The name of the place where something was said, safe like the name of a speaker. A note has no place.
pub(crate) fn place(line: &RecalledLine) -> Option<String> {
    let place = line.place.as_deref().filter(|_| line.heard.is_some());
    place.map(plain).filter(|place| !place.is_empty())
}

/// How somebody's words were said, as a short text.
pub(crate) fn heard_as(source: &SourceKind) -> String {
    match source {
        SourceKind::Whisper => "whisper".to_owned(),
        SourceKind::Page => "page".to_owned(),
        SourceKind::Addressed => "words to you".to_owned(),
        SourceKind::Channel(channel) => format!("words on channel \"{}\"", plain(channel.as_str())),
        SourceKind::Say => "words aloud".to_owned(),
        SourceKind::Pose => "pose".to_owned(),
        SourceKind::Emit => "emit".to_owned(),
        SourceKind::CommandOutput => "output".to_owned(),
        _ => "message".to_owned(),
    }
}

fn sender_name(sender: &Sender) -> String {
    let name = plain(sender.name());
    if name.is_empty() {
        SOMEONE.to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests;
