//! The configuration of an index on a server.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use super::address::{ApiKey, CollectionPrefix, QdrantUrl};

/// The server, and the time limits of requests.
#[derive(Clone, Debug)]
pub struct QdrantConfig {
    /// The address of the server.
    pub url: QdrantUrl,
    /// Other nodes of the same cluster. If the node that answered last does not answer, the next one is asked.
    pub more_urls: Vec<QdrantUrl>,
    /// The authority, as PEM, that must have signed the certificate of an `https` server. It replaces the authorities
    /// that the system trusts.
    pub authority: Option<String>,
    /// The key that the server requires, if any. Over `http` others can read the key on the way, so use `https` between
    /// machines.
    pub api_key: Option<ApiKey>,
    /// The prefix of the names of the collections. The default is `dormouse`.
    pub prefix: CollectionPrefix,
    /// How long a request may take, including the wait for its turn. The default is 10 seconds.
    pub timeout: Duration,
    /// The time limit for creating or removing a collection or one of its indexes. A cluster with a dead node takes more
    /// than ten seconds. The default is 60 seconds.
    pub make_timeout: Duration,
    /// How collections are made. Existing collections are not changed.
    pub layout: CollectionLayout,
    /// How long connecting may take. The default is 3 seconds.
    pub connect_timeout: Duration,
    /// How many requests may be under way at once; further ones wait. The default is 8.
    pub requests_at_once: NonZeroUsize,
}

/// How a cluster keeps a collection. For a value of `None`, the server uses its own default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionLayout {
    /// Into how many shards its points are divided.
    pub shards: Option<NonZeroU32>,
    /// On how many nodes each shard is stored.
    pub replicas: Option<NonZeroU32>,
    /// How many of these nodes must have accepted a change before it counts as made.
    pub write_consistency: Option<NonZeroU32>,
}

impl QdrantConfig {
    /// The defaults, for the server at that address.
    #[must_use]
    pub fn new(url: QdrantUrl) -> Self {
        Self {
            url,
            more_urls: Vec::new(),
            authority: None,
            api_key: None,
            prefix: CollectionPrefix::default(),
            timeout: Duration::from_secs(10),
            make_timeout: Duration::from_secs(60),
            layout: CollectionLayout::default(),
            connect_timeout: Duration::from_secs(3),
            requests_at_once: const { NonZeroUsize::new(8).unwrap() },
        }
    }
}
