//! How requests travel to a server.

use std::{fmt, time::Duration};

use dormouse_cassettes::{Player, Recorder};
use dormouse_contracts::BoxError;
use reqwest::Certificate;

use super::transport::Transport;

/// How long a server may be silent. The caller's deadline bounds the duration of a whole reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkTimeouts {
    /// The time from the request to the start of the answer. It includes the time to load a model.
    pub first_byte: Duration,
    /// The time between two pieces of the answer. A model that thinks for long must send a keep-alive or its first text
    /// within this time.
    pub between_bytes: Duration,
}

impl Default for NetworkTimeouts {
    /// One minute each.
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(60),
            between_bytes: Duration::from_secs(60),
        }
    }
}

/// How requests travel to a server: directly by default. A clone shares the settings.
#[derive(Clone, Default)]
pub struct Network {
    certificates: Vec<Certificate>,
    timeouts: NetworkTimeouts,
    transport: Transport,
}

/// The text has no valid certificates.
#[derive(Debug, thiserror::Error)]
#[error(
    "the text has no valid certificates; expected PEM, which begins with -----BEGIN CERTIFICATE-----"
)]
pub struct CertificateError(#[source] BoxError);

impl Network {
    /// Sends requests to the server, without recording or replaying. Uses the usual proxy variables (except to this machine)
    /// and trusts the certificates that this machine trusts.
    #[must_use]
    pub fn direct() -> Self {
        Self::default()
    }

    /// Trusts these authorities in addition to the machine's: one or more certificates in PEM.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if the text has no certificate or an invalid one.
    pub fn trusting(mut self, pem: &[u8]) -> Result<Self, CertificateError> {
        let read = Certificate::from_pem_bundle(pem);
        let read = read.map_err(|error| CertificateError(Box::new(error)))?;
        if read.is_empty() {
            return Err(CertificateError("no certificate found".into()));
        }
        self.certificates.extend(read);
        Ok(self)
    }

    /// Sets how long a server may be silent.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: NetworkTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Records every exchange.
    ///
    /// Pass the keys in use to the recorder's rules as secrets: a key with a known format is removed in any case, but others
    /// are not.
    #[must_use]
    pub fn recording(mut self, recorder: Recorder) -> Self {
        self.transport = Transport::Recorded(recorder);
        self
    }

    /// Answers every request from a recording, without a server. A request that is not in the recording is `Refused`;
    /// the error shows how it differs from the nearest one. The recorded pauses are skipped.
    #[must_use]
    pub fn replaying(mut self, player: Player) -> Self {
        self.transport = Transport::Replayed(player);
        self
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    pub(crate) fn timeouts(&self) -> NetworkTimeouts {
        self.timeouts
    }

    pub(crate) fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("certificates", &self.certificates.len())
            .field("timeouts", &self.timeouts)
            .field("transport", &self.transport)
            .finish()
    }
}
