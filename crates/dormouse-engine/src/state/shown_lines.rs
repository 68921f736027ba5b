//! Remembered lines that were shown recently.

use std::collections::VecDeque;

use dormouse_contracts::FORGOTTEN;
use serde::{Deserialize, Serialize};

use crate::event::{Event, RecalledItem, RecalledLine};

/// How many lines are kept. One search finds 50 at most, and the next one finds many of them again.
const LINES_KEPT: usize = 256;
/// How many bytes of text are kept, so that long lines do not make snapshots large.
const BYTES_KEPT: usize = 128 * 1024;

/// Remembered lines that were shown recently, the latest last. The log references such a line by number and does not
/// repeat it. They are part of the state, so a replay can resolve the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownLines(VecDeque<RecalledLine>);

impl ShownLines {
    /// These lines in the form that the log stores: a line that is unchanged here is stored as its number.
    pub(crate) fn named(&self, lines: Vec<RecalledLine>) -> Vec<RecalledItem> {
        let named = lines.into_iter().map(|line| {
            if self.0.contains(&line) {
                RecalledItem::Again(line.record)
            } else {
                RecalledItem::New(line)
            }
        });
        named.collect()
    }

    /// The lines that the log references or contains, without those that were forgotten.
    pub(crate) fn lines(&self, items: Vec<RecalledItem>) -> Vec<RecalledLine> {
        let lines = items.into_iter().filter_map(|item| match item {
            RecalledItem::New(line) => Some(line),
            RecalledItem::Again(record) => {
                let mut known = self.0.iter();
                known.find(|line| line.record == record).cloned()
            }
        });
        lines.filter(|line| line.text != FORGOTTEN).collect()
    }

    /// Folds one event in: the lines that it shows become the latest ones here, and removed lines are dropped.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Recollected(found) => self.take_in(self.lines(found.items.clone())),
            Event::MemoryChanged(changed) => {
                self.0.retain(|line| !changed.takes_out(line.record));
            }
            _ => {}
        }
    }

    /// Drops all lines.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn take_in(&mut self, lines: Vec<RecalledLine>) {
        self.0
            .retain(|old| lines.iter().all(|line| line.record != old.record));
        self.0.extend(lines);
        self.forget();
    }

    /// Forgets the oldest lines beyond the limits.
    fn forget(&mut self) {
        let mut bytes: usize = self.0.iter().map(|line| line.text.len()).sum();
        while (self.0.len() > LINES_KEPT || bytes > BYTES_KEPT)
            && let Some(earliest) = self.0.pop_front()
        {
            bytes -= earliest.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{Attribution, Seq, Timestamp, Trust};
    use dormouse_memory::{RecordId, RecordKind};

    use super::*;

    fn line(record: u64, text: &str) -> RecalledLine {
        RecalledLine {
            text: text.to_owned(),
            at: Timestamp::EPOCH,
            from: Attribution::Named("Alice".to_owned()),
            heard: None,
            place: None,
            trust: Trust::FULL,
            record: RecordId::event(Seq(record)),
            kind: RecordKind::Event,
            tokens: 3,
        }
    }

    /// For each search, what the log stores and what a replay resolves it to.
    fn looked(looks: &[Vec<RecalledLine>]) -> (Vec<Vec<RecalledItem>>, Vec<Vec<RecalledLine>>) {
        let mut lately = ShownLines::default();
        let looks = looks.iter().map(|lines| {
            let items = lately.named(lines.clone());
            {
                let lines = lately.lines(items.clone());
                lately.take_in(lines.clone());
                (items, lines)
            }
        });
        looks.unzip()
    }

    #[test]
    fn a_line_is_named_where_it_was_written_before_and_written_where_it_changed() {
        let (tea, hat) = (line(1, "tea"), line(2, "hat"));
        let doubted = RecalledLine {
            trust: Trust::NONE,
            ..tea.clone()
        };
        let looks = [
            vec![tea.clone()],
            vec![hat.clone(), tea.clone()],
            vec![doubted.clone(), hat.clone()],
            vec![doubted.clone()],
        ];
        let (items, lines) = looked(&looks);
        assert_eq!(lines, looks);
        let again = |record| RecalledItem::Again(RecordId::event(Seq(record)));
        let expected = [
            vec![RecalledItem::New(tea)],
            vec![RecalledItem::New(hat), again(1)],
            vec![RecalledItem::New(doubted), again(2)],
            vec![again(1)],
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_forgotten_is_written_again() {
        let long = "x".repeat(BYTES_KEPT / 4);
        let looks: Vec<_> = (0..1_000).map(|n| vec![line(n, "short")]).collect();
        let mut lately = ShownLines::default();
        for lines in looks {
            let items = lately.named(lines);
            lately.take_in(lately.lines(items));
        }
        assert_eq!(lately.0.len(), LINES_KEPT);
        for n in 0..20 {
            let items = lately.named(vec![line(n, &long)]);
            lately.take_in(lately.lines(items));
        }
        assert!(lately.0.len() <= 4);
        let items = lately.named(vec![line(3, &long)]);
        assert!(matches!(items[..], [RecalledItem::New(_)]));
    }
}
