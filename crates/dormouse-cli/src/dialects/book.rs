//! What was learnt about models, and the file it is kept in.

use std::path::{Path, PathBuf};

use dormouse_contracts::{ChatReply, ModelName, ProviderId, Timestamp};
use dormouse_database::sweep_leftovers;
use dormouse_dialects::{
    CallingChange, DialectBook, Learnt, ProbeVerdict, ToolCalling, parse_reply,
};

use super::file::{DialectsError, put_aside, read_book, write_book};

/// The book of dialects and the file it is kept in.
#[derive(Debug)]
pub(crate) struct Dialects {
    file: PathBuf,
    book: DialectBook,
    /// Whether something was learnt that is not in the file yet.
    unsaved: bool,
    /// Whether the file is to stay as it is.
    sealed: bool,
}

impl Dialects {
    /// Opens the book to learn more. One that is damaged is put aside, and one that cannot be read is left as it is;
    /// either is told, and an empty one is used in its place.
    pub(crate) fn open(file: &Path) -> (Self, Option<DialectsError>) {
        sweep_leftovers(file);
        match read_book(file) {
            Ok(book) => (Self::of(file, book), None),
            Err(DialectsError::Unreadable { file: _, source }) => match put_aside(file) {
                Ok(aside) => {
                    let told = DialectsError::Damaged { aside, source };
                    (Self::of(file, DialectBook::default()), Some(told))
                }
                Err(error) => (Self::sealed(file), Some(error)),
            },
            Err(error) => (Self::sealed(file), Some(error)),
        }
    }

    /// The book as it is, for somebody who changes nothing.
    pub(crate) fn look(file: &Path) -> (Self, Option<DialectsError>) {
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

    /// What is known of a model.
    pub(crate) fn learnt(&self, provider: &ProviderId, model: &ModelName) -> Learnt {
        self.book.calling(provider, model)
    }

    /// Takes in a reply to a request in which tools were offered in this way, and of which these calls were made.
    pub(crate) fn observe(
        &mut self,
        reply: &ChatReply,
        offered: ToolCalling,
        was_called: impl Fn(&str) -> bool,
        at: Timestamp,
    ) -> Option<CallingChange> {
        // A model without a provider is part of this program, and there is nothing to learn of it.
        let info = reply.info.as_ref()?;
        let signs = parse_reply(reply, offered, was_called).signs;
        self.unsaved = true;
        let book = &mut self.book;
        book.observe(&info.provider, &info.model, &signs, offered, at)
    }

    /// Takes in what a probe showed.
    pub(crate) fn probed(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        verdict: ProbeVerdict,
        at: Timestamp,
    ) -> Option<CallingChange> {
        self.unsaved = true;
        self.book.probed(provider, model, verdict, at)
    }

    /// Writes what was learnt, together with what others have written meanwhile.
    pub(crate) fn save(&mut self) -> Result<(), DialectsError> {
        if self.sealed || !self.unsaved {
            return Ok(());
        }
        // What another program has made of it meanwhile is not lost; if that is nothing, ours goes on.
        if let Ok(others) = read_book(&self.file) {
            self.book.merge(&others);
        }
        write_book(&self.file, &self.book)?;
        self.unsaved = false;
        Ok(())
    }
}
