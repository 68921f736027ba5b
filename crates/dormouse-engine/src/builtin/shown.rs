//! Everything that the prompts of a turn show, each part with how far it is believed.

use std::collections::BTreeSet;

use dormouse_contracts::{Attribution, EntityId, Origin, SourceKind, Trust};
use dormouse_retrieval::support::ShownText;
use serde_json::Value;

use super::{
    provenance::named_origin,
    tools::{RECALL_MEMORIES, is_own},
};
use crate::{
    event::{RecalledLine, Verdict},
    privacy::Shareable,
    render,
    state::{CallState, Heard, State, Trigger, Turn},
};

/// The trust of what the world answered: the answer may hold text that anybody wrote there.
const SURROUNDINGS_TRUST: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// A part of a prompt.
#[derive(Clone, Debug)]
pub(crate) struct ShownItem<'a> {
    /// The event that it goes back to, by which a model can name it.
    pub(crate) origin: Option<Origin>,
    pub(crate) from: Attribution,
    pub(crate) said: ShownText<'a>,
}

/// Everything that a prompt of this turn could show, what called for the turn first: the words of its first `spoken`
/// steps, and the results of all. The names that are shown with it come last.
pub(crate) fn shown<'a>(state: &'a State, turn: &'a Turn, spoken: usize) -> Vec<ShownItem<'a>> {
    let mut items = vec![trigger(&turn.trigger)];
    if !turn.is_careful() {
        let Shareable { turns, overheard } = Shareable::of(state, turn);
        items.extend(turns.iter().map(|turn| trigger(&turn.trigger)));
        items.extend(overheard.into_iter().map(heard));
        items.extend(recollected(turn));
        items.extend(
            turns
                .into_iter()
                .flat_map(|turn| done(turn, turn.steps.len())),
        );
    }
    items.extend(done(turn, spoken));
    let said = items.iter().map(|item| &item.said);
    let said = said.flat_map(|said| [&said.speaker, &said.channel]);
    let names: BTreeSet<String> = said.filter(|name| !name.is_empty()).cloned().collect();
    items.extend(names.into_iter().map(name));
    items
}

/// What somebody or something is called.
fn name<'a>(name: String) -> ShownItem<'a> {
    ShownItem {
        origin: None,
        from: Attribution::Surroundings,
        said: ShownText::name(name),
    }
}

fn trigger(trigger: &Trigger) -> ShownItem<'_> {
    match trigger {
        Trigger::Message(message) => heard(message),
        Trigger::Occasion(occasion) => ShownItem {
            origin: Some(Origin::event(occasion.seq)),
            from: Attribution::Myself,
            said: ShownText::text(occasion.trust, &*occasion.text),
        },
    }
}

fn heard(heard: &Heard) -> ShownItem<'_> {
    let attested = &heard.perception.attested;
    let from = Attribution::from(&attested.sender);
    let (how, channel) = match &attested.source {
        SourceKind::Channel(channel) => ("channel", channel.as_str()),
        SourceKind::Whisper => ("whisper", ""),
        SourceKind::Page => ("page", ""),
        _ => ("", ""),
    };
    ShownItem {
        origin: Some(Origin::event(heard.seq)),
        said: ShownText {
            speaker: from.name().unwrap_or_default().to_owned(),
            channel: channel.to_owned(),
            around: format!("{how} {}", attested.at),
            ..ShownText::text(heard.trust, heard.perception.words.as_claimed())
        },
        from,
    }
}

fn recollected(turn: &Turn) -> Vec<ShownItem<'_>> {
    let Some(found) = &turn.recollected else {
        return Vec::new();
    };
    let lines = found.items.iter().flat_map(remembered);
    let blocks = [&found.entities, &found.orders].into_iter();
    let blocks = blocks.filter(|block| !block.is_empty()).flat_map(|block| {
        let text = ShownItem {
            origin: None,
            from: Attribution::Several,
            said: ShownText::text(block.trust, &*block.text),
        };
        [text]
            .into_iter()
            .chain(block.names.iter().cloned().map(name))
    });
    lines.chain(blocks).collect()
}

/// A remembered line, and the name of its place, which somebody wrote there.
fn remembered(line: &RecalledLine) -> impl Iterator<Item = ShownItem<'_>> {
    let said = ShownItem {
        origin: Some(line.record),
        from: line.from.clone(),
        said: ShownText {
            speaker: line.from.name().unwrap_or_default().to_owned(),
            around: line.at.to_string(),
            ..ShownText::text(line.trust, &*line.text)
        },
    };
    [said].into_iter().chain(render::place(line).map(name))
}

