//! The configuration of an index on a server.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use super::address::{ApiKey, CollectionPrefix, QdrantUrl};

/// Which server, and how patiently it is asked.
#[derive(Clone, Debug)]
pub struct QdrantConfig {
    /// Where the server is.
    pub url: QdrantUrl,
    /// Other nodes of the same cluster. When the one that answered last does not answer, the next is asked.
    pub more_urls: Vec<QdrantUrl>,
    /// The authority, as PEM, that must have signed the certificate of an `https` server, in place of those that the
    /// system knows.
    pub authority: Option<String>,
    /// The key it asks for, if it does. Over `http` the key can be read on the way: across machines, take `https`.
    pub api_key: Option<ApiKey>,
    /// What the names of the collections begin with. The default is `dormouse`.
    pub prefix: CollectionPrefix,
    /// How long a request may take, the wait for its turn included. The default is 10 seconds.
    pub timeout: Duration,
    /// How long making or removing a collection, or an index in it, may take. A cluster with a dead node takes more than
    /// ten seconds. The default is 60 seconds.
    pub make_timeout: Duration,
    /// How collections are made. Nothing is changed about one that is there.
    pub layout: CollectionLayout,
    /// How long making the connection may take. The default is 3 seconds.
    pub connect_timeout: Duration,
    /// How many requests may be under way at once; further ones wait. The default is 8.
    pub requests_at_once: NonZeroUsize,
}

/// How a cluster keeps a collection. What is `None` is the server's own choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionLayout {
    /// Into how many shards its points are divided.
    pub shards: Option<NonZeroU32>,
    /// On how many nodes each shard lies.
    pub replicas: Option<NonZeroU32>,
    /// How many of these must have taken a change before it counts as made.
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
