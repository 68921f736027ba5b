//! An index on a Qdrant server.

use std::{fs, num::NonZeroU64, sync::Arc, time::Duration};

use dormouse_contracts::{BoxError, VectorIndex};
use dormouse_providers::Environment;
use dormouse_vectors::{
    ApiKey, CollectionLayout, CollectionPrefix, Qdrant, QdrantConfig, QdrantConfigError, QdrantUrl,
};

use super::VectorsError;
use crate::config::QdrantSection;

/// The index on the server of the section. Connects to nothing yet.
pub(super) fn open(
    section: &QdrantSection,
    environment: &Environment,
) -> Result<Arc<dyn VectorIndex>, VectorsError> {
    let unusable = |source: QdrantConfigError| unusable(section, source);
    let mut config = configured(section)?;
    if let Some(key) = environment.text("QDRANT_API_KEY")? {
        config.api_key = Some(ApiKey::try_new(key).map_err(unusable)?);
    }
    Ok(Arc::new(Qdrant::connect(config).map_err(unusable)?))
}

/// The settings of the section.
fn configured(section: &QdrantSection) -> Result<QdrantConfig, VectorsError> {
    let urls: Result<Vec<_>, _> = section
        .addresses
        .iter()
        .map(|address| QdrantUrl::try_new(address).map_err(|source| unusable(section, source)))
        .collect();
    let mut urls = urls?.into_iter();
    let first = urls.next().ok_or_else(|| {
        let source = QdrantConfigError::Url;
        unusable(section, source)
    })?;
    let mut config = QdrantConfig::new(first);
    config.more_urls = urls.collect();
    if let Some(prefix) = &section.prefix {
        config.prefix =
            CollectionPrefix::try_new(prefix).map_err(|source| unusable(section, source))?;
    }
    if let Some(path) = &section.authority {
        let pem = fs::read_to_string(path).map_err(|source| VectorsError::Authority {
            path: path.clone(),
            source,
        })?;
        config.authority = Some(pem);
    }
    config.layout = CollectionLayout {
        shards: section.shards,
        replicas: section.replicas,
        write_consistency: section.write_consistency,
    };
    let seconds = |seconds: NonZeroU64| Duration::from_secs(seconds.get());
    config.timeout = section.timeout.map_or(config.timeout, seconds);
    config.make_timeout = section.make_timeout.map_or(config.make_timeout, seconds);
    Ok(config)
}

fn unusable(section: &QdrantSection, source: impl Into<BoxError>) -> VectorsError {
    VectorsError::Unusable {
        address: section.addresses.join(", "),
        source: source.into(),
    }
}
