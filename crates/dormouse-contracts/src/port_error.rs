//! The failure of a call to a port.

use std::{error::Error, fmt};

use crate::future::BoxError;

/// A failed call to a port. The kind says what a caller can do, and only the kind is displayed; the cause is the
/// [`source`](Error::source).
///
/// Each port has its own alias, such as [`AppendError`](crate::AppendError). [`ModelError`](crate::ModelError) and
/// [`VectorError`](crate::VectorError) are separate types, because they also name the provider or index that failed.
#[derive(Debug)]
pub struct PortError<K> {
    kind: K,
    source: Option<BoxError>,
}

impl<K: Copy> PortError<K> {
    /// An error of this kind, with its cause if there is one.
    #[must_use]
    pub fn new(kind: K, source: Option<BoxError>) -> Self {
        Self { kind, source }
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> K {
        self.kind
    }
}

impl<K: fmt::Display> fmt::Display for PortError<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl<K: fmt::Debug + fmt::Display> Error for PortError<K> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppendError, AppendErrorKind};

    #[test]
    fn an_error_displays_its_kind_and_keeps_its_cause_apart() {
        let error = AppendError::new(AppendErrorKind::Storage, Some("disk full".into()));
        assert_eq!(error.kind(), AppendErrorKind::Storage);
        assert_eq!(error.to_string(), "the log could not be written");
        let cause = error.source().map(ToString::to_string);
        assert_eq!(cause.as_deref(), Some("disk full"));
    }
}
