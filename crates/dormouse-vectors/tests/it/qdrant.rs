//! A server that is there, and one that is not.

mod failing;
mod serving;

use std::time::Duration;

use dormouse_qdrant_double::QdrantDouble;
use dormouse_vectors::{CollectionPrefix, Qdrant, QdrantConfig, QdrantUrl};

/// Long enough for an answer on a busy machine.
const PATIENT: Duration = Duration::from_secs(30);

/// Short enough to wait for in a test, and long enough for an answer on a busy machine.
const IMPATIENT: Duration = Duration::from_secs(1);

fn config(server: &QdrantDouble, timeout: Duration) -> QdrantConfig {
    let mut config = QdrantConfig::new(QdrantUrl::try_new(&server.url()).unwrap());
    config.timeout = timeout;
    config.prefix = CollectionPrefix::try_new("test").unwrap();
    config
}

fn connect(server: &QdrantDouble, timeout: Duration) -> Qdrant {
    Qdrant::connect(config(server, timeout)).unwrap()
}
