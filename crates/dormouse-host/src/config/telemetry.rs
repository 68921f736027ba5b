//! `[telemetry]`: where spans of what assistants do are exported. This crate only reads it.

use std::time::Duration;

use super::{
    numbers::{ExportInterval, Seconds},
    section::section,
};

section! {
    /// `[telemetry]`: spans of what the assistants do, made from their logs by `dormouse serve`; see operating.md.
    pub struct TelemetrySection {
        /// The address of a collector that takes OpenTelemetry's protocol over HTTP; without a path, /v1/traces is added
        #[schemars(with = "String", extend(
            "x-may-hold-a-key" = "in an address", "x-unset" = "nothing is exported", "x-example" = "http://127.0.0.1:4318",
        ))]
        endpoint: Option<String> = None,
        /// A tick is exported at most this long after its end, if the collector accepts it
        interval: ExportInterval = Seconds(Duration::from_secs(5)),
        /// True: spans contain the replies of the model, and the arguments and results of tools; false: only digests of them
        content: bool = false,
    }
}
