//! Looking at one record, and at how much there is.

use dormouse_memory::{EncoderState, Record, RecordId, Space, Stats, Why};
use serde::Serialize;

use super::{By, CommandError, Form, Of, Place, Teller, telling};
use crate::exit::Exit;

#[derive(Serialize)]
pub(super) struct RecordItem<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    record: telling::RecordLine<'a>,
}

impl<'a> From<&'a Record> for RecordItem<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            r#type: "record",
            record: record.into(),
        }
    }
}

/// Prints a record.
pub(super) async fn show(place: &Place, of: Of) -> Result<Exit, CommandError> {
    let memory = place.look(of.form.json.into()).await?;
    let record = memory.record(of.id).await?;
    let record = record.ok_or(CommandError::NoSuchRecord(of.id))?;
    Teller::new(of.form.json).tell(&RecordItem::from(&record), || shown(&record))?;
    Ok(Exit::Success)
}

fn shown(record: &Record) -> String {
    format!("{}\n{}", telling::brief(record), telling::details(record))
}

#[derive(Serialize)]
struct WhyItem<'a> {
    r#type: &'static str,
    record: telling::RecordLine<'a>,
    sources: Vec<telling::RecordLine<'a>>,
    changes: Vec<telling::ChangeLine<'a>>,
}

/// Prints where a record comes from, and what happened to it.
pub(super) async fn why(place: &Place, of: Of) -> Result<Exit, CommandError> {
    let memory = place.look(of.form.json.into()).await?;
    let why = memory.why(of.id).await?;
    let why = why.ok_or(CommandError::NoSuchRecord(of.id))?;
    let item = WhyItem {
        r#type: "why",
        record: (&why.record).into(),
        sources: why.sources.iter().map(Into::into).collect(),
        changes: why.changes.iter().map(Into::into).collect(),
    };
    Teller::new(of.form.json).tell(&item, || reasons(&why))?;
    Ok(Exit::Success)
}

fn reasons(why: &Why) -> String {
    let mut lines = vec![shown(&why.record)];
    for source in &why.sources {
        lines.push(format!("made of {}", telling::brief(source)));
    }
    let origins = std::iter::once(&why.record).chain(&why.sources);
    for event in origins.filter_map(event) {
        lines.push(format!(
            "event {event} of the log: dormouse log show --from {event} --to {event}"
        ));
    }
    lines.extend(why.changes.iter().map(telling::change));
    lines.join("\n")
}

/// The event of the log that a record was made of.
fn event(record: &Record) -> Option<u64> {
    let origin = record.lineage.origin.as_deref()?;
    origin.strip_prefix("log:")?.parse().ok()
}

#[derive(Serialize)]
struct StatsItem {
    r#type: &'static str,
    #[serde(flatten)]
    stats: Stats,
    encoder: EncoderState,
    spaces: Vec<Space>,
}

/// Prints how much there is.
pub(super) async fn stats(place: &Place, by: &By, form: Form) -> Result<Exit, CommandError> {
    let memory = place.look_by(by, form.json.into()).await?;
    let item = StatsItem {
        r#type: "stats",
        stats: memory.stats().await?,
        encoder: memory.encoder_state().await?,
        spaces: memory.spaces().await?,
    };
    Teller::new(form.json).tell(&item, || counted(&item))?;
    Ok(Exit::Success)
}

fn counted(item: &StatsItem) -> String {
    let Stats {
        in_use,
        records,
        changes,
        entities,
        file_bytes,
        index_bytes,
        log_through,
    } = &item.stats;
    let mut text = format!(
        "{in_use} records in use, {records} ever added\n{changes} changes\npeople and things known: {entities}\n\
         file: {:.1} MB; search index in memory: {:.1} MB\nthe log is taken in through event {log_through}",
        *file_bytes as f64 / 1e6,
        *index_bytes as f64 / 1e6,
    );
    for space in &item.spaces {
        let model = &space.encoder.model;
        let state = match space.state {
            dormouse_memory::SpaceState::Active => "in use",
            dormouse_memory::SpaceState::Building => "being filled",
            dormouse_memory::SpaceState::Retired => "kept",
            _ => "there",
        };
        text.push_str(&format!("\nvectors of {model}: {state}"));
    }
    if let EncoderState::Other { configured, .. } = &item.encoder {
        let model = &configured.model;
        text.push_str(&format!(
            "\n{model} is another encoder: `dormouse memory migrate` goes over to it"
        ));
    }
    text
}

/// A record that must be there.
pub(super) async fn required(
    memory: &dormouse_memory::Memory,
    id: RecordId,
) -> Result<Record, CommandError> {
    let record = memory.record(id).await?;
    record.ok_or(CommandError::NoSuchRecord(id))
}
