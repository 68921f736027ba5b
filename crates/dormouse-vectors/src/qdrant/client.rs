//! The services of a server, called with the key.

use qdrant_client::qdrant::{collections_client::CollectionsClient, points_client::PointsClient};
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};

use super::address::{ApiKey, QdrantConfigError};

/// A connection and the key that is sent with every call.
pub(super) struct Client(InterceptedService<Channel, Key>);

impl Client {
    pub(super) fn new(channel: Channel, key: Key) -> Self {
        Self(InterceptedService::new(channel, key))
    }

    pub(super) fn points(self) -> PointsClient<InterceptedService<Channel, Key>> {
        // An answer may contain as many hits as requested.
        PointsClient::new(self.0).max_decoding_message_size(usize::MAX)
    }

    pub(super) fn collections(self) -> CollectionsClient<InterceptedService<Channel, Key>> {
        CollectionsClient::new(self.0)
    }
}

/// The key as a header, if there is one.
#[derive(Clone)]
pub(super) struct Key(Option<MetadataValue<Ascii>>);

impl Key {
    pub(super) fn new(key: Option<&ApiKey>) -> Result<Self, QdrantConfigError> {
        let header = |key: &ApiKey| {
            let mut header = MetadataValue::try_from(key.expose())
                .map_err(|_not_shown| QdrantConfigError::Key)?;
            header.set_sensitive(true);
            Ok(header)
        };
        key.map(header).transpose().map(Self)
    }
}

impl Interceptor for Key {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert("api-key", key.clone());
        }
        Ok(request)
    }
}
