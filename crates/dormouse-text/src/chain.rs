//! An error and its causes in one text.

use std::error::Error;

/// The message of an error and of its causes, outermost first, separated by `: `.
///
/// A cause that repeats a part of the message before it is left out. Nothing is escaped; escape the text before you
/// print it.
#[must_use]
pub fn error_chain(error: &dyn Error) -> String {
    let mut last = error.to_string();
    let mut chain = last.clone();
    let mut next = error.source();
    while let Some(cause) = next {
        let message = cause.to_string();
        if !last.contains(&message) {
            chain = format!("{chain}: {message}");
            last = message;
        }
        next = cause.source();
    }
    chain
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn a_cause_is_shown_unless_the_previous_message_contains_it() {
        let disk = Layer("no space left", None);
        let write = Layer("a.log: no space left", Some(Box::new(disk)));
        let save = Layer("not saved", Some(Box::new(write)));
        assert_eq!(error_chain(&save), "not saved: a.log: no space left");
    }
}
