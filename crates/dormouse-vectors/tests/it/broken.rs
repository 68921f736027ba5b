//! The suite for vector indexes finds every defect.

use std::panic::AssertUnwindSafe;

use dormouse_contracts::{
    BoxFuture, CollectionName, Hit, Point, PointFilter, Retention, Timestamp, VectorError,
    VectorErrorKind, VectorIndex,
};
use dormouse_testing::conformance::{self, Exactness};
use dormouse_vectors::Exact;
use futures_util::FutureExt;

/// One promise that is broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    WipesWhatHasAnotherLength,
    WipesWhatIsPreparedAgain,
    MakesWhatIsMissing,
    KeepsDiscarded,
    SharesCollections,
    AddsOneByOne,
    NeverReplaces,
    NeverRemoves,
    RefusesWhatIsNotThere,
    LosesTheLastOfMany,
    IgnoresAssistants,
    IgnoresTrust,
    IgnoresTimes,
    EndsTooLate,
    BeginsTooLate,
    FiltersWhatIsLeft,
    OrdersBackwards,
    BreaksTiesBackwards,
    IgnoresLimits,
    ScalesScores,
    MissesTheNearest,
    CountsOneMore,
}

/// Every one but `None`.
const DEFECTS: [Defect; 22] = [
    Defect::WipesWhatHasAnotherLength,
    Defect::WipesWhatIsPreparedAgain,
    Defect::MakesWhatIsMissing,
    Defect::KeepsDiscarded,
    Defect::SharesCollections,
    Defect::AddsOneByOne,
    Defect::NeverReplaces,
    Defect::NeverRemoves,
    Defect::RefusesWhatIsNotThere,
    Defect::LosesTheLastOfMany,
    Defect::IgnoresAssistants,
    Defect::IgnoresTrust,
    Defect::IgnoresTimes,
    Defect::EndsTooLate,
    Defect::BeginsTooLate,
    Defect::FiltersWhatIsLeft,
    Defect::OrdersBackwards,
    Defect::BreaksTiesBackwards,
    Defect::IgnoresLimits,
    Defect::ScalesScores,
    Defect::MissesTheNearest,
    Defect::CountsOneMore,
];

#[tokio::test]
async fn the_suite_finds_every_defect_and_no_other() {
    assert!(passes(Defect::None).await);
    let mut missed = Vec::new();
    for defect in DEFECTS {
        if passes(defect).await {
            missed.push(defect);
        }
    }
    assert_eq!(missed, [], "the suite passes an index that does this");
}

#[tokio::test]
async fn an_index_that_forgot_everything_is_found_when_it_is_opened_again() {
    let emptied = Broken::new(Defect::None);
    let checked = AssertUnwindSafe(conformance::vector_index_reopened(&emptied));
    assert!(checked.catch_unwind().await.is_err());
}

async fn passes(defect: Defect) -> bool {
    let index = Broken::new(defect);
    let checked = AssertUnwindSafe(conformance::vector_index(&index, Exactness::Exact));
    checked.catch_unwind().await.is_ok()
}

/// A correct index with a defect. It reports to be durable, so that the suite looks for lost points.
struct Broken {
    inner: Exact,
    defect: Defect,
}

