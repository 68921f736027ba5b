//! What a model is shown: instructions, goals, earlier turns, people it knows, standing orders, remembered lines, overheard
//! lines, the message, and what was done about it. Each is a [component](Component); by default the parts that change least come
//! first.
//!
//! Every part has a hard cap in tokens. Earlier turns are left out whole and oldest first, so that a call stays with
//! its result and a message with its answer. A message is counted once, on arrival, in the form in which it will be
//! shown. Only a message that is too long to be shown whole is counted again.

mod briefing;
mod component;
mod conversation;
mod current;
mod earlier;
mod excerpt;
mod goals;
mod hash;
mod listed;
mod measure;
mod own;
mod parts;
mod parts_config;
mod placeholders;
mod preamble;
mod preview;
mod remembered;
mod room;
mod shrink;

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use dormouse_contracts::{
    Audience, ChatRequest, EarlierTurn, Message, Origin, Persona, Seq, TokenCounter, ToolChoice,
    Trust, TurnCall, TurnContext, TurnStep,
};

use crate::{
    builtin,
    config::{Settings, ToolCalling},
    decide::{longest_reply, low_line},
    delegating::longest_reply_of_task,
    event::{NOOP, Omitted},
    privacy::{Shareable, may_hear},
    results::not_whole_in,
    state::{CallState, FinishedTurn, State, Turn},
};
pub(crate) use conversation::ShownMessages;
use current::Current;
pub(crate) use current::has_room;
use earlier::Earlier;
pub(crate) use earlier::counted_summary;
use excerpt::Excerpt;
use hash::{PartDigest, hash_of_parts};
pub(crate) use hash::{digest_of, hash, is_of_parts};
pub(crate) use measure::{HistoryMeasure, MeasuredTurn, measure, measure_all};
use parts::Sources;
use preamble::Offered;
use remembered::Remembered;
use room::Room;

pub use component::{COMPONENTS, Component, ComponentRow, PartRole};
pub use parts_config::{ComponentConfig, OrderPreset, PartOrder, PromptConfig, PromptConfigError};
pub use placeholders::UnknownPlaceholder;
pub use preamble::PreambleTooLong;
pub(crate) use preamble::{Identity, Offer, Preamble, leaves_room};
pub(crate) use preview::{KnownTools, findings, preview};
pub use preview::{OmittedPart, PreviewOf, PreviewPart, PromptPreview};
pub(crate) use remembered::{Budgets, line_tokens};
pub(crate) use shrink::{Length, shrink};

/// Tokens that a message takes in addition to its text, the line ends between its parts included.
const MESSAGE: u32 = 12;
/// Tokens that a call and its result take in addition to their texts: two ids, and what connects them.
const CALL: u32 = 36;

/// The headings before and after the overheard lines.
const OVERHEARD: &str = "(Overheard lately, not said to you:)";
const SAID_TO_YOU: &str = "(And this is for you:)";
/// The note before the message after a dangerous call was deferred.
const CAREFUL: &str = "(A dangerous call of yours was not carried out, because text of low trust was shown to you. That \
                       text is left out now. Decide by what is left.)";

/// The note before the message after the world refused speech because others listen by now.
const WIDENED: &str = "(What you were about to say was not said: somebody listens by now who did not perceive all that you were \
                       shown. What they did not perceive is left out now. Answer again with what is left.";

/// The instruction in a turn that divides a goal.
fn divide(turn: &Turn) -> Option<String> {
    let goal = turn.divides()?;
    Some(format!(
        "(As a whole, goal {goal} came to nothing. Divide it now: call add_goal once for each of two to five parts that can be done \
         one after the other, each with parent {goal}. If it cannot be divided, call noop.)"
    ))
}

/// The note that something relevant is left out. It says neither what nor about whom.
const WITHHELD: &str = "(You know something about this that not everybody who hears your answer perceived, so it is \
                        left out here. Say nothing about it, and do not guess at it. Whoever shared it with you can ask \
                        you in private.)";

/// A request and how many tokens its prompt takes.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) request: ChatRequest,
    tools_digest: PartDigest,
    pub(crate) tokens: u32,
    /// The tokens if all tools were offered; lengths of prompts are compared by this number.
    length: u32,
    pub(crate) offer: Offer,
    /// The lowest trust of everything that it may show.
    pub(crate) least_shown: Trust,
    /// Who may hear what is made of it; anybody, if absent.
    pub(crate) within: Option<Audience>,
    /// What it does not show for want of room.
    pub(crate) omitted: Omitted,
}

