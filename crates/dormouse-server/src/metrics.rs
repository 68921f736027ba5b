//! The metrics that Prometheus reads. Labels are routes, methods and classes of statuses, never an assistant, a token
//! or a text of a caller.

use std::{sync::Mutex, time::Duration};

use axum::http::{Method, StatusCode};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::service::lock;

/// The bounds of the buckets, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0];

/// All counters.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    streams: Gauge,
    enrolled: Gauge,
    awake: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

impl Default for Metrics {
    fn default() -> Self {
        let new: fn() -> Histogram = || Histogram::new(BUCKETS);
        let metrics = Self {
            registry: Mutex::default(),
            requests: Family::default(),
            seconds: Family::new_with_constructor(new),
            streams: Gauge::default(),
            enrolled: Gauge::default(),
            awake: Gauge::default(),
        };
        let mut registry = Registry::with_prefix("dormouse");
        let (requests, seconds) = (metrics.requests.clone(), metrics.seconds.clone());
        registry.register("http_requests", "Requests that were answered", requests);
        registry.register(
            "http_request_seconds",
            "How long requests took until the answer began",
            seconds,
        );
        let gauges = [
            ("event_streams", "Open streams of events", &metrics.streams),
            ("assistants", "Assistants that live here", &metrics.enrolled),
            (
                "assistants_awake",
                "Assistants that are awake",
                &metrics.awake,
            ),
        ];
        for (name, help, gauge) in gauges {
            registry.register(name, help, gauge.clone());
        }
        *lock(&metrics.registry) = registry;
        metrics
    }
}

impl Metrics {
    /// Counts a request. `route` is the pattern that matched; empty if no pattern matched.
    pub(crate) fn answered(
        &self,
        route: &str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
            _ => "other",
        };
        let status = match status.as_u16() {
            ..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        let route = match route {
            "" => "none",
            route => route,
        };
        let labels = RequestLabels {
            method,
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
        let labels = RouteLabels {
            route: route.to_owned(),
        };
        self.seconds
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
    }

    /// The text that Prometheus reads, with these numbers of assistants and of open streams of events.
    pub(crate) fn render(
        &self,
        (enrolled, awake): (usize, usize),
        streams: usize,
    ) -> Result<String, std::fmt::Error> {
        let count = |count| i64::try_from(count).unwrap_or(i64::MAX);
        self.enrolled.set(count(enrolled));
        self.awake.set(count(awake));
        self.streams.set(count(streams));
        let mut text = String::new();
        encode(&mut text, &lock(&self.registry))?;
        Ok(text)
    }
}
