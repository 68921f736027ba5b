//! `dormouse memory search`: recall, and why each record was found.

use std::collections::BTreeMap;

use dormouse_contracts::{Audience, EntityId};
use dormouse_entities::Profile;
use dormouse_memory::{
    CALIBRATED_FROM, Fallback, Memory, RecallRequest, Recollection, Role, SearchMode, Validity,
    Withheld,
};
use dormouse_tools::closest;
use serde::Serialize;

use super::{args::Search, render};
use crate::{
    command::{CommandError, MemoryFile, Printing, remark},
    describe::withheld_record,
    entity::{WhoError, find},
    exit::Exit,
    grammar::{counted, identified},
};

/// A recalled record as JSON.
#[derive(Serialize)]
struct Line<'a> {
    r#type: &'static str,
    role: Role,
    score: f32,
    parts: BTreeMap<&'static str, f32>,
    tokens: u32,
    folded: Vec<String>,
    record: render::RecordLine<'a>,
}

/// The whole answer, as JSON.
#[derive(Serialize)]
struct Summary {
    r#type: &'static str,
    found: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f32>,
    mode: SearchMode,
    waiting: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<WithheldLine>,
}

/// A record that was left out because of the listeners.
#[derive(Serialize)]
struct WithheldLine {
    record: String,
    audience: Audience,
}

/// Prints what the memory recalls: best first, or packed into tokens.
pub(super) async fn search(file: &MemoryFile, asked: Search) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let memory = file.view_by(&asked.by, printing).await?;
    let listeners = asked.listeners.iter();
    let listeners = listeners.map(|who| listener(&memory, who));
    let listeners = listeners.collect::<Result<_, _>>()?;
    let is_large = memory.stats().await?.records >= CALIBRATED_FROM;
    let mut request = request(&asked, listeners);
    match asked.min_confidence {
        Some(least) if is_large => request = request.min_confidence(least),
        Some(_) => remark(&format!(
            "--min-confidence has no effect on a memory of fewer than {CALIBRATED_FROM} records"
        )),
        None => {}
    }
    let recall = memory.recall(request).await?;
    for item in &recall.items {
        printing.print(&line(item), || text(item))?;
    }
    let summary = Summary {
        r#type: "recall",
        found: recall.items.len(),
        confidence: is_large.then_some(recall.confidence),
        mode: recall.mode,
        waiting: recall.waiting,
        withheld: recall.withheld.iter().map(withheld_line).collect(),
    };
    if printing == Printing::Text {
        for Withheld { record, audience } in &recall.withheld {
            remark(&withheld_record(*record, audience));
        }
    }
    match printing {
        Printing::Json => printing.print(&summary, String::new)?,
        Printing::Text => remark_on(&summary),
    }
    Ok(memory.exit())
}

/// The listener with this id or name. An unknown listener may hear only what is public. That result is easily
/// misunderstood, so the command says so.
fn listener(memory: &Memory, who: &str) -> Result<EntityId, CommandError> {
    match find(memory, who) {
        Ok(id) => Ok(id),
        Err(error @ WhoError::Several { .. }) => Err(error.into()),
        Err(error @ WhoError::Unknown { .. }) => {
            let Ok(id) = EntityId::try_new(who) else {
                return Err(error.into());
            };
            let meant = similar(memory, who);
            let meant = match meant.as_slice() {
                [] => "`dormouse entity list` prints all".to_owned(),
                meant => format!("did you mean {}?", meant.join(" or ")),
            };
            remark(&format!(
                "nobody with the id or name {who:?} is known, so this is what a stranger may hear. {meant}"
            ));
            Ok(id)
        }
    }
}

/// The people and things whose id or name is similar.
fn similar(memory: &Memory, who: &str) -> Vec<String> {
    memory.with_entities(|known| {
        let ids = known.profiles().map(|it| it.entity_id.as_str());
        let names = known
            .profiles()
            .flat_map(|it| it.names().map(|name| name.as_str()));
        let mut similar = Vec::new();
        for near in closest(who, ids.chain(names)) {
            let is_near = |it: &&Profile| {
                it.entity_id.as_str() == near || it.names().any(|name| name.as_str() == near)
            };
            let near = known.profiles().filter(is_near);
            similar.extend(near.map(|it| identified(it.name.as_str(), Some(&it.entity_id))));
        }
        similar.sort();
        similar.dedup();
        similar
    })
}

