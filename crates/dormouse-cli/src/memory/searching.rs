//! Recalling.

use std::{collections::BTreeMap, io, io::Write};

use dormouse_memory::{Fallback, RecallRequest, Recollection, Role, SearchMode, Validity};
use serde::Serialize;

use super::{CommandError, Place, Search, Teller, telling};
use crate::{exit::Exit, grammar::counted};

/// A recalled record as JSON.
#[derive(Serialize)]
struct Line<'a> {
    r#type: &'static str,
    role: Role,
    score: f32,
    parts: BTreeMap<&'static str, f32>,
    tokens: u32,
    folded: Vec<String>,
    record: telling::RecordLine<'a>,
}

/// What there is to say about the whole.
#[derive(Serialize)]
struct Summary {
    r#type: &'static str,
    found: usize,
    mode: SearchMode,
    waiting: u64,
}

/// Recalls what fits, best first, or packed.
pub(super) async fn search(place: &Place, asked: Search) -> Result<Exit, CommandError> {
    let teller = Teller::new(asked.form.json);
    let memory = place.look_by(&asked.by, asked.form.json.into()).await?;
    let recall = memory.recall(request(&asked)).await?;
    for item in &recall.items {
        teller.tell(&line(item), || text(item))?;
    }
    let summary = Summary {
        r#type: "recall",
        found: recall.items.len(),
        mode: recall.mode,
        waiting: recall.waiting,
    };
    if asked.form.json {
        teller.tell(&summary, String::new)?;
    } else {
        say(&summary);
    }
    Ok(Exit::Success)
}

fn request(asked: &Search) -> RecallRequest {
    let mut request = RecallRequest::new(asked.query.join(" "));
    if let Some(limit) = asked.limit {
        request = request.limit(usize::from(limit));
    }
    if let Some(tokens) = asked.tokens {
        request = request.tokens(tokens);
    }
    if let Some(least) = asked.min_trust {
        request = request.min_trust(least);
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

fn line(item: &Recollection) -> Line<'_> {
    Line {
        r#type: "recollection",
        role: item.role,
        score: item.score,
        parts: item.parts.iter().copied().collect(),
        tokens: item.tokens,
        folded: telling::ids(&item.folded),
        record: (&item.record).into(),
    }
}

fn text(item: &Recollection) -> String {
    let mut text = telling::brief(&item.record);
    let why = match item.role {
        Role::Match => format!("score {:.3}: {}", item.score, parts(&item.parts)),
        Role::Neighbour => "beside one that fits".to_owned(),
        Role::Linked => "linked with one that fits".to_owned(),
    };
    text.push('\n');
    text.push_str(&why);
    if !item.folded.is_empty() {
        let folded = telling::ids(&item.folded).join(", ");
        text.push_str(&format!("; nearly the same: {folded}"));
    }
    text
}

/// What contributed, the most first; what contributed nothing is left out.
fn parts(parts: &[(&'static str, f32)]) -> String {
    let mut parts: Vec<_> = parts.iter().filter(|(_, part)| *part != 0.0).collect();
    parts.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let parts: Vec<_> = parts
        .iter()
        .map(|(name, part)| format!("{name} {part:.3}"))
        .collect();
    parts.join(", ")
}

/// Says what does not stand in the records themselves.
fn say(summary: &Summary) {
    let mut err = io::stderr().lock();
    // If standard error is closed there is nobody to tell.
    if summary.found == 0 {
        drop(writeln!(err, "dormouse: nothing fits"));
    }
    if let SearchMode::WordsBecause(why) = &summary.mode {
        drop(writeln!(
            err,
            "dormouse: recalled by words alone, because {}",
            because(why)
        ));
    }
    if summary.waiting > 0 {
        let changes = counted(summary.waiting, "change is", "changes are");
        drop(writeln!(
            err,
            "dormouse: {changes} not in the vectors yet and found by words alone; `dormouse memory rebuild` brings them in"
        ));
    }
}

/// Why similarity was not had, and what to do about it.
pub(super) fn because(why: &Fallback) -> &'static str {
    match why {
        Fallback::Encoder => "the encoder could not be used",
        Fallback::EncoderPaused => "the encoder failed too often and is left alone for now",
        Fallback::VectorIndex => {
            "the vector index could not be reached, or refused: `dormouse doctor` asks it"
        }
        Fallback::IndexPaused => {
            "the vector index failed too often and is left alone for now: `dormouse doctor` asks it"
        }
        Fallback::IndexKey => {
            "the vector index refuses the key: set QDRANT_API_KEY to one that may write"
        }
        Fallback::IndexLost => {
            "the vector index has lost what it was given: it is fed again from the memory's file, all at once by \
             `dormouse memory rebuild`"
        }
        Fallback::NotEmbedded => {
            "no vectors are ready yet: `dormouse memory rebuild --embedder …` makes them"
        }
        Fallback::EncoderChanged => {
            "the vectors are of another encoder: `dormouse memory migrate --embedder …` changes it"
        }
        _ => "similarity could not be had",
    }
}
