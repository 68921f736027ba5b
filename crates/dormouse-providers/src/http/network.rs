//! How requests travel.

use std::{fmt, time::Duration};

use dormouse_cassettes::{Player, Recorder};
use dormouse_contracts::BoxError;
use reqwest::Certificate;

use super::tape::Tape;

/// How long a server may say nothing. What bounds a whole reply is its caller's deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From the request until the answer begins. A server that loads its model first needs all of this.
    pub first_byte: Duration,
    /// From there on between two pieces of the answer. A model that thinks long sends signs of life, or its first word
    /// within this.
    pub between_bytes: Duration,
}

impl Default for Patience {
    /// One minute each.
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(60),
            between_bytes: Duration::from_secs(60),
        }
    }
}

/// How requests travel to a server: straight there, unless something else is set up. A clone shares what is set up.
#[derive(Clone, Default)]
pub struct Network {
    certificates: Vec<Certificate>,
    patience: Patience,
    tape: Tape,
}

/// A text that holds no certificates.
#[derive(Debug, thiserror::Error)]
#[error("these are no certificates; expected PEM, which begins with -----BEGIN CERTIFICATE-----")]
pub struct CertificateError(#[source] BoxError);

impl Network {
    /// Straight to the server, by the usual proxy variables (except to this machine), and with the certificates that this machine trusts.
    #[must_use]
    pub fn direct() -> Self {
        Self::default()
    }

    /// Trusts these authorities besides those that this machine trusts: certificates in PEM, one or many.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if there is none in it, or one that cannot be read.
    pub fn trusting(mut self, pem: &[u8]) -> Result<Self, CertificateError> {
        let read = Certificate::from_pem_bundle(pem);
        let read = read.map_err(|error| CertificateError(Box::new(error)))?;
        if read.is_empty() {
            return Err(CertificateError("there is none".into()));
        }
        self.certificates.extend(read);
        Ok(self)
    }

    /// Waits this long for a server that says nothing.
    #[must_use]
    pub fn waiting(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Records every exchange while it happens.
    ///
    /// Give the recorder the keys that are in use as its rules' secrets: what has the shape of a key is scrubbed anyway, what
    /// has none is not.
    #[must_use]
    pub fn recording(mut self, recorder: Recorder) -> Self {
        self.tape = Tape::Recorded(recorder);
        self
    }

    /// Answers every request from a recording, and asks no server. A request that is not in it is `Refused`, and its
    /// error tells where the nearest one differs. The pauses of the recording are left out.
    #[must_use]
    pub fn replaying(mut self, player: Player) -> Self {
        self.tape = Tape::Replayed(player);
        self
    }

    pub(crate) fn tape(&self) -> &Tape {
        &self.tape
    }

    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }

    pub(crate) fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("certificates", &self.certificates.len())
            .field("patience", &self.patience)
            .field("tape", &self.tape)
            .finish()
    }
}
