//! Collections on the server, and the cached facts about them.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
};

use dormouse_contracts::{CollectionName, VectorErrorKind};
use qdrant_client::qdrant::{
    CollectionInfo, CreateCollection, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder,
    Distance, FieldType, GetCollectionInfoRequest, KeywordIndexParamsBuilder, VectorParams,
    VectorParamsBuilder, vectors_config::Config,
};

use super::{
    client::Client,
    failure::{Failure, Fault},
    request::{ASSISTANT, AT, TRUST},
    wire::Wire,
};

/// The separator between the prefix and the name. Neither can contain it, so no two pairs give the same name.
const SEPARATOR: char = '~';

/// The cached vector length of each collection. A collection never changes it.
#[derive(Debug, Default)]
pub(super) struct Known {
    dimensions: Mutex<HashMap<CollectionName, usize>>,
}

impl Known {
    fn dimensions(&self, collection: &CollectionName) -> Option<usize> {
        let known = self.dimensions.lock();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        known.get(collection).copied()
    }

    fn learn(&self, collection: &CollectionName, dimensions: usize) {
        let known = self.dimensions.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        known.insert(collection.clone(), dimensions);
    }

    /// Forgets a collection that was removed, or replaced by another one of the same name.
    pub(super) fn forget(&self, collection: &CollectionName) {
        let known = self.dimensions.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        known.remove(collection);
    }
}

/// The server's description of a collection.
struct Described {
    dimensions: usize,
    indexed: Vec<String>,
}

/// The name by which the server knows a collection.
pub(super) fn name(wire: &Wire, collection: &CollectionName) -> String {
    let prefix = wire.config().prefix.as_str();
    format!("{prefix}{SEPARATOR}{collection}")
}

/// The length of the collection's vectors, from the cache if it is known.
pub(super) async fn dimensions(
    wire: &Wire,
    known: &Known,
    collection: &CollectionName,
) -> Result<usize, Failure> {
    match known.dimensions(collection) {
        Some(dimensions) => Ok(dimensions),
        None => current_dimensions(wire, known, collection).await,
    }
}

/// The length of the collection's vectors, from the server.
pub(super) async fn current_dimensions(
    wire: &Wire,
    known: &Known,
    collection: &CollectionName,
) -> Result<usize, Failure> {
    match describe(wire, collection).await? {
        Some(described) => {
            known.learn(collection, described.dimensions);
            Ok(described.dimensions)
        }
        None => {
            known.forget(collection);
            Err(VectorErrorKind::Missing.into())
        }
    }
}

/// Makes the collection and the indexes of the filtered fields, if they do not exist yet.
pub(super) async fn prepare(
    wire: &Wire,
    known: &Known,
    collection: &CollectionName,
    dimensions: usize,
) -> Result<(), Failure> {
    let described = match describe(wire, collection).await? {
        Some(described) => described,
        None => create(wire, collection, dimensions).await?,
    };
    known.learn(collection, described.dimensions);
    if described.dimensions != dimensions {
        return Err(Failure::from(VectorErrorKind::Dimension {
            expected: described.dimensions,
            actual: dimensions,
        }));
    }
    index(wire, collection, &described).await
}

async fn create(
    wire: &Wire,
    collection: &CollectionName,
    dimensions: usize,
) -> Result<Described, Failure> {
    let vectors = VectorParamsBuilder::new(dimensions as u64, Distance::Cosine);
    let layout = wire.config().layout;
    let request = CreateCollection {
        shard_number: layout.shards.map(NonZeroU32::get),
        replication_factor: layout.replicas.map(NonZeroU32::get),
        write_consistency_factor: layout.write_consistency.map(NonZeroU32::get),
        // The server waits for its nodes as long as this client waits for the server.
        timeout: Some(wire.config().make_timeout.as_secs().max(1)),
        ..CreateCollectionBuilder::new(name(wire, collection))
            .vectors_config(vectors)
            .build()
    };
    let create = |client: Client| {
        let request = request.clone();
        async move { client.collections().create(request).await }
    };
    let created = wire.ask_to_make(create).await;
    // Another client may have made it meanwhile; versions of the server report that differently.
    match (describe(wire, collection).await?, created) {
        (Some(described), _) => Ok(described),
        (None, Err(failure)) => Err(failure),
        (None, Ok(_)) => Err(VectorErrorKind::Unavailable.into()),
    }
}

async fn index(
    wire: &Wire,
    collection: &CollectionName,
    described: &Described,
) -> Result<(), Failure> {
    for (field, kind) in [
        (ASSISTANT, FieldType::Keyword),
        (TRUST, FieldType::Float),
        (AT, FieldType::Integer),
    ] {
        if described.indexed.iter().any(|indexed| indexed == field) {
            continue;
        }
        let name = name(wire, collection);
        let mut request = CreateFieldIndexCollectionBuilder::new(name, field, kind).wait(true);
        if field == ASSISTANT {
            // Points of one assistant are stored together, because nearly every search is for one assistant.
            let params = KeywordIndexParamsBuilder::default().is_tenant(true);
            request = request.field_index_params(params);
        }
        let request = request.build();
        wire.ask_to_make(|client| {
            let request = request.clone();
            async move { client.points().create_field_index(request).await }
        })
        .await?;
    }
    Ok(())
}

async fn describe(wire: &Wire, collection: &CollectionName) -> Result<Option<Described>, Failure> {
    let request = GetCollectionInfoRequest {
        collection_name: name(wire, collection),
    };
    let ask = |client: Client| {
        let request = request.clone();
        async move { client.collections().get(request).await }
    };
    let answer = match wire.ask(ask).await {
        Ok(answer) => answer,
        Err(failure) if failure.kind == VectorErrorKind::Missing => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let Some(info) = answer.result else {
        return Err(Failure::because(
            VectorErrorKind::Unavailable,
            Fault::EmptyAnswer,
        ));
    };
    match params(&info) {
        Some(params) if params.distance == Distance::Cosine as i32 => Ok(Some(Described {
            dimensions: usize::try_from(params.size).unwrap_or(usize::MAX),
            indexed: info.payload_schema.into_keys().collect(),
        })),
        Some(_) | None => Err(Failure::because(
            VectorErrorKind::Refused,
            Fault::OtherCollection,
        )),
    }
}

fn params(info: &CollectionInfo) -> Option<VectorParams> {
    let params = info.config.as_ref()?.params.as_ref()?;
    match params.vectors_config.as_ref()?.config.as_ref()? {
        Config::Params(params) => Some(*params),
        Config::ParamsMap(_) => None,
    }
}
