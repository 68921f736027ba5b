//! The services for collections and for the server's health.

use qdrant_client::qdrant::{
    ChangeAliases, CollectionClusterInfoRequest, CollectionClusterInfoResponse,
    CollectionExistsRequest, CollectionExistsResponse, CollectionOperationResponse,
    CreateCollection, CreateShardKeyRequest, CreateShardKeyResponse, DeleteCollection,
    DeleteShardKeyRequest, DeleteShardKeyResponse, GetCollectionInfoRequest,
    GetCollectionInfoResponse, HealthCheckReply, HealthCheckRequest, ListAliasesRequest,
    ListAliasesResponse, ListCollectionAliasesRequest, ListCollectionsRequest,
    ListCollectionsResponse, ListShardKeysRequest, ListShardKeysResponse, UpdateCollection,
    UpdateCollectionClusterSetupRequest, UpdateCollectionClusterSetupResponse,
    collections_server::Collections, qdrant_server::Qdrant, vectors_config::Config,
};
use tonic::Status;

use crate::{fault::QdrantFault, rpc::rpcs, server::Service};

impl Collections for Service {
    rpcs! {
        get(GetCollectionInfoRequest) -> GetCollectionInfoResponse = describe;
        create(CreateCollection) -> CollectionOperationResponse = make;
        delete(DeleteCollection) -> CollectionOperationResponse = drop_collection;
        list(ListCollectionsRequest) -> ListCollectionsResponse;
        update(UpdateCollection) -> CollectionOperationResponse;
        update_aliases(ChangeAliases) -> CollectionOperationResponse;
        list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse;
        list_aliases(ListAliasesRequest) -> ListAliasesResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        collection_exists(CollectionExistsRequest) -> CollectionExistsResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest)
            -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}

impl Qdrant for Service {
    rpcs! {
        health_check(HealthCheckRequest) -> HealthCheckReply = report;
    }
}

impl Service {
    async fn describe(
        &self,
        request: GetCollectionInfoRequest,
    ) -> Result<GetCollectionInfoResponse, Status> {
        let mut inside = self.state.lock();
        let collection = inside.store.collection(&request.collection_name)?;
        Ok(GetCollectionInfoResponse {
            result: Some(collection.info()),
            time: 0.0,
        })
    }

    async fn make(&self, request: CreateCollection) -> Result<CollectionOperationResponse, Status> {
        let Some(Config::Params(params)) =
            request.vectors_config.and_then(|vectors| vectors.config)
        else {
            return Err(Status::unimplemented(
                "the double supports single vectors only",
            ));
        };
        let fault = self.state.lock().fault;
        if let QdrantFault::SlowCreate { takes } = fault {
            tokio::time::sleep(takes).await;
        }
        let mut inside = self.state.lock();
        let layout = [
            request.shard_number,
            request.replication_factor,
            request.write_consistency_factor,
        ];
        inside
            .store
            .create(&request.collection_name, params, layout)?;
        Ok(done(true))
    }

    async fn drop_collection(
        &self,
        request: DeleteCollection,
    ) -> Result<CollectionOperationResponse, Status> {
        let mut inside = self.state.lock();
        Ok(done(inside.store.delete(&request.collection_name)))
    }

    async fn report(&self, _: HealthCheckRequest) -> Result<HealthCheckReply, Status> {
        Ok(HealthCheckReply {
            title: "qdrant double".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: None,
        })
    }
}

fn done(result: bool) -> CollectionOperationResponse {
    CollectionOperationResponse { result, time: 0.0 }
}