impl Prompt {
    /// The hash of the request, as the log keeps it.
    pub(crate) fn hash(&self) -> String {
        hash_of_parts(&self.request, self.tools_digest)
    }
}

/// How many tokens the messages of a request take, as the engine counts them.
pub(crate) fn request_tokens(request: &ChatRequest, counter: &dyn TokenCounter) -> u32 {
    let texts = request.messages.iter().map(|message| match message {
        Message::System { content } | Message::User { content } => counter.count(content).tokens,
        _ => 0,
    });
    texts.fold(0, u32::saturating_add)
}

/// The trigger of a turn, as prompts show it.
pub(crate) fn shown_trigger(turn: &Turn, counter: &dyn TokenCounter) -> String {
    turn.trigger.within(u32::MAX, counter).text
}

/// How much of what could be shown fits, and how many tokens all of it takes.
#[derive(Clone, Copy, Debug)]
struct Choice {
    /// The most tokens of the assistant's own notes and projects.
    own_cap: u32,
    /// The most tokens of the goals.
    goals_cap: u32,
    /// The part of the memory's answer that is shown.
    remembered: Remembered,
    /// How many of the newest overheard lines.
    lines: usize,
    /// The most tokens of one of them.
    line_cap: u32,
    /// What is shown in place of turns that are left out.
    earlier: Earlier,
    /// How many of the newest finished turns.
    turns: usize,
    /// How many tokens they take, and how many there is room for.
    turns_tokens: (u32, u32),
    /// The most tokens of one message.
    message_cap: u32,
    /// The most tokens of one result in the current turn, where they do not fit whole.
    result_cap: Option<u32>,
    /// How many tokens of results are not shown.
    cut: u32,
    tokens: u32,
}

/// An upper bound of the tokens of the prompt for the next step of `turn`: with every result in full, and with as many
/// earlier turns as still leave room for the turn to continue. Pure.
pub(crate) fn tokens(state: &State, turn: &Turn, preamble: &Preamble) -> u32 {
    let room = Room::of(state, preamble).for_advice();
    let shareable = Shareable::of(state, turn);
    let choice = choose(state, &shareable, turn, preamble, room, 0);
    let tokens = choice.tokens.saturating_add(choice.cut);
    debug_assert!(tokens <= most_tokens(state, turn, preamble));
    tokens
}

/// No less than [`tokens`], found without looking at what precedes the turn. Pure.
pub(crate) fn most_tokens(state: &State, turn: &Turn, preamble: &Preamble) -> u32 {
    let room = Room::of(state, preamble).for_advice();
    let current = Current::within(state, turn, preamble, room);
    let before = room.before_the_turn(current.tokens);
    // Each of two lists may end with a note that more is left out, which is not counted against its room.
    let parts = [current.tokens, before, 2 * MESSAGE, current.cut];
    parts.into_iter().fold(0, u32::saturating_add)
}

/// The size of the context window in tokens: the configured one, or less if a smaller limit was learnt.
pub(crate) fn window(state: &State, preamble: &Preamble) -> u32 {
    Room::of(state, preamble).window()
}

/// How many tokens the memory's answer for `turn` may take, and the sequence numbers of what the prompt shows with any
/// answer of that size.
pub(crate) fn recall_room(state: &State, turn: &Turn, preamble: &Preamble) -> (Budgets, Vec<Seq>) {
    let room = Room::of(state, preamble);
    let shareable = Shareable::of(state, turn);
    let now = choose(state, &shareable, turn, preamble, room, u32::MAX).tokens;
    let config = &state.configuration.settings;
    let budgets = Budgets::within(room.before_the_turn(now), config, preamble);
    let reserved = budgets.shown(preamble);
    let choice = choose(state, &shareable, turn, preamble, room, reserved);
    let turns = shareable.turns.iter().rev().take(choice.turns);
    let turns = turns.map(|turn| &***turn);
    let lines = shareable.overheard.iter().rev().take(choice.lines);
    let spoken = |turn: &Turn| -> Vec<Seq> {
        let calls = turn.steps.iter().flat_map(|step| &step.calls);
        let effects = calls.filter_map(|call| call.effect.as_ref());
        effects.filter_map(|effect| effect.settled).collect()
    };
    let mut shown: Vec<Seq> = turns
        .chain([turn])
        .flat_map(|turn| {
            let mut places = spoken(turn);
            places.push(turn.trigger_seq());
            places
        })
        .collect();
    shown.extend(lines.map(|line| line.seq));
    (budgets, shown)
}

