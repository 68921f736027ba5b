//! What a connection needs to know.

use std::{path::PathBuf, time::Duration};

/// Where the log is, and what it must keep to.
#[derive(Clone, Debug)]
pub struct NatsConfig {
    /// Addresses of servers of one cluster, such as `nats://10.0.0.1:4222` or `tls://…`. One that answers is enough.
    pub servers: Vec<String>,
    /// The name and the password of the account that owns the stream, if the servers ask for one.
    pub login: Option<NatsLogin>,
    /// A file with certificates of authorities, in addition to those of the system.
    pub authorities: Option<PathBuf>,
    /// The name of the stream. It is made if it does not exist; one with other settings is refused.
    pub stream: String,
    /// How many servers have every event. Three survive the loss of one.
    pub replicas: usize,
    /// How it is known that the servers acknowledge an event only when it is on disk.
    pub durability: NatsDurability,
    /// How long a call is repeated while the cluster chooses a leader or cannot be reached. Well below the two minutes for
    /// which the stream recognises a message that is sent again.
    pub patience: Duration,
}

impl NatsConfig {
    /// A log on three servers, in the stream `DORMOUSE`.
    #[must_use]
    pub fn new(
        servers: impl IntoIterator<Item = impl Into<String>>,
        durability: NatsDurability,
    ) -> Self {
        Self {
            servers: servers.into_iter().map(Into::into).collect(),
            login: None,
            authorities: None,
            stream: "DORMOUSE".to_owned(),
            replicas: 3,
            durability,
            patience: Duration::from_secs(30),
        }
    }
}

/// A name and a password. Debugging does not print the password.
#[derive(Clone)]
pub struct NatsLogin {
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
}

impl std::fmt::Debug for NatsLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsLogin")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// How it is known that servers sync an event to disk before they acknowledge it. By default they do not: they sync every two
/// minutes, and a power failure loses what was acknowledged since.
#[derive(Clone, Debug)]
pub enum NatsDurability {
    /// This login of the system account is used to ask every server. One without `sync_interval: always` is refused.
    AskServers(NatsLogin),
    /// Nobody asks. If the servers acknowledge before they sync, a power failure loses events that were acknowledged.
    AcknowledgedBeforeSync,
}
