//! A part of a prompt that is a list below a heading: as many lines as fit.

use dormouse_contracts::{Audience, TokenCounter};

use super::MESSAGE;

/// The lines that fit, below their heading.
pub(super) struct ListedPart {
    pub(super) text: String,
    pub(super) tokens: u32,
    /// Who perceived each text in it.
    pub(super) audiences: Vec<Option<Audience>>,
}

/// A line, and who perceived the texts in it.
pub(super) type ListedLine = (String, Vec<Audience>);

impl ListedPart {
    /// The first of these lines that fit into `cap` tokens together with the heading; `None` if none does.
    pub(super) fn of(
        heading: &str,
        lines: impl ExactSizeIterator<Item = ListedLine>,
        cap: u32,
        counter: &dyn TokenCounter,
    ) -> Option<Self> {
        let all = lines.len();
        if all == 0 {
            return None;
        }
        let mut part = Self {
            text: heading.to_owned(),
            tokens: counter.count(heading).tokens.saturating_add(MESSAGE),
            audiences: Vec::new(),
        };
        for (place, (line, audiences)) in lines.enumerate() {
            let line = format!("\n{line}");
            let more = counter.count(&line).tokens.saturating_add(1);
            if part.tokens.saturating_add(more) > cap {
                // The note was not counted, so it takes the room of a line.
                part.text += &format!("\n(and {} more)", all - place);
                part.tokens = part.tokens.saturating_add(MESSAGE);
                break;
            }
            part.text += &line;
            part.tokens = part.tokens.saturating_add(more);
            part.audiences.extend(audiences.into_iter().map(Some));
        }
        (!part.audiences.is_empty()).then_some(part)
    }
}
