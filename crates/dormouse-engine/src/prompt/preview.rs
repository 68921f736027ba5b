//! A prompt as people see it: its parts with their tokens, why they are there, and what is left out.

use dormouse_contracts::{Message, Seq, TokenCounter, ToolName, ToolSpec};
use serde::Serialize;

use super::{
    Offer, Preamble, Prompt, Room, build, choose,
    component::{COMPONENTS, Component, PartRole},
    conversation::Conversation,
    goals, own,
    parts::{Part, Sources},
};
use crate::{
    config::Settings,
    decide::low_line,
    event::ContextType,
    privacy::Shareable,
    state::{State, Turn},
};

/// A prompt as people see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptPreview {
    /// The event up to which the log is read.
    pub seq: Seq,
    /// The kind of tick.
    pub context: ContextType,
    /// Which prompt it is.
    pub of: PreviewOf,
    /// How many tokens it takes.
    pub tokens: u32,
    /// The size of the context window.
    pub window: u32,
    /// The hash of the request, as in the event `replied`.
    pub hash: String,
    /// Its parts, in their order.
    pub parts: Vec<PreviewPart>,
    /// The tools that it offers.
    pub tools: Vec<ToolName>,
    /// What is left out or withheld, and why.
    pub left_out: Vec<OmittedPart>,
    /// What seems to be wrong with it.
    pub findings: Vec<String>,
}

/// Which prompt a preview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewOf {
    /// The prompt that the model got, or gets next.
    Call,
    /// The first one of a tick that has not begun: the memory is not searched yet.
    NextTick,
    /// The prompt for an imagined occasion, because no real one waits.
    Imagined,
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PreviewPart {
    /// Its number.
    pub id: u16,
    /// Its name.
    pub key: String,
    /// Who speaks in it.
    pub role: PartRole,
    /// Whether it is the same in each prompt until the configuration changes.
    pub is_static: bool,
    /// How many tokens its text takes.
    pub tokens: u32,
    /// Why it is there.
    pub why: String,
    /// The text.
    pub text: String,
}

/// Something that a prompt does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OmittedPart {
    /// The part that it belongs to.
    pub part: String,
    /// What, and why.
    pub why: String,
}

/// The tools that a kind of tick allows.
pub(crate) struct KnownTools<'a> {
    /// Those that are offered if there is room for them.
    pub(crate) known: Vec<&'a ToolSpec>,
    /// Those that were not chosen, because all definitions together exceed the limit of tokens.
    pub(crate) unchosen: Vec<&'a ToolSpec>,
}

