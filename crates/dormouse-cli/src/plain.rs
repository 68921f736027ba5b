//! Printing as text for people.

use std::io::IsTerminal;

use dormouse_text::one_line;

use crate::{
    grammar::{counted, posed},
    item::{End, EndLine, Item, OpenMessage, PauseLine, Ready, Sight, World},
    line_kind::LineKind,
    neutralise::{indented, neutralise},
};

#[cfg(test)]
mod tests;

/// How lines of the assistant are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Text alone.
    Plain,
    /// The assistant's lines indented.
    Indented,
    /// The assistant's lines indented and coloured, the program's own dimmed.
    Coloured,
}

impl Style {
    /// The style for a terminal: coloured, unless `NO_COLOR` is set.
    pub(crate) fn of_terminal() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if no_color || !std::io::stdout().is_terminal() {
            Self::Indented
        } else {
            Self::Coloured
        }
    }
}

/// The text of an item, with its line feed; `None` for items that are only for programs.
pub(crate) fn render(item: &Item, style: Style) -> Option<String> {
    let (text, kind) = match item {
        Item::Ready(ready) => (welcome(ready), LineKind::Program),
        Item::World(World::Own(own)) => (own.seen.clone(), kind_of_act(own.act)),
        Item::World(World::Perceived(sight)) => (perceived(sight), kind_of_perception(sight.kind)),
        Item::Message(_) | Item::Event(_) => return None,
        Item::Rejected { line, reason } if style == Style::Plain => (
            format!("line {line} was not carried out: {reason}"),
            LineKind::Program,
        ),
        // A player at a terminal sees the line that failed.
        Item::Rejected { reason, .. } => {
            (format!("That was not done: {reason}"), LineKind::Program)
        }
        Item::Notice { text } => (text.clone(), LineKind::Program),
        Item::End(end) => (farewell(end)?, LineKind::Program),
    };
    let by_assistant = matches!(item, Item::World(World::Perceived(sight)) if sight.by_assistant);
    Some(decorated(&text, kind, by_assistant, style))
}

/// The player's own pose has the same kind of line as the poses of others.
fn kind_of_act(act: &str) -> LineKind {
    match act {
        "pose" => LineKind::Deed,
        _ => LineKind::Own,
    }
}

fn kind_of_perception(kind: &str) -> LineKind {
    match kind {
        "whisper" | "page" => LineKind::Private,
        "addressed" | "channel" | "say" => LineKind::Heard,
        _ => LineKind::Deed,
    }
}

/// All text of a visit passes here before it reaches a terminal: neutralised first, then marked and coloured.
fn decorated(text: &str, kind: LineKind, by_assistant: bool, style: Style) -> String {
    let safe = indented(&neutralise(text));
    let line = format!("{} {safe}", kind.char());
    match (style, kind, by_assistant) {
        (Style::Coloured, _, true) => format!("    \u{1b}[36m{line}\u{1b}[0m\n"),
        (Style::Coloured, LineKind::Program, _) => format!("\u{1b}[2m{line}\u{1b}[0m\n"),
        (Style::Indented, _, true) => format!("    {line}\n"),
        _ => format!("{line}\n"),
    }
}

fn welcome(ready: &Ready) -> String {
    let Ready {
        name,
        player,
        provider,
        model,
        why,
        data,
        seq,
        waiting,
        privacy,
        embedder,
        new_world,
        stopped,
        clear,
        ..
    } = ready;
    let thinker = if provider == "offline" {
        format!("{name} thinks offline, without a language model ({why}).")
    } else {
        format!("{name} thinks with {model} at {provider} ({why}).")
    };
    let past = match (seq, waiting) {
        (0, _) => "Its life begins now.".to_owned(),
        (seq, 0) => format!("It remembers {}.", counted(*seq, "event", "events")),
        (seq, waiting) => format!(
            "It remembers {}; {}.",
            counted(*seq, "event", "events"),
            counted(*waiting as u64, "message waits", "messages wait")
        ),
    };
    let mut text = format!(
        "{thinker} {past}\nYou are {player}. Data are in {data}. /help says what you can do.\n({privacy})"
    );
    if let Some(embedder) = embedder {
        text += &format!("\n({embedder})");
    }
    if *new_world && *seq > 0 {
        text += &format!("\nThe world is new. {name} still remembers its life before.");
    }
    if let Some(cause) = stopped {
        text += &format!(
            "\n{name} is stopped: {cause}. Messages are kept; /clear lets it go on (or leave, and run `{clear}`)."
        );
    }
    text
}

