//! A text that was shown, whose words are looked at once.

use std::{
    borrow::Cow,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use super::{Note, ShownText, function_words::LANGUAGES, supplied::Supplied, words::assertions};

/// A text that a model was shown, and what it supplies to a note. That is found out when it is needed for the first time,
/// once for each language of a note, and kept: it follows from the text alone.
#[derive(Clone, Debug)]
pub struct AnalysedText<'a> {
    shown: ShownText<'a>,
    supplied: [OnceLock<Arc<Supplied>>; LANGUAGES],
    /// The text without its questions, if it has any.
    asserted: OnceLock<Option<Box<AnalysedText<'static>>>>,
}

impl<'a> From<ShownText<'a>> for AnalysedText<'a> {
    fn from(shown: ShownText<'a>) -> Self {
        Self {
            shown,
            supplied: Default::default(),
            asserted: OnceLock::new(),
        }
    }
}

impl<'a> Deref for AnalysedText<'a> {
    type Target = ShownText<'a>;

    fn deref(&self) -> &Self::Target {
        &self.shown
    }
}

impl PartialEq for AnalysedText<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown
    }
}

impl AnalysedText<'_> {
    /// The same text with words of its own.
    #[must_use]
    pub fn into_owned(self) -> AnalysedText<'static> {
        AnalysedText {
            shown: ShownText {
                words: Cow::Owned(self.shown.words.into_owned()),
                trust: self.shown.trust,
                speaker: self.shown.speaker,
                channel: self.shown.channel,
                around: self.shown.around,
                is_name: self.shown.is_name,
            },
            supplied: self.supplied,
            asserted: self.asserted,
        }
    }

    /// What it supplies to this note.
    pub(super) fn supplied(&self, note: &Note) -> &Supplied {
        let language = note.language;
        let [first, ..] = &self.supplied;
        let place = self.supplied.get(language.number()).unwrap_or(first);
        place.get_or_init(|| Supplied::by(language, &self.shown))
    }

    /// The text without its questions.
    pub(super) fn asserted(&self) -> &AnalysedText<'_> {
        let asserted = self
            .asserted
            .get_or_init(|| match assertions(&self.shown.words) {
                Cow::Borrowed(_) => None,
                Cow::Owned(words) => Some(Box::new(AnalysedText::from(ShownText {
                    trust: self.shown.trust,
                    speaker: self.shown.speaker.clone(),
                    channel: self.shown.channel.clone(),
                    around: self.shown.around.clone(),
                    words: Cow::Owned(words),
                    is_name: self.shown.is_name,
                }))),
            });
        asserted.as_deref().unwrap_or(self)
    }

    /// Whether it asks nothing.
    pub(super) fn asserts_all(&self) -> bool {
        std::ptr::eq(self.asserted(), self)
    }
}
