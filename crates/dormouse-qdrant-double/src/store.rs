//! The collections of the server.

use std::collections::{BTreeMap, HashMap};

use qdrant_client::qdrant::{
    CollectionConfig, CollectionInfo, CollectionParams, CollectionStatus, Distance, Filter,
    PayloadSchemaInfo, PointId, PointStruct, ScoredPoint, VectorParams, VectorsConfig,
    point_id::PointIdOptions, vector::Vector, vectors::VectorsOptions, vectors_config::Config,
};
use tonic::Status;

use crate::filter::{self, Payload};

/// The characters that a server does not accept in the name of a collection.
const FORBIDDEN: &[char] = &['<', '>', ':', '"', '/', '\\', '|', '?', '*'];

#[derive(Debug, Default)]
pub(crate) struct Store {
    collections: BTreeMap<String, Collection>,
}

#[derive(Debug)]
pub(crate) struct Collection {
    params: VectorParams,
    pub(crate) layout: [Option<u32>; 3],
    pub(crate) schema: HashMap<String, PayloadSchemaInfo>,
    points: BTreeMap<u64, Stored>,
}

#[derive(Debug)]
struct Stored {
    vector: Vec<f32>,
    payload: Payload,
}

impl Store {
    pub(crate) fn clear(&mut self) {
        self.collections.clear();
    }

    pub(crate) fn lose(&mut self, count: usize) {
        for collection in self.collections.values_mut() {
            let lost: Vec<u64> = collection.points.keys().copied().take(count).collect();
            for id in lost {
                collection.points.remove(&id);
            }
        }
    }

    pub(crate) fn create(
        &mut self,
        name: &str,
        params: VectorParams,
        layout: [Option<u32>; 3],
    ) -> Result<(), Status> {
        if name.is_empty() || name.len() > 255 || name.contains(FORBIDDEN) {
            return Err(Status::invalid_argument("collection name is not valid"));
        }
        if params.distance != Distance::Cosine as i32 || !(1..=65_536).contains(&params.size) {
            return Err(Status::invalid_argument(
                "the double supports cosine similarity only",
            ));
        }
        if self.collections.contains_key(name) {
            let words = format!("Wrong input: Collection `{name}` already exists!");
            return Err(Status::already_exists(words));
        }
        let collection = Collection {
            params,
            layout,
            schema: HashMap::new(),
            points: BTreeMap::new(),
        };
        self.collections.insert(name.to_owned(), collection);
        Ok(())
    }

    pub(crate) fn delete(&mut self, name: &str) -> bool {
        self.collections.remove(name).is_some()
    }

    /// Every collection with the number of its points, by name.
    pub(crate) fn sizes(&self) -> Vec<(String, u64)> {
        let sizes = self.collections.iter();
        sizes
            .map(|(name, collection)| (name.clone(), collection.len()))
            .collect()
    }

    pub(crate) fn collection(&mut self, name: &str) -> Result<&mut Collection, Status> {
        self.collections.get_mut(name).ok_or_else(|| {
            Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"))
        })
    }
}

impl Collection {
    pub(crate) fn len(&self) -> u64 {
        self.points.len() as u64
    }

    pub(crate) fn info(&self) -> CollectionInfo {
        CollectionInfo {
            status: CollectionStatus::Green.into(),
            config: Some(CollectionConfig {
                params: Some(CollectionParams {
                    vectors_config: Some(VectorsConfig {
                        config: Some(Config::Params(self.params)),
                    }),
                    ..CollectionParams::default()
                }),
                ..CollectionConfig::default()
            }),
            payload_schema: self.schema.clone(),
            points_count: Some(self.len()),
            ..CollectionInfo::default()
        }
    }

    /// Refuses the whole request if a vector in it has another length, as a server does.
    pub(crate) fn check(&self, points: &[PointStruct]) -> Result<(), Status> {
        points.iter().try_for_each(|point| {
            number(point.id.as_ref())?;
            self.check_length(dense(point)?)
        })
    }

    fn check_length(&self, vector: &[f32]) -> Result<(), Status> {
        let (expected, actual) = (self.params.size, vector.len());
        if expected == actual as u64 {
            return Ok(());
        }
        Err(Status::invalid_argument(format!(
            "Wrong input: Vector dimension error: expected dim: {expected}, got {actual}"
        )))
    }

    pub(crate) fn put(&mut self, point: &PointStruct) -> Result<(), Status> {
        let stored = Stored {
            vector: normalised(dense(point)?),
            payload: point.payload.clone(),
        };
        self.points.insert(number(point.id.as_ref())?, stored);
        Ok(())
    }

    pub(crate) fn remove(&mut self, ids: &[PointId]) -> Result<(), Status> {
        ids.iter().try_for_each(|id| {
            self.points.remove(&number(Some(id))?);
            Ok(())
        })
    }

    pub(crate) fn query(
        &self,
        query: &[f32],
        filter: &Filter,
        limit: u64,
    ) -> Result<Vec<ScoredPoint>, Status> {
        self.check_length(query)?;
        let query = normalised(query);
        let mut found = Vec::new();
        for (id, stored) in &self.points {
            if filter::admits(filter, &stored.payload)? {
                found.push(ScoredPoint {
                    id: Some(PointId::from(*id)),
                    score: product(&query, &stored.vector),
                    ..ScoredPoint::default()
                });
            }
        }
        // The double sorts by score alone. Points with equal scores come in descending order of their numbers, because
        // the adapter must not rely on a server to order them.
        found.reverse();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}

fn number(id: Option<&PointId>) -> Result<u64, Status> {
    match id.and_then(|id| id.point_id_options.as_ref()) {
        Some(PointIdOptions::Num(number)) => Ok(*number),
        _ => Err(Status::unimplemented(
            "the double supports numeric point ids only",
        )),
    }
}

fn dense(point: &PointStruct) -> Result<&[f32], Status> {
    let options = point
        .vectors
        .as_ref()
        .and_then(|vectors| vectors.vectors_options.as_ref());
    let Some(VectorsOptions::Vector(vector)) = options else {
        return Err(Status::unimplemented(
            "the double supports single vectors only",
        ));
    };
    match &vector.vector {
        Some(Vector::Dense(dense)) => Ok(&dense.data),
        _ => Err(Status::unimplemented(
            "the double supports dense vectors only",
        )),
    }
}

fn normalised(vector: &[f32]) -> Vec<f32> {
    let length = product(vector, vector).sqrt();
    vector.iter().map(|x| x / length).collect()
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