/// A prompt for the next step of `turn`, with its parts.
pub(crate) fn preview(
    (state, of): (&State, PreviewOf),
    turn: &Turn,
    preamble: &Preamble,
    offer: Offer,
    allowed: &KnownTools<'_>,
) -> PromptPreview {
    let prompt = build(state, turn, preamble, offer);
    let room = Room::of(state, preamble);
    let shareable = Shareable::of(state, turn);
    let choice = choose(state, &shareable, turn, preamble, room, 0);
    let cap = choice.goals_cap;
    let goals = goals::part(state, &shareable, turn, cap, &*preamble.counter);
    let own = own::part(&shareable, turn, choice.own_cap, &*preamble.counter);
    let low = state.ledger.of_turn().and_then(low_line);
    let sources = Sources {
        state,
        turn,
        shareable: &shareable,
        goals: goals.as_ref(),
        own: own.as_ref(),
        low: low.as_deref(),
        choice,
        preamble,
    };
    let settings = &state.configuration.settings;
    let offered = preamble.offered(offer);
    let counter = &*preamble.counter;
    let mut parts: Vec<PreviewPart> = Vec::new();
    for part in &offered.system {
        let text = part.text.clone();
        parts.push(shown((part.id, &part.key), text, Place::System, counter));
    }
    for part in sources.parts(offered) {
        let text = text_of(&part, settings, preamble);
        match parts.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.key == part.key && last.role != PartRole::System => {
                last.text = format!("{}\n\n{text}", last.text);
                last.tokens = counter.count(&last.text).tokens;
            }
            _ => parts.push(shown((part.id, part.key), text, Place::Behind, counter)),
        }
    }
    let listed = prompt.request.tools.iter().map(|tool| tool.name.clone());
    let tools: Vec<_> = listed.chain(offered.listed.iter().cloned()).collect();
    let mut left_out = left_out(state, &sources, &prompt, &parts);
    let names = allowed.known.iter().map(|tool| &tool.name);
    let no_room = names.filter(|name| !tools.contains(name));
    let no_room: Vec<_> = no_room.map(ToolName::as_str).collect();
    if offer == Offer::All && !no_room.is_empty() {
        left_out.push(OmittedPart {
            part: "tools".to_owned(),
            why: format!(
                "{} have no room in a prompt of {} tokens: {}",
                no_room.len(),
                room.whole(),
                no_room.join(", ")
            ),
        });
    }
    if !allowed.unchosen.is_empty() {
        let names = allowed.unchosen.iter().map(|tool| tool.name.as_str());
        let names: Vec<_> = names.collect();
        left_out.push(OmittedPart {
            part: "tools".to_owned(),
            why: format!(
                "{} are not shown, because definitions may take {} tokens (tools.definition_tokens); tool_search finds them: {}",
                names.len(),
                settings.tool_tokens,
                names.join(", ")
            ),
        });
    }
    PromptPreview {
        seq: state.seq,
        context: turn.context,
        of,
        tokens: prompt.tokens,
        window: room.window(),
        hash: prompt.hash(),
        left_out,
        parts,
        tools,
        findings: findings(&state.configuration.settings, preamble),
    }
}

/// The place of a part in the request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the system message.
    System,
    Behind,
}

fn shown(
    (id, key): (u16, &str),
    text: String,
    place: Place,
    counter: &dyn TokenCounter,
) -> PreviewPart {
    let row = Component::of_key(key).map(Component::row);
    let (role, why) = match (place, row) {
        (Place::System, row) => (PartRole::System, row.map(|row| row.why)),
        // Own notes belong to the part about the character, but they are not instructions, so they are shown in the
        // role of the user.
        (Place::Behind, Some(row)) if row.role == PartRole::System => {
            (PartRole::User, Some("what it keeps for itself"))
        }
        (Place::Behind, row) => (
            row.map_or(PartRole::User, |row| row.role),
            row.map(|row| row.why),
        ),
    };
    PreviewPart {
        id,
        key: key.to_owned(),
        role,
        is_static: row.is_none_or(|row| row.is_static && role == PartRole::System),
        tokens: counter.count(&text).tokens,
        why: match why {
            Some(why) => why.to_owned(),
            None => format!("configured as prompt.components.{key}"),
        },
        text,
    }
}

/// The text of a part. Words, calls and results of the model are marked as such.
fn text_of(part: &Part<'_>, settings: &Settings, preamble: &Preamble) -> String {
    let mut conversation = Conversation::default();
    part.add_to(&mut conversation, settings.tool_calling, preamble);
    let texts = conversation
        .into_messages()
        .into_iter()
        .map(|message| match message {
            Message::Assistant {
                content,
                tool_calls,
            } => {
                let calls = tool_calls.into_iter();
                let calls = calls.map(|call| format!("[call {} {}]", call.name, call.arguments));
                let said = (!content.is_empty()).then(|| format!("[assistant] {content}"));
                said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
            }
            Message::Tool { content, .. } => format!("[result] {content}"),
            Message::System { content } | Message::User { content } => content,
            _ => String::new(),
        });
    texts.collect::<Vec<_>>().join("\n")
}

