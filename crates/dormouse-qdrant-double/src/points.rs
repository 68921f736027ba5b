//! The service for points.

use qdrant_client::qdrant::{
    ClearPayloadPoints, CountPoints, CountResponse, CountResult, CreateFieldIndexCollection,
    CreateVectorNameRequest, DeleteFieldIndexCollection, DeletePayloadPoints, DeletePointVectors,
    DeletePoints, DeleteVectorNameRequest, DiscoverBatchPoints, DiscoverBatchResponse,
    DiscoverPoints, DiscoverResponse, FacetCounts, FacetResponse, Filter, GetPoints, GetResponse,
    PayloadSchemaInfo, PointsOperationResponse, QueryBatchPoints, QueryBatchResponse,
    QueryGroupsResponse, QueryPointGroups, QueryPoints, QueryResponse, RecommendBatchPoints,
    RecommendBatchResponse, RecommendGroupsResponse, RecommendPointGroups, RecommendPoints,
    RecommendResponse, ScrollPoints, ScrollResponse, SearchBatchPoints, SearchBatchResponse,
    SearchGroupsResponse, SearchMatrixOffsetsResponse, SearchMatrixPairsResponse,
    SearchMatrixPoints, SearchPointGroups, SearchPoints, SearchResponse, SetPayloadPoints,
    UpdateBatchPoints, UpdateBatchResponse, UpdatePointVectors, UpdateResult, UpdateStatus,
    UpsertPoints, points_selector::PointsSelectorOneOf, points_server::Points, query::Variant,
    vector_input,
};
use tonic::Status;

use crate::{fault::QdrantFault, rpc::rpcs, server::Service};

impl Points for Service {
    rpcs! {
        upsert(UpsertPoints) -> PointsOperationResponse = add;
        delete(DeletePoints) -> PointsOperationResponse = remove;
        query(QueryPoints) -> QueryResponse = nearest;
        count(CountPoints) -> CountResponse = number;
        create_field_index(CreateFieldIndexCollection) -> PointsOperationResponse = index;
        get(GetPoints) -> GetResponse;
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        set_payload(SetPayloadPoints) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        scroll(ScrollPoints) -> ScrollResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query_batch(QueryBatchPoints) -> QueryBatchResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        facet(FacetCounts) -> FacetResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}

impl Service {
    async fn add(&self, request: UpsertPoints) -> Result<PointsOperationResponse, Status> {
        if self.store_points(&request)? {
            return Ok(operated(request.wait));
        }
        self.die().await
    }

    /// Stores the points one by one. Returns `false` if the server is to die before all of them are stored.
    fn store_points(&self, request: &UpsertPoints) -> Result<bool, Status> {
        let mut inside = self.state.lock();
        inside.upserts.push(request.points.len());
        let inside = &mut *inside;
        let collection = inside.store.collection(&request.collection_name)?;
        collection.check(&request.points)?;
        for point in &request.points {
            if let QdrantFault::DieAfter { points } = &mut inside.fault {
                if *points == 0 {
                    return Ok(false);
                }
                *points -= 1;
            }
            collection.put(point)?;
        }
        Ok(true)
    }

    async fn remove(&self, request: DeletePoints) -> Result<PointsOperationResponse, Status> {
        let selected = request
            .points
            .and_then(|points| points.points_selector_one_of);
        let Some(PointsSelectorOneOf::Points(points)) = selected else {
            return Err(Status::unimplemented(
                "the double removes points by id only",
            ));
        };
        let mut inside = self.state.lock();
        let collection = inside.store.collection(&request.collection_name)?;
        collection.remove(&points.ids)?;
        Ok(operated(request.wait))
    }

    async fn nearest(&self, request: QueryPoints) -> Result<QueryResponse, Status> {
        let Some(Variant::Nearest(input)) = request.query.and_then(|query| query.variant) else {
            return Err(Status::unimplemented(
                "the double supports nearest-neighbour queries only",
            ));
        };
        let Some(vector_input::Variant::Dense(query)) = input.variant else {
            return Err(Status::unimplemented(
                "the double supports dense vectors only",
            ));
        };
        let limit = request.limit.unwrap_or(10);
        if limit == 0 {
            return Err(Status::invalid_argument(
                "limit: value 0 invalid, must be 1 or larger",
            ));
        }
        let mut inside = self.state.lock();
        let collection = inside.store.collection(&request.collection_name)?;
        let filter: Filter = request.filter.unwrap_or_default();
        Ok(QueryResponse {
            result: collection.query(&query.data, &filter, limit)?,
            ..QueryResponse::default()
        })
    }

    async fn number(&self, request: CountPoints) -> Result<CountResponse, Status> {
        let mut inside = self.state.lock();
        let collection = inside.store.collection(&request.collection_name)?;
        Ok(CountResponse {
            result: Some(CountResult {
                count: collection.len(),
            }),
            ..CountResponse::default()
        })
    }

    async fn index(
        &self,
        request: CreateFieldIndexCollection,
    ) -> Result<PointsOperationResponse, Status> {
        let mut inside = self.state.lock();
        let collection = inside.store.collection(&request.collection_name)?;
        let schema = PayloadSchemaInfo {
            data_type: request.field_type.unwrap_or_default(),
            ..PayloadSchemaInfo::default()
        };
        collection.schema.insert(request.field_name, schema);
        Ok(operated(request.wait))
    }
}

/// The response to a change. Without `wait`, a server answers before the change is visible.
fn operated(wait: Option<bool>) -> PointsOperationResponse {
    let status = match wait {
        Some(true) => UpdateStatus::Completed,
        Some(false) | None => UpdateStatus::Acknowledged,
    };
    PointsOperationResponse {
        result: Some(UpdateResult {
            operation_id: Some(0),
            status: status.into(),
        }),
        ..PointsOperationResponse::default()
    }
}
