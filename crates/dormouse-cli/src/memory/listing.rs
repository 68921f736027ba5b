//! Printing every record.

use std::collections::VecDeque;

use dormouse_memory::Record;

use super::{CommandError, List, Place, Teller, looking::RecordItem, telling};
use crate::exit::Exit;

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// Prints the records that are asked for, a line for each. Holds a page of them, or the last ones, in memory.
pub(super) async fn list(place: &Place, asked: &List) -> Result<Exit, CommandError> {
    let memory = place.look(asked.form.json.into()).await?;
    let teller = Teller::new(asked.form.json);
    let mut last = VecDeque::new();
    let mut after = None;
    loop {
        let page = memory.records(after, PAGE).await?;
        let Some(end) = page.last() else { break };
        after = Some(end.id);
        last.extend(page.into_iter().filter(|record| is_asked(asked, record)));
        match asked.last {
            None => print(&teller, last.drain(..))?,
            Some(count) => drop(last.drain(..last.len().saturating_sub(count))),
        }
    }
    print(&teller, last)?;
    Ok(Exit::Success)
}

fn is_asked(asked: &List, record: &Record) -> bool {
    let is_of_kind = asked.kind.is_empty() || asked.kind.contains(&record.kind);
    is_of_kind && (asked.all || record.is_in_use())
}

fn print(teller: &Teller, records: impl IntoIterator<Item = Record>) -> Result<(), CommandError> {
    for record in records {
        teller.tell(&RecordItem::from(&record), || line(&record))?;
    }
    Ok(())
}

fn line(record: &Record) -> String {
    let brief = telling::brief(record);
    match telling::standing(record.standing) {
        ("live", _) => brief,
        (standing, _) => format!("{brief} ({standing})"),
    }
}