/// What was done in a turn: the words of its first `spoken` steps, and the results of all.
fn done(turn: &Turn, spoken: usize) -> Vec<ShownItem<'_>> {
    let mut items = Vec::new();
    let steps = turn.steps.iter().enumerate();
    for (index, step) in steps.skip(turn.shown_from()) {
        if index < spoken {
            let arguments = step.calls.iter().map(|call| call.call.arguments.as_str());
            let words: Vec<_> = [step.content.as_str()]
                .into_iter()
                .chain(arguments)
                .collect();
            items.push(ShownItem {
                origin: None,
                from: Attribution::Myself,
                said: ShownText::text(step.trust, words.join("\n")),
            });
        }
        items.extend(step.calls.iter().flat_map(result));
    }
    items
}

/// The result of a call. The result of an act often repeats what was said, which says nothing new.
fn result(call: &CallState) -> Vec<ShownItem<'_>> {
    let Some(content) = call.result.as_deref().filter(|_| was_made(call)) else {
        return Vec::new();
    };
    if !is_own(&call.call.name) {
        let words = without_words_of(content, &call.call.arguments);
        return vec![ShownItem {
            origin: None,
            from: Attribution::Surroundings,
            said: ShownText::text(SURROUNDINGS_TRUST, words),
        }];
    }
    if call.call.name == RECALL_MEMORIES
        && let Some(lines) = recalled(content)
    {
        return lines;
    }
    let holds_lines = call.trust.map(|trust| ShownItem {
        origin: None,
        from: Attribution::Several,
        said: ShownText::text(trust, content),
    });
    let names = names_in(content).into_iter().map(name);
    holds_lines.into_iter().chain(names).collect()
}

/// The names of the person that a result is about. A result that was cut is a name as a whole.
fn names_in(content: &str) -> Vec<String> {
    let content: Option<Value> = serde_json::from_str(content).ok();
    let field = |name: &str| content.as_ref().and_then(|content| content.get(name));
    let result = field("result");
    let of = |field: &str| result.and_then(|result| result.get(field));
    let aliases = of("also_known_as").and_then(Value::as_array);
    let names = aliases.into_iter().flatten().chain(of("name"));
    let names = names.chain(field("result_text"));
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether the result of a call may hold text that was written outside.
fn was_made(call: &CallState) -> bool {
    let was_made = match call.verdict {
        Some(Verdict::Success | Verdict::Failure) => true,
        // A world that refuses to let more hear it than may names them.
        Some(Verdict::Deferred) => call.effect.is_some(),
        Some(Verdict::Skipped) | None => false,
    };
    call.category.is_some() && was_made
}

/// The lines of a recall, as its result lists them. `None` if the result was cut.
fn recalled(content: &str) -> Option<Vec<ShownItem<'static>>> {
    let content: Value = serde_json::from_str(content).ok()?;
    let lines = content.get("result")?.get("memories")?.as_array()?;
    let line = |line: &Value| {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        let trust = line.get("trust").and_then(Value::as_f64)?;
        #[expect(clippy::cast_possible_truncation, reason = "two digits are kept")]
        let trust = Trust::try_new(trust as f32).ok()?;
        let from = recalled_from(text("from")?, text("entity"));
        let place = text("place").map(|place| name(place.to_owned()));
        let said = ShownItem {
            origin: text("id").and_then(named_origin),
            said: ShownText {
                speaker: from.name().unwrap_or_default().to_owned(),
                around: text("at")?.to_owned(),
                ..ShownText::text(trust, text("text")?.to_owned())
            },
            from,
        };
        Some([said].into_iter().chain(place))
    };
    let lines: Option<Vec<_>> = lines.iter().map(line).collect();
    Some(lines?.into_iter().flatten().collect())
}

/// Who a recalled line comes from, by the word for them and the id that its result has: the reverse of [`render::name`].
fn recalled_from(name: &str, entity: Option<&str>) -> Attribution {
    if let Some(id) = entity.and_then(|id| EntityId::try_new(id).ok()) {
        return Attribution::entity(id, name);
    }
    let without_name = [
        Attribution::Myself,
        Attribution::Surroundings,
        Attribution::Several,
        Attribution::Unknown,
    ];
    let mut without_name = without_name.into_iter();
    without_name
        .find(|from| render::name(from) == name)
        .unwrap_or_else(|| Attribution::Named(name.to_owned()))
}

/// The words of `content` that `arguments` lack.
fn without_words_of(content: &str, arguments: &str) -> String {
    let said = dormouse_retrieval::words(arguments);
    let words = content.split_whitespace();
    let is_new = |word: &&str| {
        let parts = dormouse_retrieval::words(word);
        parts.iter().any(|part| !said.contains(part))
    };
    words.filter(is_new).collect::<Vec<_>>().join(" ")
}
