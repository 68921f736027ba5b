//! Reads the whole log, to report what is intact.

use std::{collections::BTreeSet, fmt};

use dormouse_contracts::{AssistantId, ReadErrorKind, Seq};
use dormouse_database::DatabaseHandle;
use redb::{ReadTransaction, ReadableTable};

use crate::{
    events,
    fault::{Fault, contained},
    rows::{EVENTS, HEADS, SNAPSHOTS, decode_snapshot_at, key, parse_key},
};

/// How many events are verified at once.
const PAGE: usize = 1024;

/// The state of a log, assistant by assistant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// One entry for each assistant, by name.
    pub assistants: Vec<AssistantReport>,
}

impl VerifyReport {
    /// Whether every event is intact. Damaged snapshots are not counted: they can be created again.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.assistants.iter().all(|report| report.damage.is_none())
    }
}

/// The state of one assistant's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssistantReport {
    /// The assistant.
    pub assistant: AssistantId,
    /// How many events are intact, from the first one without a gap.
    pub intact: u64,
    /// The first damaged event and what is wrong with it. Later events were not examined.
    pub damage: Option<ReadErrorKind>,
    /// How many snapshots match their checksum.
    pub snapshots_intact: u64,
    /// How many snapshots do not match their checksum. They are never used.
    pub snapshots_damaged: u64,
}

impl fmt::Display for AssistantReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = counted(self.intact, "event");
        write!(f, "{}: {events} intact", self.assistant)?;
        if let Some(damage) = &self.damage {
            write!(f, ", then: {damage}")?;
        }
        let snapshots = counted(self.snapshots_intact, "snapshot");
        write!(f, "; {snapshots} intact")?;
        if self.snapshots_damaged > 0 {
            write!(f, ", {} damaged", self.snapshots_damaged)?;
        }
        Ok(())
    }
}

/// A number and what it counts: `1 event`, `2 events`.
fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, report) in self.assistants.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{report}")?;
        }
        Ok(())
    }
}

pub(crate) fn verify(database: &DatabaseHandle) -> Result<VerifyReport, Fault> {
    let verified = {
        let transaction = database.begin_read()?;
        let mut assistants = Vec::new();
        for assistant in names(&transaction)? {
            assistants.push(report(&transaction, assistant)?);
        }
        VerifyReport { assistants }
    };
    // What is damaged then is not a row: it is the record of free pages, or the page of a snapshot.
    let is_snapshot = |report: &AssistantReport| report.snapshots_damaged > 0;
    let is_explained = !verified.is_intact() || verified.assistants.iter().any(is_snapshot);
    if !is_explained && !database.check_view()? {
        return Err(events::corrupt());
    }
    Ok(verified)
}

/// The assistants in all tables, so that an assistant without a head is reported, too.
fn names(transaction: &ReadTransaction) -> Result<BTreeSet<AssistantId>, Fault> {
    contained(|| {
        let mut names = BTreeSet::new();
        for entry in transaction.open_table(HEADS)?.iter()? {
            let name = entry?.0.value().to_vec();
            names.extend(
                String::from_utf8(name)
                    .ok()
                    .and_then(|n| AssistantId::try_new(n).ok()),
            );
        }
        names.extend(events::owners(&transaction.open_table(EVENTS)?)?);
        names.extend(events::owners(&transaction.open_table(SNAPSHOTS)?)?);
        Ok(names)
    })
}

fn report(transaction: &ReadTransaction, assistant: AssistantId) -> Result<AssistantReport, Fault> {
    let mut next = Seq(1);
    let read = contained(|| {
        loop {
            let after = Seq(next.0.saturating_sub(1));
            if events::events(transaction, &assistant, after, PAGE, &mut next)?.is_empty() {
                return Ok(());
            }
        }
    });
    let damage = match read {
        Ok(()) => None,
        Err(Fault::Unusable(kind)) => Some(kind),
        Err(fault) if fault.is_damage() => Some(ReadErrorKind::Corrupt { at: next }),
        Err(fault) => return Err(fault),
    };
    let (snapshots_intact, snapshots_damaged) = snapshots(transaction, &assistant)?;
    Ok(AssistantReport {
        assistant,
        intact: next.0.saturating_sub(1),
        damage,
        snapshots_intact,
        snapshots_damaged,
    })
}

fn snapshots(transaction: &ReadTransaction, assistant: &AssistantId) -> Result<(u64, u64), Fault> {
    contained(|| {
        let (mut intact, mut damaged) = (0, 0);
        let table = transaction.open_table(SNAPSHOTS)?;
        let (first, last) = (key(assistant, Seq::ZERO), key(assistant, Seq(u64::MAX)));
        for entry in table.range(first.as_slice()..=last.as_slice())? {
            let (key, value) = entry?;
            let place = parse_key(key.value());
            if place
                .is_some_and(|(_, seq)| decode_snapshot_at(assistant, seq, value.value()).is_ok())
            {
                intact += 1;
            } else {
                damaged += 1;
            }
        }
        Ok((intact, damaged))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_one_is_reported_in_the_singular() {
        let report = |intact, snapshots_intact| {
            AssistantReport {
                assistant: AssistantId::try_new("dormouse").unwrap(),
                intact,
                damage: None,
                snapshots_intact,
                snapshots_damaged: 0,
            }
            .to_string()
        };
        assert_eq!(report(1, 1), "dormouse: 1 event intact; 1 snapshot intact");
        assert_eq!(
            report(2, 0),
            "dormouse: 2 events intact; 0 snapshots intact"
        );
    }
}
