//! `[server]`: bounds of requests to the service. This crate only reads them.

use std::time::Duration;

use super::{
    numbers::{
        AnswerWait, ArchiveMib, BodyKib, Connections, EventStreams, ReaderPatience, RequestBurst,
        RequestPatience, RequestsPerMinute, Seconds, Whole,
    },
    section::section,
};

section! {
    /// `[server]`: bounds of requests to `dormouse serve`. Where it listens is a flag.
    pub struct ServerSection {
        /// Requests a minute for each token; those without a token share one limit
        requests_per_minute: RequestsPerMinute = Whole(600),
        /// Requests for each token that may come at once, before requests_per_minute limits them
        burst: RequestBurst = Whole(60),
        /// Maximum size of a body in KiB
        body_kib: BodyKib = Whole(256),
        /// Maximum size of a file that is imported, in MiB
        archive_mib: ArchiveMib = Whole(1_024),
        /// How long the headers or the body of a request may take to arrive, and how long a connection may stay without a request
        patience: RequestPatience = Seconds(Duration::from_secs(10)),
        /// The service closes a connection if its client reads nothing for this long although output waits
        reader_patience: ReaderPatience = Seconds(Duration::from_secs(30)),
        /// The longest time that a request waits for an answer of an assistant
        answer_wait: AnswerWait = Seconds(Duration::from_secs(60)),
        /// Connections at the same time; further ones wait
        connections: Connections = Whole(512),
        /// Streams of events at the same time; further ones are refused
        streams: EventStreams = Whole(64),
    }
}
