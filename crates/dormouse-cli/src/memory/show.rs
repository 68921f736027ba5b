//! Printing records, their history, and how much the memory holds.

use std::collections::VecDeque;

use dormouse_memory::{
    EncoderState, LostWords, Memory, Record, RecordId, Space, SpaceState, Stats, Why,
};
use serde::Serialize;

use super::{
    args::{List, Of},
    render, withheld,
};
use crate::{
    command::{ByEncoder, CommandError, CommandFailure, MemoryFile, Printing},
    exit::Exit,
    grammar::counted,
};

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// The memory has no such record.
#[derive(Debug, thiserror::Error)]
#[error("there is no record {0}; `dormouse memory list --all` prints all there are")]
struct NoSuchRecord(RecordId);

impl CommandFailure for NoSuchRecord {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

#[derive(Serialize)]
struct RecordItem<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    record: render::RecordLine<'a>,
}

impl<'a> From<&'a Record> for RecordItem<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            r#type: "record",
            record: record.into(),
        }
    }
}

/// Prints the requested records, one per line. Holds only one page of records, or the last ones, in memory.
pub(super) async fn list(file: &MemoryFile, asked: &List) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let memory = file.view(printing).await?;
    let mut last = VecDeque::new();
    let mut after = None;
    loop {
        let page = memory.records(after, PAGE).await?;
        let Some(end) = page.last() else { break };
        after = Some(end.id);
        last.extend(page.into_iter().filter(|record| is_asked(asked, record)));
        match asked.last {
            None => print_all(printing, last.drain(..))?,
            Some(count) => drop(last.drain(..last.len().saturating_sub(count))),
        }
    }
    print_all(printing, last)?;
    Ok(memory.exit())
}

fn is_asked(asked: &List, record: &Record) -> bool {
    let is_of_kind = asked.kind.is_empty() || asked.kind.contains(&record.kind);
    is_of_kind && (asked.all || record.is_in_use())
}

fn print_all(
    printing: Printing,
    records: impl IntoIterator<Item = Record>,
) -> Result<(), CommandError> {
    for record in records {
        printing.print(&RecordItem::from(&record), || line(&record))?;
    }
    Ok(())
}

fn line(record: &Record) -> String {
    let brief = render::brief(record);
    match render::status(record.status) {
        ("live", _) => brief,
        _ if render::is_superseded_later(record) => brief,
        (status, _) => format!("{brief} ({status})"),
    }
}

/// A record that must exist.
pub(super) async fn existing(memory: &Memory, id: RecordId) -> Result<Record, CommandError> {
    let record = memory.record(id).await?;
    Ok(record.ok_or(NoSuchRecord(id))?)
}

/// Prints a record.
pub(super) async fn show(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let printing = of.json.printing();
    let memory = file.view(printing).await?;
    let why = memory.why(of.id).await?;
    let why = why.ok_or(NoSuchRecord(of.id))?;
    printing.print(&RecordItem::from(&why.record), || shown(&why))?;
    Ok(memory.exit())
}

fn shown(why: &Why) -> Vec<String> {
    let record = &why.record;
    let mut lines = vec![render::brief(record), render::details(record)];
    lines.extend(lost_words(why).map(|lost| format!("    {lost}")));
    lines
}

/// Why a record has no words any more; `None` if it has words.
pub(super) fn lost_words(why: &Why) -> Option<String> {
    let id = why.record.id;
    Some(match why.lost_words()? {
        LostWords::Erased => format!(
            "record {id} was erased from the memory; `dormouse forget --record {id}` takes its words out of the log, too"
        ),
        LostWords::Forgotten => format!(
            "the words of record {id} were forgotten: they are in no file any more and cannot be restored. \
             `dormouse log show` says who had them forgotten, and why"
        ),
    })
}

#[derive(Serialize)]
struct WhyItem<'a> {
    r#type: &'static str,
    record: render::RecordLine<'a>,
    sources: Vec<render::RecordLine<'a>>,
    changes: Vec<render::ChangeLine<'a>>,
    withheld: &'a [withheld::WithheldTurn],
}

/// Prints where a record comes from, and its changes.
pub(super) async fn why(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let printing = of.json.printing();
    let memory = file.view(printing).await?;
    let why = memory.why(of.id).await?;
    let why = why.ok_or(NoSuchRecord(of.id))?;
    let withheld = withheld::turns(file, of.id).await?;
    let item = WhyItem {
        r#type: "why",
        record: (&why.record).into(),
        sources: why.sources.iter().map(Into::into).collect(),
        changes: why.changes.iter().map(Into::into).collect(),
        withheld: &withheld,
    };
    printing.print(&item, || {
        let mut lines = reasons(&why);
        lines.extend(withheld::lines(&withheld));
        lines
    })?;
    Ok(memory.exit())
}

fn reasons(why: &Why) -> Vec<String> {
    let mut lines = shown(why);
    let event = |origin: RecordId| {
        let event = origin.seq();
        format!("`dormouse log show --from {event} --to {event}`")
    };
    lines.push(format!("its event in the log: {}", event(why.record.id)));
    for source in &why.sources {
        lines.push(format!("made of {}", render::brief(source)));
        lines.push(format!(
            "    `dormouse memory show {}`, {}",
            source.id,
            event(source.id)
        ));
    }
    // An act without words is a source, but not a record.
    let is_record = |origin: &RecordId| why.sources.iter().any(|source| source.id == *origin);
    let sources = &why.record.provenance.derived_from;
    for source in sources.iter().filter(|source| !is_record(source)) {
        lines.push(format!("made of event {source}: {}", event(*source)));
    }
    lines.extend(why.changes.iter().map(render::change));
    lines
}

#[derive(Serialize)]
struct StatsItem {
    r#type: &'static str,
    #[serde(flatten)]
    stats: Stats,
    encoder: EncoderState,
    spaces: Vec<Space>,
}

/// Prints how much the memory holds.
pub(super) async fn stats(
    file: &MemoryFile,
    by: &ByEncoder,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let memory = file.view_by(by, printing).await?;
    let item = StatsItem {
        r#type: "stats",
        stats: memory.stats().await?,
        encoder: memory.encoder_state().await?,
        spaces: memory.spaces().await?,
    };
    printing.print(&item, || numbers(&item))?;
    Ok(memory.exit())
}

fn numbers(item: &StatsItem) -> Vec<String> {
    let Stats {
        in_use,
        records,
        changes,
        entities,
        file_bytes,
        index_bytes,
        log_through,
    } = &item.stats;
    let mut lines = vec![
        format!(
            "{} in use, {records} ever added",
            counted(*in_use, "record", "records")
        ),
        counted(*changes, "change", "changes"),
        format!("people and things known: {entities}"),
        format!(
            "file: {:.1} MB; search index in memory: {:.1} MB",
            *file_bytes as f64 / 1e6,
            *index_bytes as f64 / 1e6
        ),
        format!("the memory has read the log through event {log_through}"),
    ];
    for space in &item.spaces {
        let model = &space.encoder.model;
        let state = match space.state {
            SpaceState::Active => "in use",
            SpaceState::Building => "being filled",
            SpaceState::Retired => "kept",
            _ => "there",
        };
        lines.push(format!("vectors of {model}: {state}"));
    }
    if let EncoderState::Other { configured, .. } = &item.encoder {
        let model = &configured.model;
        lines.push(format!(
            "{model} is another encoder: `dormouse memory migrate` changes to it"
        ));
    }
    lines
}
