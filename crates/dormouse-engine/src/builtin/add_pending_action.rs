//! `add_pending_action`: notes what is to be done for somebody: at a moment, once something has happened, or at some time.

use dormouse_contracts::{Awaited, AwaitedKind, PlaceId, Timestamp, ToolCategory, WordBeginnings};
use dormouse_entities::ActionText;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    AwaitedName, Basis, BuiltinOutcome, Draft, NewAction, NotShown,
    call::Call,
    table::{Builtin, entity, object, priority, sources, text},
};
use crate::{
    config::Privacy,
    state::{Heard, Promises},
};

pub(super) const TOOL: Builtin = Builtin {
    name: super::ADD_PENDING_ACTION,
    description: "Note what you mean to do for somebody. With due_at or when, you are called at that moment to do it; until then it costs nothing.",
    parameters,
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide,
};

fn parameters() -> Value {
    let awaited = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["event"],
        "properties": {
            "event": {"enum": ["arrives", "leaves", "present", "speaks", "happens"]},
            "who": {"type": "string", "maxLength": 128, "description": "A name or an id; anybody if absent."},
            "place": {"type": "string", "maxLength": 128, "description": "here, or the id of a place; anywhere if absent."},
            "words": {"type": "string", "maxLength": 80, "description": "With happens or speaks: beginnings of words of the text: door open."},
        },
    });
    object(
        &["entity", "description"],
        &json!({
            "entity": entity(),
            "description": text(200),
            "priority": priority(),
            "due_at": {"type": "string", "maxLength": 40, "description": "The moment, if it is for one: 2026-11-23T18:00:00Z."},
            "when": {"type": "array", "maxItems": Awaited::MOST, "items": awaited, "description": "What to wait for: any of these."},
            "until": {"type": "string", "maxLength": 40, "description": "The moment from which on it is too late."},
            "sources": sources(),
        }),
    )
}

/// One thing to wait for, as a model writes it.
#[derive(Deserialize)]
struct AwaitedArgument {
    event: AwaitedKind,
    who: Option<String>,
    place: Option<String>,
    words: Option<String>,
}

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let waits = match Waits::of(call) {
        Ok(waits) => waits,
        Err(refusal) => return Ok(BuiltinOutcome::Refused(refusal)),
    };
    let description = call.text("description");
    let words = waits.when.iter().filter_map(|it| it.awaited.words.as_ref());
    let words = words.map(ToString::to_string);
    let made: Vec<_> = [description.to_owned()].into_iter().chain(words).collect();
    let provenance = call.provenance(&made.join("\n"), &call.subject())?;
    let priority = call.arguments.get("priority").and_then(Value::as_u64);
    let priority = priority.and_then(|priority| u8::try_from(priority).ok());
    let draft = ActionText::shortened(description).map(|description| {
        let action = NewAction {
            description,
            priority: priority.unwrap_or(1),
            asked: asked(call, &waits),
            due_at: waits.due_at,
            when: waits.when,
            until: waits.until,
        };
        Draft::AddAction(action, Basis::of(&provenance))
    });
    Ok(call.change(draft, Some(provenance.shown())))
}

/// The message that asks for it. An action with a turn of its own is said to the person it is for, so it may hold what
/// they did not perceive only if the one who told it names them.
fn asked(call: &Call<'_>, waits: &Waits) -> Option<String> {
    let is_kept = call.state.configuration.settings.privacy == Privacy::Kept;
    let comes_up = waits.due_at.is_some() || !waits.when.is_empty();
    (is_kept && comes_up).then(|| match call.turn.message() {
        Some(heard) => heard.perception.words.as_claimed().to_owned(),
        None => String::new(),
    })
}

/// What an action waits for.
struct Waits {
    due_at: Option<Timestamp>,
    when: Vec<AwaitedName>,
    until: Option<Timestamp>,
}

impl Waits {
    fn of(call: &Call<'_>) -> Result<Self, String> {
        let due_at = call.moment("due_at")?;
        let until = call.moment("until")?;
        let when: Vec<AwaitedArgument> = call.read("when");
        let when: Vec<_> = when
            .into_iter()
            .map(|one| awaited(call, one))
            .collect::<Result<_, _>>()?;
        let waits = due_at.is_some() || !when.is_empty();
        if waits && call.state.promises.iter().len() >= Promises::MOST {
            return Err("you wait for too many things already: take some off first".to_owned());
        }
        match until {
            Some(_) if !waits => Err("until needs due_at or when".to_owned()),
            Some(until) if due_at.is_some_and(|due_at| due_at >= until) => {
                Err(format!("until is {until}; expected a moment after due_at"))
            }
            _ => Ok(Self {
                due_at,
                when,
                until,
            }),
        }
    }
}

/// What one argument waits for. The memory finds out who is meant.
fn awaited(call: &Call<'_>, argument: AwaitedArgument) -> Result<AwaitedName, String> {
    let AwaitedArgument {
        event: kind,
        who,
        place,
        words,
    } = argument;
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let words = given(words).map(|words| WordBeginnings::try_new(&words));
    let words = words.transpose().map_err(|error| error.to_string())?;
    let may_have_words = matches!(kind, AwaitedKind::Happens | AwaitedKind::Speaks);
    if words.is_some() && !may_have_words {
        return Err("words go with happens and speaks only".to_owned());
    }
    let who = given(who);
    if kind == AwaitedKind::Present && who.is_none() {
        return Err("present needs who".to_owned());
    }
    if kind == AwaitedKind::Happens && words.is_none() {
        return Err("happens needs words, such as \"door open\"".to_owned());
    }
    let place = given(place).map(|place| named_place(call, &place));
    let awaited = Awaited {
        place: place.transpose()?,
        words,
        ..Awaited::new(kind, None)
    };
    Ok(AwaitedName { awaited, who })
}

/// The place that is meant: where the message was said, or one that the world named lately.
fn named_place(call: &Call<'_>, place: &str) -> Result<PlaceId, String> {
    let attested = |heard: &Heard| {
        heard
            .perception
            .attested
            .place
            .as_ref()
            .map(|it| it.id.clone())
    };
    let here = call.turn.message().and_then(attested);
    let mut lately = call.state.overheard.iter().filter_map(attested);
    let found = match place {
        "here" => here,
        id => here
            .filter(|here| here.as_str() == id)
            .or_else(|| lately.find(|it| it.as_str() == id)),
    };
    found.ok_or_else(|| {
        format!("place is {place:?}; expected here, in answer to somebody in a place, or the id of a place that you have been in")
    })
}
