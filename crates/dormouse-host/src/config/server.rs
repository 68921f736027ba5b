//! `[server]`: bounds of requests to the service. This crate only reads them.

use std::time::Duration;

use super::{
    numbers::{
        AnswerWait, BodyKib, Connections, EventStreams, ReaderPatience, RequestBurst,
        RequestPatience, RequestsPerMinute, Seconds, Whole,
    },
    section::section,
};

section! {
    /// `[server]`: bounds of requests to `dormouse serve`. Where it listens is a flag.
    pub struct ServerSection {
        /// Requests a minute for each token; those without a token share one limit
        requests_per_minute: RequestsPerMinute = Whole(600),
        /// Requests for each token at the same moment
        burst: RequestBurst = Whole(60),
        /// Maximum size of a body in KiB
        body_kib: BodyKib = Whole(256),
        /// How long headers, or a body, may take to arrive, and how long a connection may be without a request
        patience: RequestPatience = Seconds(Duration::from_secs(10)),
        /// How long a client may read nothing although there is output for it
        reader_patience: ReaderPatience = Seconds(Duration::from_secs(30)),
        /// The longest time that a request waits for an answer of an assistant
        answer_wait: AnswerWait = Seconds(Duration::from_secs(60)),
        /// Connections at the same time; further ones wait
        connections: Connections = Whole(512),
        /// Streams of events at the same time; further ones are refused
        streams: EventStreams = Whole(64),
    }
}