fn left_out(
    state: &State,
    sources: &Sources<'_>,
    prompt: &Prompt,
    parts: &[PreviewPart],
) -> Vec<OmittedPart> {
    let Sources {
        turn,
        shareable,
        choice,
        preamble,
        ..
    } = *sources;
    let mut out = Vec::new();
    let mut note = |part: &str, count: usize, why: &str| {
        if count > 0 {
            let why = format!("{count} {why}");
            out.push(OmittedPart {
                part: part.to_owned(),
                why,
            });
        }
    };
    let (history, buffer) = (shareable.turns.len(), shareable.overheard.len());
    let key = |component: Component| component.row().key;
    let turns_key = key(Component::ConversationHistory);
    let lines_key = key(Component::ContextBuffer);
    let memories = key(Component::SemanticMemories);
    note(
        turns_key,
        history.saturating_sub(choice.turns),
        "earlier turns have no room or are switched off",
    );
    let kept = state.history.turns().count();
    note(
        turns_key,
        kept.saturating_sub(history),
        "earlier turns are withheld: not everybody who hears the answer perceived them",
    );
    note(
        lines_key,
        buffer.saturating_sub(choice.lines),
        "overheard lines have no room or are switched off",
    );
    let kept = state.overheard.shown().count();
    note(
        lines_key,
        kept.saturating_sub(buffer),
        "overheard lines are withheld: not everybody who hears the answer perceived them",
    );
    note(
        memories,
        prompt.omitted.records.len(),
        "remembered lines have no room or are switched off",
    );
    let withheld = turn
        .recollected
        .as_ref()
        .map_or(0, |found| found.withheld.len());
    note(
        memories,
        withheld,
        "remembered lines are withheld: not everybody who hears the answer perceived them",
    );
    out.extend(preamble.too_long.iter().map(|(key, tokens)| OmittedPart {
        part: key.clone(),
        why: format!("it takes {tokens} tokens, which is more than its budget"),
    }));
    let is_there = |key: &str| parts.iter().any(|part| part.key == key);
    let absent = COMPONENTS.iter().filter(|row| !is_there(row.key));
    out.extend(absent.map(|row| OmittedPart {
        part: row.key.to_owned(),
        why: match preamble.shows(row.component) {
            true => "there is nothing in it".to_owned(),
            false => "it is switched off, or not part of this context".to_owned(),
        },
    }));
    out
}

/// What seems to be wrong with the prompts of a configuration: empty parts, overrun budgets, contradictions.
pub(crate) fn findings(settings: &Settings, preamble: &Preamble) -> Vec<String> {
    let mut found = Vec::new();
    let prompt = &settings.prompt;
    for (key, tokens) in &preamble.too_long {
        found.push(format!(
            "prompt.components.{key} takes {tokens} tokens, which is more than its budget, and is left out"
        ));
    }
    for (key, config) in &prompt.components {
        if config
            .text
            .as_deref()
            .is_some_and(|text| text.trim().is_empty())
        {
            found.push(format!("prompt.components.{key} is empty"));
        }
    }
    let offered = preamble.offered(Offer::All);
    for part in offered
        .system
        .iter()
        .filter(|part| part.text.trim().is_empty())
    {
        found.push(format!("{} is empty", part.key));
    }
    let (enabled, most) = (prompt.enabled(), settings.limits.max_iterations());
    for (context, config) in &settings.execution.contexts {
        let name = context.row().name;
        let off = config
            .components
            .iter()
            .flatten()
            .filter(|it| !enabled.contains(it));
        found.extend(off.map(|it| {
            let key = it.row().key;
            format!("execution.contexts.{name} shows {key}, which prompt.components switches off")
        }));
        if let Some(steps) = config.max_iterations.filter(|steps| *steps > most) {
            found.push(format!(
                "execution.contexts.{name}.max_iterations is {steps}, and limits.max_iterations_per_tick allows {most}"
            ));
        }
    }
    if settings.execution.sub_agents_enabled && settings.execution.sub_agent_budget == 0 {
        found.push("execution.sub_agents_enabled is true, and sub_agent_budget is 0".to_owned());
    }
    let window = settings.limits.max_context_tokens();
    if let Err(error) = super::leaves_room(window, preamble) {
        found.push(error.to_string());
    }
    found
}
