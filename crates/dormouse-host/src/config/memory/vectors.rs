//! `vectors`: where vectors are searched.

use std::{
    fmt,
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};

const EXPECTED: &str = "\"exact\", the gRPC address of a Qdrant server such as \"http://127.0.0.1:6334\", or a table \
                        with its `addresses`";

/// Where vectors are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VectorBackend {
    /// In this process; a search compares every vector.
    #[default]
    Exact,
    /// On a Qdrant server.
    Qdrant(QdrantSection),
}

/// `[memory.vectors]`: a Qdrant server or cluster. Its key is not among the fields: it stays in the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QdrantSection {
    /// The gRPC addresses of its nodes.
    #[serde(deserialize_with = "addresses")]
    pub addresses: Vec<String>,
    /// The prefix of its collections.
    pub prefix: Option<String>,
    /// The file with the certificate of its certificate authority.
    pub authority: Option<PathBuf>,
    /// Into how many shards a new collection is divided.
    pub shards: Option<NonZeroU32>,
    /// How many copies of a shard a new collection has.
    pub replicas: Option<NonZeroU32>,
    /// How many copies must confirm a write.
    pub write_consistency: Option<NonZeroU32>,
    /// How long a request may take, in seconds.
    pub timeout: Option<NonZeroU64>,
    /// How long creating a collection may take, in seconds.
    pub make_timeout: Option<NonZeroU64>,
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn addresses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let addresses = Vec::<String>::deserialize(deserializer)?;
    if addresses.is_empty() {
        return Err(Error::custom(
            "the list is empty; expected the gRPC addresses of the nodes of one Qdrant cluster",
        ));
    }
    match addresses.iter().find(|address| !is_address(address)) {
        None => Ok(addresses),
        Some(other) => Err(Error::custom(format_args!(
            "{other:?} is not a gRPC address; expected one such as \"http://127.0.0.1:6334\""
        ))),
    }
}

impl<'de> Deserialize<'de> for VectorBackend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrTable)
    }
}

struct TextOrTable;

impl<'de> Visitor<'de> for TextOrTable {
    type Value = VectorBackend;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<VectorBackend, E> {
        match text {
            "exact" => Ok(VectorBackend::Exact),
            address if is_address(address) => Ok(VectorBackend::Qdrant(QdrantSection {
                addresses: vec![text.to_owned()],
                ..QdrantSection::default()
            })),
            _ => Err(E::custom(format_args!("expected {EXPECTED}"))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<VectorBackend, A::Error> {
        let section = QdrantSection::deserialize(MapAccessDeserializer::new(table))?;
        Ok(VectorBackend::Qdrant(section))
    }
}