fn request(asked: &Search, listeners: Vec<EntityId>) -> RecallRequest {
    let mut request = RecallRequest::new(asked.query.join(" "));
    if let Some(limit) = asked.limit {
        request = request.limit(usize::from(limit));
    }
    if let [asker] = listeners.as_slice() {
        request = request.asked_by(asker.clone());
    }
    if !listeners.is_empty() {
        request = request.for_listeners(listeners.into_iter().collect());
    }
    if let Some(tokens) = asked.tokens {
        request = request.tokens(tokens);
    }
    if let Some(least) = asked.min_trust {
        request = request.min_trust(least).min_quote_trust(least);
    }
    if let Some(at) = asked.as_of {
        request = request.valid(Validity::At(at)).asked_at(at);
    }
    if let Some(from) = asked.since {
        request = request.since(from);
    }
    if let Some(until) = asked.before {
        request = request.before(until);
    }
    asked
        .kind
        .iter()
        .copied()
        .fold(request, RecallRequest::of_kind)
}

fn withheld_line(withheld: &Withheld) -> WithheldLine {
    WithheldLine {
        record: withheld.record.to_string(),
        audience: withheld.audience.clone(),
    }
}

fn line(item: &Recollection) -> Line<'_> {
    Line {
        r#type: "recollection",
        role: item.role,
        score: item.score,
        parts: item.parts.iter().copied().collect(),
        tokens: item.tokens,
        folded: render::ids(&item.folded),
        record: (&item.record).into(),
    }
}

fn text(item: &Recollection) -> Vec<String> {
    let mut why = match item.role {
        Role::Match => format!("score {:.3}: {}", item.score, parts(&item.parts)),
        Role::Neighbour => "next to a match".to_owned(),
        Role::Linked => "linked with a match".to_owned(),
    };
    if !item.folded.is_empty() {
        let folded = render::ids(&item.folded).join(", ");
        why.push_str(&format!("; nearly the same: {folded}"));
    }
    vec![render::brief(&item.record), why]
}

/// The features that contributed to the score, largest first; the others are left out.
fn parts(parts: &[(&'static str, f32)]) -> String {
    let mut parts: Vec<_> = parts.iter().filter(|(_, part)| *part != 0.0).collect();
    parts.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let parts: Vec<_> = parts
        .iter()
        .map(|(name, part)| format!("{name} {part:.3}"))
        .collect();
    parts.join(", ")
}

/// Prints remarks about the search as a whole.
fn remark_on(summary: &Summary) {
    if summary.found == 0 {
        remark("no record matches");
    } else if let Some(confidence) = summary.confidence {
        remark(&format!(
            "the probability that the memory contains an answer is {confidence:.2}"
        ));
    }
    if let SearchMode::WordsBecause(why) = &summary.mode {
        remark(&format!(
            "searched by words alone, because {}",
            because(why)
        ));
    }
    if summary.waiting > 0 {
        let changes = counted(summary.waiting, "change has", "changes have");
        remark(&format!(
            "{changes} no vectors yet and can be found by words alone; `dormouse memory rebuild` makes the vectors"
        ));
    }
}

/// Why the search did not use vectors, and what to do about it.
pub(super) fn because(why: &Fallback) -> &'static str {
    match why {
        Fallback::Encoder => "the encoder could not be used",
        Fallback::EncoderPaused => {
            "the encoder failed too often or does not exist, and is paused for now"
        }
        Fallback::VectorIndex => {
            "the vector index could not be reached, or refused the request: `dormouse doctor` checks it"
        }
        Fallback::IndexPaused => {
            "the vector index failed too often and is paused for now: `dormouse doctor` checks it"
        }
        Fallback::IndexKey => {
            "the vector index refuses the key: set QDRANT_API_KEY to a key with write access"
        }
        Fallback::IndexLost => {
            "the vector index has lost its data: it is filled again from the memory's file, or at once by \
             `dormouse memory rebuild`"
        }
        Fallback::NotEmbedded => {
            "no vectors are ready yet: `dormouse memory rebuild --embedder …` makes them"
        }
        Fallback::EncoderChanged => {
            "the vectors were made by another encoder: `dormouse memory migrate --embedder …` changes to this one"
        }
        _ => "the vectors could not be used",
    }
}
