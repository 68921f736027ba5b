//! What an index on a server needs to be told.

use std::{num::NonZeroUsize, time::Duration};

use super::address::{ApiKey, CollectionPrefix, QdrantUrl};

/// Which server, and how patiently it is asked.
#[derive(Clone, Debug)]
pub struct QdrantConfig {
    /// Where the server is.
    pub url: QdrantUrl,
    /// The key it asks for, if it does. Over `http` the key can be read on the way: across machines, take `https`.
    pub api_key: Option<ApiKey>,
    /// What the names of the collections begin with. The default is `dormouse`.
    pub prefix: CollectionPrefix,
    /// How long a request may take, the wait for its turn included. The default is 10 seconds.
    pub timeout: Duration,
    /// How long making the connection may take. The default is 3 seconds.
    pub connect_timeout: Duration,
    /// How many requests may be under way at once; further ones wait. The default is 8.
    pub requests_at_once: NonZeroUsize,
}

impl QdrantConfig {
    /// The defaults, for the server at that address.
    #[must_use]
    pub fn new(url: QdrantUrl) -> Self {
        Self {
            url,
            api_key: None,
            prefix: CollectionPrefix::default(),
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(3),
            requests_at_once: const { NonZeroUsize::new(8).unwrap() },
        }
    }
}
