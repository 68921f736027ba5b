//! What was learnt of models, kept in the data folder.

use std::{
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{ChatReply, ModelName, ProviderId, Timestamp};
use dormouse_database::sweep_leftovers;
use dormouse_dialects::{
    BookError, CallingChange, DialectBook, Evidence, Learnt, ProbeVerdict, ToolCalling, parse_reply,
};

mod file;
mod learning;

use file::{put_aside, read_book, write_book};
pub(crate) use learning::Learning;

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

/// The file does not say what was learnt. That can be learnt again, so nothing else fails by it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialectsError {
    /// It cannot be read.
    #[error("what was learnt of models cannot be read from {}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A newer program wrote it.
    #[error("what was learnt of models is left alone")]
    Newer(#[source] BookError),
    /// It is damaged, and was put aside.
    #[error("what was learnt of models is damaged, begins anew, and was kept as {}", aside.display())]
    Damaged {
        /// Where it is now.
        aside: PathBuf,
        /// What is wrong with it.
        source: BookError,
    },
    /// It is damaged, and stays where it is.
    #[error("what was learnt of models in {} is damaged; the next start begins anew", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: BookError,
    },
    /// It cannot be written.
    #[error("what was learnt of models cannot be kept in {}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
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

/// Why tools are offered as they are, in words.
pub(crate) fn because(evidence: Evidence) -> String {
    match evidence {
        Evidence::None => "nothing else was learnt of it".to_owned(),
        Evidence::Probed(verdict) => format!("when it was asked, it {}", showed(verdict)),
        Evidence::PrintedCalls(count) => {
            format!("it printed its calls into the text {count} times in a row")
        }
        Evidence::NativeCalls(count) => {
            format!("it made native calls {count} times in a row although none were asked for")
        }
        Evidence::ToolsLeftOut => "its server takes no tools".to_owned(),
        _ => "of a reason this version does not know".to_owned(),
    }
}

/// What a probe showed, in words.
pub(crate) fn showed(verdict: ProbeVerdict) -> &'static str {
    match verdict {
        ProbeVerdict::NativeWorks => "called the tool natively",
        ProbeVerdict::PrintsCalls => "printed the call into its text",
        ProbeVerdict::IgnoresTools => "answered as if there were no tool",
        ProbeVerdict::RefusesTools => "was not given the tool: its server takes none",
        _ => "showed nothing",
    }
}

/// A way of offering tools, in words.
pub(crate) fn way(calling: ToolCalling) -> &'static str {
    match calling {
        ToolCalling::Native => "natively",
        ToolCalling::Fallback => "as JSON in the text",
    }
}

#[cfg(test)]
mod tests;
