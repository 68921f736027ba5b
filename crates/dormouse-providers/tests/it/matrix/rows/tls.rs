//! Broken TLS.

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::{Channel, Dialect},
    matrix::{
        cell::Row,
        outcome::Outcome,
        scene::{Address, Scene, Trust},
        story::streamed,
    },
};

pub(super) fn rows() -> Vec<Row> {
    let row = |what, scene, outcome| Row::new("TLS", what, scene, outcome);
    let unreachable = Outcome::Fails(ModelErrorKind::Unreachable);
    vec![
        row(
            "an untrusted certificate",
            |d| by(d, Channel::Secure, Trust::Machine),
            unreachable,
        )
        .containing("certificate")
        .unasked(),
        row(
            "the same, and its authority is configured",
            |d| by(d, Channel::Secure, Trust::Authority),
            Outcome::Reply,
        ),
        row(
            "a certificate for another host",
            |d| by(d, Channel::OfAnotherHost, Trust::Authority),
            unreachable,
        )
        .containing("certificate")
        .unasked(),
        row(
            "a certificate that has expired",
            |d| by(d, Channel::Expired, Trust::Authority),
            unreachable,
        )
        .containing("certificate")
        .unasked(),
        row(
            "http:// to a port that speaks TLS",
            |d| by(d, Channel::Secure, Trust::Authority).at(Address::ByScheme("http")),
            Outcome::Fails(ModelErrorKind::Unavailable),
        )
        .unasked(),
        row(
            "https:// to a port without TLS",
            |d| by(d, Channel::Plain, Trust::Authority).at(Address::ByScheme("https")),
            unreachable,
        )
        .unasked(),
    ]
}

fn by(dialect: &dyn Dialect, channel: Channel, trust: Trust) -> Scene {
    Scene::of(streamed(dialect, "")).by(channel, trust)
}
