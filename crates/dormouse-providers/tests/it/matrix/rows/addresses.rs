//! What users write down as the address of a server.

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::Dialect,
    matrix::{
        cell::Row,
        outcome::Outcome,
        scene::{Address, Scene},
        story::streamed,
    },
};

pub(super) fn rows() -> Vec<Row> {
    let row = |what, scene, outcome| Row::new("Base URLs", what, scene, outcome);
    let not_found = Outcome::Fails(ModelErrorKind::NotFound);
    vec![
        row(
            "without a version",
            |d| at(d, Address::Below("")),
            Outcome::Reply,
        ),
        row(
            "with a trailing slash",
            |d| at(d, Address::Below("/")),
            Outcome::Reply,
        ),
        row(
            "with the version",
            |d| at(d, Address::Below(d.version())),
            Outcome::Reply,
        ),
        row(
            "with version and slash",
            |d| at(d, Address::Below("/v1/")),
            Outcome::Reply,
        ),
        row(
            "with the method's path",
            |d| at(d, Address::Below(d.path())),
            Outcome::Reply,
        ),
        row(
            "with a path before it, as behind a gateway",
            |d| at(d, Address::Below("/gate/way")).under("/gate/way"),
            Outcome::Reply,
        ),
        row(
            "with a path before the version",
            |d| at(d, Address::Below("/gateway/v1")).under("/gateway"),
            Outcome::Reply,
        ),
        row(
            "with trailing spaces",
            |d| at(d, Address::Below("  ")),
            Outcome::Reply,
        ),
        row(
            "with a typo: the server answers 404 in HTML",
            |d| at(d, Address::Below("/vi/wrong")),
            not_found,
        )
        .containing("404"),
        none("empty", |d| at(d, Address::Literally(""))),
        none("the key instead of the URL", |d| {
            at(d, Address::Literally("sk-secret-key"))
        }),
        none("without a scheme", |d| {
            at(d, Address::Literally("localhost:8080"))
        }),
        none("a file", |d| at(d, Address::Literally("file:///etc/hosts"))),
        none("without a host", |d| at(d, Address::Literally("http://"))),
        none("with a key in it", |d| {
            at(
                d,
                Address::Literally("http://user:sk-secret-key@127.0.0.1:9/v1"),
            )
        }),
        none("with a query", |d| {
            at(
                d,
                Address::Literally("http://127.0.0.1:9/v1?key=sk-secret-key"),
            )
        }),
        row(
            "at an address without a server",
            |d| at(d, Address::Nobody),
            Outcome::Fails(ModelErrorKind::Unreachable),
        )
        .unasked(),
    ]
}

fn none(what: &'static str, scene: fn(&dyn Dialect) -> Scene) -> Row {
    Row::new("Base URLs", what, scene, Outcome::NoModel).unasked()
}

fn at(dialect: &dyn Dialect, address: Address) -> Scene {
    Scene::of(streamed(dialect, "")).at(address)
}