/// How long a prompt is, and how long the reply to it may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptSize {
    pub(crate) tokens: u32,
    pub(crate) max_tokens: Option<u32>,
}

/// The size of the prompt for the next step of `turn`. Pure.
pub(crate) fn size(state: &State, turn: &Turn, preamble: &Preamble, offer: Offer) -> PromptSize {
    let room = Room::of(state, preamble);
    let shareable = Shareable::of(state, turn);
    let choice = choose(state, &shareable, turn, preamble, room, 0);
    let offered = preamble.offered(offer);
    size_of(state, turn, (preamble, offered), room, choice)
}

fn size_of(
    state: &State,
    turn: &Turn,
    (preamble, offered): (&Preamble, &Offered),
    room: Room,
    choice: Choice,
) -> PromptSize {
    let config = &state.configuration.settings;
    let reserved = state.ledger.of_turn();
    let most = reserved.map(|reserved| reserved.reply_tokens);
    let max_tokens = most.or_else(|| reply_tokens(config, room, choice.tokens));
    let usual = longest_reply(config, max_tokens);
    let of_task = longest_reply_of_task(state, turn, choice.tokens, usual);
    let tokens = choice.tokens.saturating_sub(preamble.tokens);
    PromptSize {
        tokens: tokens.saturating_add(offered.tokens),
        max_tokens: of_task.or(max_tokens),
    }
}

/// Builds the prompt for the next step of `turn`. Pure; takes time in proportion to what it shows.
pub(crate) fn build(state: &State, turn: &Turn, preamble: &Preamble, offer: Offer) -> Prompt {
    let config = &state.configuration.settings;
    let form = config.tool_calling;
    let room = Room::of(state, preamble);
    let shareable = Shareable::of(state, turn);
    let choice = choose(state, &shareable, turn, preamble, room, 0);
    let earlier = shareable.turns.iter();
    let left_out = earlier.len().saturating_sub(choice.turns);

    let goals = goals::part(
        state,
        &shareable,
        turn,
        choice.goals_cap,
        &*preamble.counter,
    );
    let own = own::part(&shareable, turn, choice.own_cap, &*preamble.counter);
    let low = state.ledger.of_turn().and_then(low_line);
    let offered = preamble.offered(offer);
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
    let (conversation, stable_messages) =
        parts::conversation(offered, &sources.parts(offered), form, preamble);
    let (messages, mut digests) = conversation.into_parts();
    preamble.last_digests.fill(&messages, &mut digests);
    let tools = Arc::clone(&offered.definitions);
    let tool_choice = if tools.is_empty() {
        ToolChoice::None
    } else {
        ToolChoice::Auto
    };
    let PromptSize { tokens, max_tokens } = size_of(state, turn, (preamble, offered), room, choice);
    let request = ChatRequest {
        messages,
        digests: digests.into_iter().collect(),
        tools,
        tool_choice,
        temperature: config.temperature,
        top_p: config.top_p,
        max_tokens,
        reasoning_effort: config.reasoning_effort,
        purpose: turn.trigger.purpose(),
        stable_messages,
        turn: context(
            state,
            turn,
            shareable.turns.get(left_out..).unwrap_or_default(),
            offered,
        )
        .map(Box::new),
        ..ChatRequest::default()
    };
    let omitted = omitted(&shareable, turn, choice, preamble);
    let lines_left_out = shareable.overheard.len().saturating_sub(choice.lines);
    let lines = shareable.overheard.iter().skip(lines_left_out);
    let earlier = shareable.turns.iter().skip(left_out);
    let summaries = choice.earlier.shown(&shareable).iter();
    let remembered = turn.recollected.iter();
    let remembered = remembered.filter(|_| choice.remembered.shows_something());
    let shown = earlier
        .map(|turn| Some(Cow::Borrowed(turn.known_to())))
        .chain(lines.map(|line| Some(Cow::Owned(line.known_to()))))
        .chain(remembered.map(|found| found.audience.as_ref().map(Cow::Borrowed)))
        .chain(
            [goals, own]
                .into_iter()
                .flatten()
                .flat_map(|it| it.audiences)
                .map(|audience| audience.map(Cow::Owned)),
        )
        .chain(summaries.map(|made| Some(Cow::Borrowed(&made.audience))));
    Prompt {
        request,
        tools_digest: offered.tools_digest(),
        tokens,
        length: choice.tokens,
        offer,
        least_shown: builtin::least_trusted(state, turn),
        within: may_hear(state, turn, shown),
        omitted,
    }
}

