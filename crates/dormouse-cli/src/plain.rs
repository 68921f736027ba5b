//! Things told as text for people.

use std::io::IsTerminal;

use crate::{
    grammar::{counted, posed},
    item::{End, Item, PauseLine, Ready, Sight, World},
    neutralise::{indented, neutralise},
    sign::Sign,
};

#[cfg(test)]
mod tests;

/// How lines are set apart.
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

/// What is printed for a thing, with its line feed; nothing for what people are not told.
pub(crate) fn render(item: &Item, style: Style) -> Option<String> {
    let (text, sign) = match item {
        Item::Ready(ready) => (welcome(ready), Sign::Program),
        Item::World(World::Own(own)) => (own.seen.clone(), sign_of_act(own.act)),
        Item::World(World::Perceived(sight)) => (told(sight), sign_of_kind(sight.kind)),
        Item::Message(_) | Item::Event(_) => return None,
        Item::Rejected { line, reason } if style == Style::Plain => (
            format!("line {line} was not carried out: {reason}"),
            Sign::Program,
        ),
        // Whoever types sees the line.
        Item::Rejected { reason, .. } => (format!("That was not done: {reason}"), Sign::Program),
        Item::Notice { text } => (text.clone(), Sign::Program),
        Item::End {
            reason,
            waiting,
            pause,
            clear,
        } => (
            farewell(*reason, *waiting, pause.as_ref(), clear)?,
            Sign::Program,
        ),
    };
    let by_assistant = matches!(item, Item::World(World::Perceived(sight)) if sight.by_assistant);
    Some(dress(&text, sign, by_assistant, style))
}

/// A pose is shown to whoever makes it as everybody sees it.
fn sign_of_act(act: &str) -> Sign {
    match act {
        "pose" => Sign::Deed,
        _ => Sign::Own,
    }
}

fn sign_of_kind(kind: &str) -> Sign {
    match kind {
        "whisper" | "page" => Sign::Private,
        "addressed" | "channel" | "say" => Sign::Heard,
        _ => Sign::Deed,
    }
}

/// The one place where text of a visit meets a terminal: neutralised first, then signed and coloured.
fn dress(text: &str, sign: Sign, by_assistant: bool, style: Style) -> String {
    let safe = indented(&neutralise(text));
    let line = format!("{} {safe}", sign.char());
    match (style, sign, by_assistant) {
        (Style::Coloured, _, true) => format!("    \u{1b}[36m{line}\u{1b}[0m\n"),
        (Style::Coloured, Sign::Program, _) => format!("\u{1b}[2m{line}\u{1b}[0m\n"),
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
        "{thinker} {past}\nYou are {player}. Data are in {data}. /help says what you can do."
    );
    if *new_world && *seq > 0 {
        text += &format!(
            "\nThe world was new; what {name} remembers of its life before is still there."
        );
    }
    if let Some(cause) = stopped {
        text += &format!(
            "\n{name} is stopped: {cause}. Messages are kept; /clear lets it go on (or leave, and run `{clear}`)."
        );
    }
    text
}

fn told(sight: &Sight) -> String {
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
        "pose" => posed(by, text),
        _ => text.clone(),
    }
}

fn farewell(reason: End, waiting: usize, pause: Option<&PauseLine>, clear: &str) -> Option<String> {
    let waits = counted(waiting as u64, "message waits", "messages wait");
    let kept = |until: &str| match waiting {
        0 => String::new(),
        1 => format!(" {waits} and is kept{until}"),
        _ => format!(" {waits} and are kept{until}"),
    };
    match reason {
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
            "Its model or its world cannot be reached.{}",
            kept("; it goes on at the next start.")
        )),
        End::Interrupted => Some(match pause {
            Some(pause) => format!("Ended. {}", paused(pause, &kept("."))),
            None => format!("Ended.{}", kept("; it goes on at the next start.")),
        }),
    }
}

/// How long the model is not called, and how to end that.
fn paused(pause: &PauseLine, kept: &str) -> String {
    let PauseLine { told, retry, .. } = pause;
    format!(
        "The model is not called {told}.{kept} `{retry}` lets the next start call it at once; another model is called at \
         once in any case."
    )
}
