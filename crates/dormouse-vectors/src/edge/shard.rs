//! One collection: a shard of the engine.

use std::path::Path;

use dormouse_contracts::{BoxError, Hit, Point, PointFilter, VectorError, VectorErrorKind};
use qdrant_edge::{
    CountRequest, CreateIndex, DEFAULT_VECTOR_NAME, Distance, EdgeConfig, EdgeShard,
    EdgeVectorParams, FieldIndexOperations, Filter, NamedQuery, OperationError, PayloadFieldSchema,
    PayloadSchemaType, PointId, PointInsertOperations, PointOperations, PointStruct, QueryEnum,
    SearchParams, SearchRequest, UpdateOperation, VectorInternal,
};
use serde_json::{Value, json};

use crate::{
    direction::{check_points, unit},
    rank::rank,
};

const ASSISTANT: &str = "assistant";
const TRUST: &str = "trust";
const AT: &str = "at";

/// A failure before the name of the index is added.
#[derive(Debug)]
pub(super) struct EdgeFailure {
    kind: VectorErrorKind,
    source: Option<BoxError>,
}

impl EdgeFailure {
    pub(super) fn because(kind: VectorErrorKind, source: impl Into<BoxError>) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }

    pub(super) fn kind(&self) -> VectorErrorKind {
        self.kind
    }

    pub(super) fn of(self, index: String) -> VectorError {
        let error = VectorError::new(index, self.kind);
        match self.source {
            Some(source) => error.with_source(source),
            None => error,
        }
    }
}

impl From<VectorErrorKind> for EdgeFailure {
    fn from(kind: VectorErrorKind) -> Self {
        Self { kind, source: None }
    }
}

impl From<OperationError> for EdgeFailure {
    fn from(error: OperationError) -> Self {
        let kind = match &error {
            OperationError::InconsistentStorage { .. } => VectorErrorKind::Damaged,
            OperationError::ValidationError { .. } => VectorErrorKind::Refused,
            _ => VectorErrorKind::Unavailable,
        };
        // The engine's error also carries a backtrace, which only helps its developers.
        Self::because(kind, error.to_string())
    }
}

/// One collection.
pub(super) struct Shard {
    engine: EdgeShard,
    dimensions: usize,
}

impl Shard {
    /// Makes an empty collection in an existing empty folder.
    pub(super) fn make(folder: &Path, dimensions: usize) -> Result<(), EdgeFailure> {
        let params = EdgeVectorParams::builder(dimensions, Distance::Cosine).build();
        let config = EdgeConfig {
            vectors: [(DEFAULT_VECTOR_NAME.to_owned(), params)].into(),
            ..EdgeConfig::default()
        };
        let engine = EdgeShard::new(folder, config)?;
        for (field, schema) in [
            (ASSISTANT, PayloadSchemaType::Keyword),
            (TRUST, PayloadSchemaType::Float),
            (AT, PayloadSchemaType::Integer),
        ] {
            let field_name = field
                .parse()
                .map_err(|()| EdgeFailure::from(VectorErrorKind::Refused))?;
            let index = CreateIndex {
                field_name,
                field_schema: Some(PayloadFieldSchema::FieldType(schema)),
            };
            let index = FieldIndexOperations::CreateIndex(index);
            engine.update(UpdateOperation::FieldIndexOperation(index))?;
        }
        engine.flush();
        Ok(())
    }

    /// Opens an existing collection.
    pub(super) fn load(folder: &Path) -> Result<Self, EdgeFailure> {
        let damaged = |error: String| {
            EdgeFailure::because(
                VectorErrorKind::Damaged,
                format!(
                    "{} cannot be opened ({error}): discard the collection and feed it again",
                    folder.display()
                ),
            )
        };
        if let Some(lost) = lost(folder) {
            return Err(damaged(lost.to_owned()));
        }
        let engine = EdgeShard::load(folder, None).map_err(|error| damaged(error.to_string()))?;
        let dimensions = engine
            .config()
            .vectors
            .get(DEFAULT_VECTOR_NAME)
            .map(|params| params.size);
        let dimensions = dimensions
            .ok_or_else(|| damaged("it does not state the length of its vectors".to_owned()))?;
        Ok(Self { engine, dimensions })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn upsert(&self, points: &[Point]) -> Result<(), EdgeFailure> {
        check_points(points, self.dimensions)?;
        if points.is_empty() {
            return Ok(());
        }
        let points: Result<Vec<_>, EdgeFailure> = points
            .iter()
            .map(|point| Ok(self.stored(point)?.into()))
            .collect();
        let points = PointInsertOperations::PointsList(points?);
        self.write(PointOperations::UpsertPoints(points))
    }

    fn stored(&self, point: &Point) -> Result<PointStruct, EdgeFailure> {
        let vector = unit(&point.vector, self.dimensions)?;
        let payload = json!({
            ASSISTANT: point.payload.assistant.as_str(),
            TRUST: f64::from(point.payload.trust.score()),
            AT: point.payload.at.as_micros(),
        });
        Ok(PointStruct::new(PointId::NumId(point.id), vector, payload))
    }

    pub(super) fn remove(&self, ids: &[u64]) -> Result<(), EdgeFailure> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = ids.iter().map(|id| PointId::NumId(*id)).collect();
        self.write(PointOperations::DeletePoints { ids })
    }