/// What this choice leaves out.
fn omitted(shareable: &Shareable<'_>, turn: &Turn, choice: Choice, preamble: &Preamble) -> Omitted {
    if turn.is_careful() {
        return Omitted::default();
    }
    let turns = shareable.turns.len().saturating_sub(choice.turns);
    let last_turn = turns
        .checked_sub(1)
        .and_then(|last| shareable.turns.get(last));
    let lines = shareable.overheard.len().saturating_sub(choice.lines);
    let last_line = lines
        .checked_sub(1)
        .and_then(|last| shareable.overheard.get(last));
    let (remembered, shown) = choice.remembered.divided(turn);
    let mut records: Vec<Origin> = remembered.iter().map(|line| line.record).collect();
    if let Some(cap) = choice.result_cap {
        let calls = turn.shown_steps().flat_map(|step| &step.calls);
        let recalls = calls.filter(|call| builtin::lists_lines(&call.call.name));
        for call in recalls {
            let excerpt = Excerpt::of_result(result(call), cap, &*preamble.counter);
            records.extend(not_whole_in(&excerpt.text, result(call)));
        }
    }
    records.retain(|record| shown.iter().all(|line| line.record != *record));
    records.sort_unstable();
    records.dedup();
    Omitted {
        turns_through: last_turn.map(|turn| turn.trigger_seq()),
        lines_through: last_line.map(|line| line.seq),
        records,
    }
}

/// The turn as structured data, for a model that reads no prompt; `None` if there is no data about its trigger.
/// `earlier` are
/// the finished turns that the prompt shows.
fn context(
    state: &State,
    turn: &Turn,
    earlier: &[&FinishedTurn],
    offered: &Offered,
) -> Option<TurnContext> {
    let configuration = &state.configuration;
    let latest = earlier.len().saturating_sub(TurnContext::MOST_EARLIER);
    let earlier = earlier.iter().skip(latest).filter_map(|turn| {
        Some(EarlierTurn {
            trigger: turn.trigger.as_data()?,
            steps: steps(turn),
        })
    });
    Some(TurnContext {
        persona: Persona {
            name: configuration.settings.name.clone().unwrap_or_default(),
            text: configuration.persona.clone(),
        },
        trigger: turn.trigger.as_data()?,
        tools_in_text: offered.listed.clone(),
        steps: steps(turn),
        earlier: earlier.collect(),
    })
}

/// The steps of a turn that the prompt shows, as data.
fn steps(turn: &Turn) -> Vec<TurnStep> {
    let steps = turn.shown_steps().map(|step| TurnStep {
        text: step.content.clone(),
        calls: step.calls.iter().map(called).collect(),
    });
    steps.collect()
}

/// The note that more people listen by now, if so. Earlier steps are not shown, so the note names what was done in
/// them, which must not be repeated.
fn widened(turn: &Turn) -> Option<String> {
    let widened = turn.widened.as_ref()?;
    let before = turn.own_steps().take(widened.from);
    let calls = before.flat_map(|step| &step.calls);
    let done = calls.filter(|call| call.may_be_made() && call.call.name != NOOP);
    let done: BTreeSet<_> = done.map(|call| call.call.name.as_str()).collect();
    let done: Vec<_> = done.into_iter().collect();
    Some(match done.is_empty() {
        true => format!("{WIDENED})"),
        false => format!(
            "{WIDENED} Already done, and not to be repeated: {}.)",
            done.join(", ")
        ),
    })
}

fn called(call: &CallState) -> TurnCall {
    TurnCall {
        tool: call.call.name.clone(),
        arguments: call.call.arguments.clone(),
        result: call.result.clone(),
    }
}

/// How many reply tokens to request after a prompt of `tokens` tokens.
fn reply_tokens(config: &Settings, room: Room, tokens: u32) -> Option<u32> {
    let most = config.max_tokens?;
    Some(most.min(room.reply_behind(tokens)))
}