impl Broken {
    fn new(defect: Defect) -> Self {
        Self {
            inner: Exact::new(),
            defect,
        }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn place(&self, collection: &CollectionName) -> CollectionName {
        let name = collection.as_str();
        let shared = name.trim_end_matches('-');
        let shared = CollectionName::try_new(shared).unwrap();
        if self.has(Defect::SharesCollections) {
            shared
        } else {
            collection.clone()
        }
    }

    async fn made(&self, place: &CollectionName, dimensions: usize) -> Result<(), VectorError> {
        let is_there = self.inner.count(place).await?.is_some();
        let prepared = self.inner.prepare(place, dimensions).await;
        let wipes = match &prepared {
            Ok(()) => is_there && self.has(Defect::WipesWhatIsPreparedAgain),
            Err(_) => self.has(Defect::WipesWhatHasAnotherLength),
        };
        if wipes {
            self.inner.discard(place).await?;
            self.inner.prepare(place, dimensions).await?;
        }
        prepared
    }

    async fn added(&self, place: &CollectionName, points: &[Point]) -> Result<(), VectorError> {
        if let (true, Some(first)) = (self.has(Defect::MakesWhatIsMissing), points.first()) {
            // The correct index checks whether it fits.
            drop(self.inner.prepare(place, first.vector.len()).await);
        }
        if self.has(Defect::NeverReplaces) {
            let points = self.new_ones(place, points).await?;
            return self.inner.upsert(place, &points).await;
        }
        if self.has(Defect::AddsOneByOne) && !points.is_empty() {
            for point in points {
                self.inner
                    .upsert(place, std::slice::from_ref(point))
                    .await?;
            }
            return Ok(());
        }
        let end = if self.has(Defect::LosesTheLastOfMany) {
            points.len().min(999)
        } else {
            points.len()
        };
        let (stored, _lost) = points.split_at(end);
        self.inner.upsert(place, stored).await
    }

    async fn new_ones(
        &self,
        place: &CollectionName,
        points: &[Point],
    ) -> Result<Vec<Point>, VectorError> {
        let Some(first) = points.first() else {
            return Ok(Vec::new());
        };
        let (everything, all) = (PointFilter::default(), usize::MAX);
        let there = self
            .inner
            .search(place, &first.vector, &everything, all)
            .await?;
        let is_new = |point: &&Point| there.iter().all(|hit| hit.id != point.id);
        Ok(points.iter().filter(is_new).cloned().collect())
    }

    async fn removed(&self, place: &CollectionName, ids: &[u64]) -> Result<(), VectorError> {
        let refuses = self.has(Defect::RefusesWhatIsNotThere) && ids.contains(&9_999);
        if refuses {
            return Err(VectorError::new("broken", VectorErrorKind::Refused));
        }
        let ids = if self.has(Defect::NeverRemoves) {
            &[]
        } else {
            ids
        };
        self.inner.remove(place, ids).await
    }

    fn seen(&self, filter: &PointFilter) -> PointFilter {
        let mut seen = filter.clone();
        let later = |at: Timestamp| Timestamp::from_micros(at.as_micros().saturating_add(1));
        match self.defect {
            Defect::IgnoresAssistants => seen.assistant = None,
            Defect::IgnoresTrust => seen.min_trust = None,
            Defect::IgnoresTimes => (seen.from, seen.until) = (None, None),
            Defect::EndsTooLate => seen.until = seen.until.map(later),
            Defect::BeginsTooLate => seen.from = seen.from.map(later),
            _ => {}
        }
        seen
    }

    async fn found(
        &self,
        place: &CollectionName,
        query: &[f32],
        filter: &PointFilter,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorError> {
        let filter = self.seen(filter);
        let asked = match self.defect {
            Defect::IgnoresLimits if limit > 0 => usize::MAX,
            Defect::MissesTheNearest => limit.saturating_add(1),
            _ => limit,
        };
        let mut hits = self.inner.search(place, query, &filter, asked).await?;
        match self.defect {
            Defect::FiltersWhatIsLeft => {
                let everything = PointFilter::default();
                let near = self.inner.search(place, query, &everything, limit).await?;
                hits.retain(|hit| near.contains(hit));
            }
            Defect::OrdersBackwards => hits.reverse(),
            Defect::BreaksTiesBackwards => {
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
            }
            Defect::ScalesScores => hits.iter_mut().for_each(|hit| hit.score *= 0.9),
            // Only among many points, so that only the measured recall shows it.
            Defect::MissesTheNearest if limit == 10 && hits.len() > limit => drop(hits.remove(0)),
            _ => {}
        }
        if !self.has(Defect::IgnoresLimits) {
            hits.truncate(limit);
        }
        Ok(hits)
    }
}

impl VectorIndex for Broken {
    fn identity(&self) -> String {
        "broken".to_owned()
    }

    fn retention(&self) -> Retention {
        Retention::Durable
    }

    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.made(&self.place(collection), dimensions).await })
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.added(&self.place(collection), points).await })
    }

    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.removed(&self.place(collection), ids).await })
    }

    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>> {
        Box::pin(async move {
            self.found(&self.place(collection), query, filter, limit)
                .await
        })
    }

    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>> {
        Box::pin(async move {
            let count = self.inner.count(&self.place(collection)).await?;
            let one_more = u64::from(self.has(Defect::CountsOneMore));
            Ok(count.map(|count| count + one_more))
        })
    }

    fn discard<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move {
            if self.has(Defect::KeepsDiscarded) {
                return Ok(());
            }
            self.inner.discard(&self.place(collection)).await
        })
    }
}
