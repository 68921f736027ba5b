//! The book of dialects, and the file in which it is stored.

use std::path::{Path, PathBuf};

use dormouse_contracts::{ChatReply, ModelName, ProviderId, Timestamp};
use dormouse_database::sweep_leftovers;
use dormouse_dialects::{
    CallingChange, Content, DialectBook, Learnt, ProbeVerdict, ToolCalling, call_among_words,
    parse_reply,
};
use dormouse_engine::Call;

use super::file::{DialectsError, put_aside, read_book, write_book};

/// The book of dialects, and the file in which it is stored.
#[derive(Debug)]
pub struct Dialects {
    file: PathBuf,
    book: DialectBook,
    /// Whether something was learnt that is not in the file yet.
    unsaved: bool,
    /// Whether the file must not be written.
    sealed: bool,
}

impl Dialects {
    /// Opens the book for learning. A damaged book is put aside, and an unreadable one is left as it is. Both are returned
    /// as an error together with an empty book.
    pub fn open(file: &Path) -> (Self, Option<DialectsError>) {
        sweep_leftovers(file);
        match read_book(file) {
            Ok(book) => (Self::of(file, book), None),
            Err(DialectsError::Unreadable { file: _, source }) => match put_aside(file) {
                Ok(aside) => {
                    let error = DialectsError::Damaged { aside, source };
                    (Self::of(file, DialectBook::default()), Some(error))
                }
                Err(error) => (Self::sealed(file), Some(error)),
            },
            Err(error) => (Self::sealed(file), Some(error)),
        }
    }

    /// Opens the book for reading.
    pub fn look(file: &Path) -> (Self, Option<DialectsError>) {
        match read_book(file) {
            Ok(book) => (Self::of(file, book), None),
            Err(error) => (Self::sealed(file), Some(error)),
        }
    }

    fn of(file: &Path, book: DialectBook) -> Self {
        Self {
            file: file.to_owned(),
            book,
            unsaved: false,
            sealed: false,
        }
    }

    fn sealed(file: &Path) -> Self {
        Self {
            sealed: true,
            ..Self::of(file, DialectBook::default())
        }
    }

    /// The known facts about a model.
    pub fn learnt(&self, provider: &ProviderId, model: &ModelName) -> Learnt {
        self.book.calling(provider, model)
    }

    /// Learns from a reply to a request that offered tools in this way, and from the calls parsed from it.
    pub fn observe(
        &mut self,
        reply: &ChatReply,
        offered: ToolCalling,
        made: &[Call],
        at: Timestamp,
    ) -> Option<CallingChange> {
        // A model without a provider is part of this program, so there is nothing to learn about it.
        let info = reply.info.as_ref()?;
        // Names the engine did not parse as a tool call are not counted.
        let was_called = |name: &str| made.iter().any(|call| call.name == name);
        let mut signs = parse_reply(reply, offered, was_called).signs;
        if offered == ToolCalling::Native
            && let Some(among_words) = call_among_words(reply, was_called)
            && let Content::Calls(calls) = &among_words.content
            && calls.iter().all(|call| {
                let is_it =
                    |other: &Call| (&other.name, &other.arguments) == (&call.name, &call.arguments);
                made.iter().any(is_it)
            })
        {
            signs = among_words.signs;
        }
        self.unsaved = true;
        let book = &mut self.book;
        book.observe(&info.provider, &info.model, &signs, offered, at)
    }

    /// Learns from a probe.
    pub fn probed(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        verdict: ProbeVerdict,
        at: Timestamp,
    ) -> Option<CallingChange> {
        self.unsaved = true;
        self.book.probed(provider, model, verdict, at)
    }

    /// Writes what was learnt, together with what other processes have written since.
    ///
    /// # Errors
    ///
    /// [`DialectsError::Write`]; the file is as before.
    pub fn save(&mut self) -> Result<(), DialectsError> {
        if self.sealed || !self.unsaved {
            return Ok(());
        }
        // Another process may have written since. If that cannot be read, ours replaces it.
        if let Ok(others) = read_book(&self.file) {
            self.book.merge(&others);
        }
        write_book(&self.file, &self.book)?;
        self.unsaved = false;
        Ok(())
    }
}