/// Divides the context window. The current turn is shown whole, except for the end of a long message and of long
/// results that do not fit. The parts before it share what is left, so a turn that grows displaces overheard lines and
/// the oldest turns.
///
/// If the memory was not searched yet, `reserved` tokens are left free for it.
fn choose(
    state: &State,
    shareable: &Shareable<'_>,
    turn: &Turn,
    preamble: &Preamble,
    room: Room,
    reserved: u32,
) -> Choice {
    let config = &state.configuration.settings;
    let Current {
        tokens: now,
        message_cap,
        result_cap,
        cut,
    } = Current::within(state, turn, preamble, room);
    // If the provider refused the full prompt, or a dangerous call was deferred, the next one shows the message alone.
    let left = match turn.failures.refusals {
        0 if !turn.is_careful() => {
            let left = room.before_the_turn(now);
            preamble.token_budget.map_or(left, |most| left.min(most))
        }
        _ => 0,
    };
    let own_cap = room::own(left).min(config.own.prompt_tokens);
    let own_cap = preamble.budget(Component::CharacterContext, own_cap);
    let own = own::part(shareable, turn, own_cap, &*preamble.counter);
    let own_tokens = own.map_or(0, |own| own.tokens);
    let left = left.saturating_sub(own_tokens);
    let goals_cap = room::goals(left).min(config.goals.prompt_tokens);
    let goals_cap = preamble.budget(Component::Goals, goals_cap);
    let goals = goals::part(state, shareable, turn, goals_cap, &*preamble.counter);
    let goals_tokens = goals.map_or(0, |goals| goals.tokens);
    let left = left.saturating_sub(goals_tokens);
    let remembered = Remembered::within(left, turn, preamble);
    let taken = match turn.recollected {
        Some(_) => remembered.tokens,
        None => reserved,
    };
    let left = left.saturating_sub(taken);
    let (all_lines, line_cap) = room::overheard(left);
    let all_lines = preamble.budget(Component::ContextBuffer, all_lines);
    let lines = shareable.overheard.iter().rev().map(|line| {
        let tokens = line.tokens_within(line_cap, &*preamble.counter);
        tokens.saturating_add(MESSAGE)
    });
    let (lines, line_tokens) = fitting(lines, all_lines.saturating_sub(preamble.labels));
    let line_tokens = match lines {
        0 => 0,
        _ => line_tokens.saturating_add(preamble.labels),
    };
    let left = left.saturating_sub(line_tokens);
    let left = preamble.budget(Component::ConversationHistory, left);
    let most_turns = config.limits.max_history();
    let earlier = Earlier::within(left, most_turns, shareable, preamble);
    let left = left.saturating_sub(earlier.tokens);
    let newest = shareable.turns.iter().rev().take(most_turns);
    let sizes = newest.map(|turn| earlier::tokens(state, turn, message_cap, preamble));
    let (turns, turns_tokens) = fitting(sizes, left);
    let before = [
        own_tokens,
        goals_tokens,
        remembered.tokens,
        line_tokens,
        earlier.tokens,
        turns_tokens,
    ];
    Choice {
        own_cap,
        goals_cap,
        remembered,
        lines,
        line_cap,
        earlier,
        turns,
        turns_tokens: (turns_tokens, left),
        message_cap,
        result_cap,
        cut,
        tokens: before.into_iter().fold(now, u32::saturating_add),
    }
}

fn result(call: &CallState) -> &str {
    // The prompt is measured before its open calls are answered; an open call has no result and takes no room.
    call.result.as_deref().unwrap_or_default()
}

/// How many items fit the budget before the first that does not, and how many tokens they take.
fn fitting(sizes: impl Iterator<Item = u32>, budget: u32) -> (usize, u32) {
    let mut taken = (0, 0);
    for size in sizes {
        let sum = u32::saturating_add(taken.1, size);
        if sum > budget {
            break;
        }
        taken = (taken.0 + 1, sum);
    }
    taken
}

/// How many tokens a turn takes in a prompt, at most.
fn turn_tokens(turn: &Turn, message_cap: u32, form: ToolCalling, preamble: &Preamble) -> u32 {
    let heard = turn.trigger.tokens_within(message_cap, &*preamble.counter);
    let steps = turn.shown_steps().map(|step| {
        let calls = step.calls.iter().map(|call| match form {
            ToolCalling::Native => CALL,
            // With tools as text, the name also precedes the result.
            ToolCalling::Fallback => CALL.saturating_add(bytes(&call.call.name).min(64)),
        });
        let calls = calls.fold(step.tokens, u32::saturating_add);
        calls.saturating_add(2 * MESSAGE)
    });
    steps.fold(heard.saturating_add(MESSAGE), u32::saturating_add)
}

fn bytes(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
