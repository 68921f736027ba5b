//! Counts the secrets that an older log holds.

use std::collections::BTreeMap;

use dormouse_contracts::{StoredEvent, each_event};
use dormouse_engine::secrets_of;
use dormouse_host::DataFolder;
use dormouse_redact::SensitiveKind;
use dormouse_store::RedbLog;

use super::{Finding, wrong};
use crate::{
    command::{CommandError, block_on},
    grammar::{counted, listed},
};

/// How many events hold secrets, and how many of each kind.
#[derive(Default)]
struct Held {
    events: u64,
    kinds: BTreeMap<SensitiveKind, u64>,
}

/// The finding about secrets in the log, if it holds any. The secrets themselves are not printed.
pub(super) fn finding(data: &DataFolder, log: &RedbLog) -> Option<Finding> {
    let held = match block_on(held(log)) {
        Ok(Ok(held)) => held,
        Ok(Err(error)) | Err(error) => return Some(wrong(&error, error.exit())),
    };
    let kinds = held.kinds.iter().map(|(kind, count)| {
        let kind = kind.as_str();
        counted(*count, kind, &format!("{kind}s"))
    });
    let kinds: Vec<_> = kinds.collect();
    if kinds.is_empty() {
        return None;
    }
    let events = counted(held.events, "event", "events");
    Some(Finding::Doubtful(format!(
        "the log holds {} in {events}, from a version that did not mask them or with secrets_in_log = \"kept\": do not \
         give the log away; `dormouse forget --secrets {}` masks them",
        listed(&kinds),
        crate::data::flag(data)
    )))
}

async fn held(log: &RedbLog) -> Result<Held, CommandError> {
    let mut held = Held::default();
    for (key, _) in log.assistants()? {
        let count = |event: &StoredEvent| {
            held.count(event);
            Ok::<_, CommandError>(())
        };
        each_event(log, &key, .., count).await?;
    }
    Ok(held)
}

impl Held {
    fn count(&mut self, event: &StoredEvent) {
        let found = secrets_of(event);
        self.events += u64::from(!found.is_empty());
        for (kind, count) in found {
            *self.kinds.entry(kind).or_default() += count;
        }
    }
}
