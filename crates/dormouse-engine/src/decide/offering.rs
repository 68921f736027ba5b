//! Choosing the tools that prompts offer, where the definitions of all of them take more tokens than they may.

use dormouse_contracts::ToolName;
use serde_json::json;

use super::{
    action::Decided,
    calls::{answer, failure, skip, success},
    view::View,
};
use crate::{
    catalogue::{Catalogue, FOUND, Needs},
    event::{Event, OfferCause, ToolsOffered, Verdict},
    privacy::Shareable,
    state::{CallState, Step, Turn},
};

/// How many tools that were called lately have to be offered, and how far back they are looked for, in turns.
const CALLED: usize = 6;
const TURNS: usize = 10;
/// How many tools that were found in one turn have to be offered.
const FOUND_IN_TURN: usize = 2 * FOUND;

/// What a call comes to whose tool the model was not shown when it made the call. The call is not carried out, even if its
/// arguments fit: the model has not read what the tool does, and the name may come from a text that somebody wrote.
const NOT_SHOWN: &str = "not done: this tool was not shown to you when you called it. It is from your next step on: read what it does, and call it \
                         again if that is what you mean";
const TOO_LONG: &str = "this tool cannot be offered: its definition alone takes more tokens than tools.definition_tokens allows";

/// The event before a request to the model, if a turn needs other tools than those that are offered.
pub(crate) fn of(view: View<'_>, turn: &Turn) -> Option<Event> {
    let catalogue = view.catalogue?;
    let found = view.state.offered_tools.found_in(turn.trigger_seq());
    offered(view, turn, catalogue, OfferCause::Turn, found.to_vec())
}

/// What a search for tools comes to.
pub(super) fn searched(view: View<'_>, call: &CallState, query: &str) -> Decided {
    let Some((turn, catalogue)) = view.state.turns.current().zip(view.catalogue) else {
        // Without a catalogue all tools are shown, and there is no such tool.
        return answer(view, call, Verdict::Failure, failure("all tools are shown")).into();
    };
    let found = catalogue.search(query);
    let names: Vec<_> = found.iter().map(|it| it.name.clone()).collect();
    let event = with_found(view, turn, catalogue, OfferCause::Search, &names);
    let chosen = match &event {
        Some(Event::ToolsOffered(it)) => &it.tools[..],
        _ => view.state.offered_tools.tools(),
    };
    let (shown, too_many): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|tool| chosen.contains(tool.name));
    let tools: Vec<_> = shown
        .iter()
        .map(|it| json!({"tool": it.name, "does": it.line}))
        .collect();
    let mut result = json!({"tools": tools, "searched": catalogue.len()});
    if let Some(fields) = result.as_object_mut() {
        if tools.is_empty() {
            let hint = "nothing matches; say it in other words, such as what is read or changed";
            fields.insert("hint".to_owned(), hint.into());
        }
        if !too_many.is_empty() {
            let names: Vec<_> = too_many.iter().map(|it| it.name).collect();
            fields.insert("no_room_for".to_owned(), json!(names));
        }
    }
    let answer = answer(view, call, Verdict::Success, success(&result));
    Decided::after(event.into_iter().collect(), answer)
}

/// What a call comes to if the model was not shown its tool; `None` if it was.
pub(super) fn not_shown(view: View<'_>, turn: &Turn, call: &CallState) -> Option<Decided> {
    let catalogue = view.catalogue?;
    let name = call.call.name.as_str();
    let offered = &view.state.offered_tools;
    if !catalogue.has(name) {
        return None;
    }
    let is_offered = (catalogue.fitting(offered.tools()).iter()).any(|it| it.as_str() == name);
    if is_offered && !offered.is_unseen(name) {
        return None;
    }
    if !catalogue.has_room_for(name) {
        return Some(answer(view, call, Verdict::Failure, failure(TOO_LONG)).into());
    }
    let named: Vec<_> = ToolName::try_new(name).into_iter().collect();
    let event = with_found(view, turn, catalogue, OfferCause::Call, &named);
    let events = event.into_iter().collect();
    Some(Decided::after(events, skip(view, call, NOT_SHOWN)))
}

/// The event that these tools are offered, too.
fn with_found(
    view: View<'_>,
    turn: &Turn,
    catalogue: &Catalogue,
    cause: OfferCause,
    names: &[ToolName],
) -> Option<Event> {
    let before = view.state.offered_tools.found_in(turn.trigger_seq());
    let before = before.iter().filter(|it| !names.contains(it));
    let found = names.iter().chain(before).take(FOUND_IN_TURN);
    offered(view, turn, catalogue, cause, found.cloned().collect())
}

/// The event that other tools are offered, if that changes anything.
fn offered(
    view: View<'_>,
    turn: &Turn,
    catalogue: &Catalogue,
    cause: OfferCause,
    found: Vec<ToolName>,
) -> Option<Event> {
    let now = &view.state.offered_tools;
    let needs = Needs {
        found,
        called: called(view, turn, catalogue),
        about: turn.trigger.words(),
    };
    let tools = catalogue.choose(&needs, now.tools());
    let is_known = now.last().is_some()
        && tools == catalogue.fitting(now.tools())
        && needs.found == now.found_in(turn.trigger_seq());
    if is_known {
        return None;
    }
    let left_out = catalogue.len().saturating_sub(tools.len());
    Some(Event::ToolsOffered(ToolsOffered {
        trigger: turn.trigger_seq(),
        cause,
        found: needs.found,
        left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
        tokens: catalogue.tokens(&tools),
        tools,
    }))
}

/// The tools that were called lately in this turn and in those before it that everybody who listens perceived, the latest first.
fn called(view: View<'_>, turn: &Turn, catalogue: &Catalogue) -> Vec<ToolName> {
    let shareable = Shareable::of(view.state, turn);
    let earlier = shareable.turns.iter().rev().take(TURNS).map(|it| &***it);
    let steps = [turn].into_iter().chain(earlier);
    let steps = steps.flat_map(|turn: &Turn| turn.own_steps().rev());
    let calls = steps.flat_map(|step: &Step| step.calls.iter().rev());
    let made = calls.filter(|call| call.verdict == Some(Verdict::Success));
    let mut names: Vec<ToolName> = Vec::new();
    for call in made {
        let name = call.call.name.as_str();
        if names.len() >= CALLED {
            break;
        }
        if catalogue.has(name)
            && !names.iter().any(|it| it.as_str() == name)
            && let Ok(name) = ToolName::try_new(name)
        {
            names.push(name);
        }
    }
    names
}