fn perceived(sight: &Sight) -> String {
    let mut text = in_words(sight);
    if let Some(observer) = &sight.observer {
        text = format!("({observer}) {text}");
    }
    match sight.earlier {
        // No text from outside precedes the name, so nobody can imitate this mark.
        true => format!("(earlier, {}) {text}", sight.at),
        false => text,
    }
}

fn in_words(sight: &Sight) -> String {
    let by = sight.by.as_deref().unwrap_or("Someone");
    let text = &sight.text;
    match sight.kind {
        "whisper" => format!("{by} whispers to you: {text}"),
        "page" => format!("{by} pages you: {text}"),
        "addressed" => format!("{by} says to you: {text}"),
        "channel" => format!(
            "[{}] {by}: {text}",
            sight.channel.as_deref().unwrap_or_default()
        ),
        "say" => format!("{by} says, \"{text}\""),
        "pose" | "movement" => posed(by, text),
        _ => text.clone(),
    }
}

fn farewell(end: &EndLine) -> Option<String> {
    let (waiting, clear) = (end.waiting, &end.clear);
    let waits = counted(waiting as u64, "message waits", "messages wait");
    let kept = |until: &str| match waiting {
        0 => String::new(),
        1 => format!(" {waits} and is kept{until}"),
        _ => format!(" {waits} and are kept{until}"),
    };
    let pause = end.pause.as_ref();
    let next_start = "; it goes on at the next start.";
    match end.reason {
        End::Settled => None,
        End::Stopped => Some(format!(
            "The assistant is stopped by its emergency stop.{} `{clear}` lets it go on at the next start; /clear does the same \
             during a visit.",
            kept(".")
        )),
        End::Disabled => Some(format!(
            "The assistant is switched off (enabled = false in its configuration).{}",
            kept(" until it is switched on.")
        )),
        End::Paused => Some(paused(pause?, &kept("."))),
        End::Waiting => Some(format!(
            "Its model or its world cannot be reached.{}{}",
            kept(next_start),
            still_open(end)
        )),
        End::OverBudget => Some(format!(
            "What the assistant may spend on its model is spent for now.{} `dormouse budget` shows more.",
            kept(next_start)
        )),
        End::Interrupted => Some(match pause {
            Some(pause) => format!("Ended. {}", paused(pause, &kept("."))),
            None => format!("Ended.{}{}", kept(next_start), still_open(end)),
        }),
    }
}

/// Why the messages wait, and a line for each message that is listed.
fn still_open(end: &EndLine) -> String {
    let cause = end.cause.as_ref();
    let mut text = cause.map_or_else(String::new, |cause| {
        format!("\nThe cause: {}.", one_line(cause))
    });
    for message in &end.open {
        let OpenMessage {
            event,
            from,
            text: words,
            act,
        } = message;
        let place = match event {
            Some(event) => format!("event {event}"),
            None => "still in the world".to_owned(),
        };
        let next = match act {
            Some(act) => {
                format!("the answer by `{act}` is decided, but not confirmed by the world")
            }
            None => "not answered yet".to_owned(),
        };
        // A line break in a text from outside must not begin a line of this list.
        let (from, words) = (one_line(from), one_line(words));
        text += &format!("\n{from} ({place}): {words} – {next}");
    }
    let others = end.waiting.saturating_sub(end.open.len());
    if others > 0 && !end.open.is_empty() {
        text += &format!("\nand {}", counted(others as u64, "other", "others"));
    }
    text
}

/// How long the model is not called, and how to end that.
fn paused(pause: &PauseLine, kept: &str) -> String {
    let PauseLine { text, retry, .. } = pause;
    format!(
        "The model is not called {text}.{kept} `{retry}` lets the next start call it at once; another model is called at \
         once in any case."
    )
}
