//! The text encoders that recall uses.

use dormouse_providers::EmbedderOpener;

/// Opens encoders on servers and in folders.
#[cfg(feature = "encoder")]
pub const OPENER: EmbedderOpener = EmbedderOpener::with_folders(|folder| {
    Ok(std::sync::Arc::new(dormouse_encoder::LocalEncoder::open(
        folder,
    )?))
});

/// Opens encoders on servers.
#[cfg(not(feature = "encoder"))]
pub const OPENER: EmbedderOpener = EmbedderOpener::without_folders();