    /// Writes, and returns when the write is on disk.
    fn write(&self, operation: PointOperations) -> Result<(), EdgeFailure> {
        self.engine
            .update(UpdateOperation::PointOperation(operation))?;
        self.engine.flush();
        Ok(())
    }

    pub(super) fn search(
        &self,
        query: &[f32],
        filter: &PointFilter,
        limit: usize,
    ) -> Result<Vec<Hit>, EdgeFailure> {
        let query = unit(query, self.dimensions)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let request = SearchRequest {
            query: QueryEnum::Nearest(NamedQuery {
                query: VectorInternal::Dense(query),
                using: None,
            }),
            filter: edge_filter(filter)?,
            params: Some(SearchParams {
                exact: true,
                ..SearchParams::default()
            }),
            limit: limit.min(self.len()?),
            offset: 0,
            with_payload: None,
            with_vector: None,
            score_threshold: None,
        };
        if request.limit == 0 {
            return Ok(Vec::new());
        }
        let found = self.engine.search(request)?;
        let hits = found.into_iter().filter_map(|found| match found.id {
            PointId::NumId(id) => Some(Hit {
                id,
                score: found.score.clamp(-1.0, 1.0),
            }),
            PointId::Uuid(_) => None,
        });
        let mut hits: Vec<Hit> = hits.collect();
        hits.sort_by(rank);
        Ok(hits)
    }

    pub(super) fn count(&self) -> Result<u64, EdgeFailure> {
        Ok(u64::try_from(self.len()?).unwrap_or(u64::MAX))
    }

    fn len(&self) -> Result<usize, EdgeFailure> {
        Ok(self.engine.count(CountRequest {
            filter: None,
            exact: true,
        })?)
    }
}

/// The filter in the engine's format. The engine compares numbers as floats; they are exact up to 2⁵³ µs, in the year
/// 2255.
fn edge_filter(filter: &PointFilter) -> Result<Option<Filter>, EdgeFailure> {
    let mut must: Vec<Value> = Vec::new();
    if let Some(assistant) = &filter.assistant {
        must.push(json!({"key": ASSISTANT, "match": {"value": assistant.as_str()}}));
    }
    if let Some(least) = filter.min_trust {
        must.push(json!({"key": TRUST, "range": {"gte": f64::from(least.score())}}));
    }
    let mut times = serde_json::Map::new();
    if let Some(from) = filter.from {
        times.insert("gte".to_owned(), json!(from.as_micros() as f64));
    }
    if let Some(until) = filter.until {
        times.insert("lt".to_owned(), json!(until.as_micros() as f64));
    }
    if !times.is_empty() {
        must.push(json!({"key": AT, "range": times}));
    }
    if must.is_empty() {
        return Ok(None);
    }
    serde_json::from_value(json!({ "must": must }))
        .map(Some)
        .map_err(|error| EdgeFailure::because(VectorErrorKind::Refused, error))
}

/// Which part of a collection is missing, if the engine would silently replace it. The engine numbers changes by its
/// log: with a new log it would take new changes for old ones and skip them. It also removes a segment without a
/// version.
fn lost(folder: &Path) -> Option<&'static str> {
    if !has(&folder.join("wal"), |_| true) {
        return Some("its log is missing");
    }
    let whole = |segment: &Path| segment.join("version.info").is_file();
    (!has(&folder.join("segments"), whole)).then_some("its segments are missing")
}

/// Whether an entry of the folder satisfies `like`. Names that begin with a dot do not count.
fn has(folder: &Path, like: impl Fn(&Path) -> bool) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries
        .flatten()
        .any(|entry| !entry.file_name().to_string_lossy().starts_with('.') && like(&entry.path()))
}
