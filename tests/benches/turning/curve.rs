//! What a turn costs the longer its assistant has lived: prompts show a bounded part of a life, so it must not cost more.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{
    bare,
    clock::now,
    measured,
    server::{BRIEFLY, Server},
    table::{Row, Table, middle},
    visit::{Budgets, Visit, milliseconds},
};

/// How many earlier turns a prompt shows at most.
const SHOWN: usize = 50;
/// After so many turns it is measured.
const POINTS: [usize; 4] = [10, 100, 1_000, 10_000];
/// How many turns are measured each time.
const TURNS: usize = 20;
/// The syncs that a turn needs: its message is accepted, what it is about to do is written down, the world keeps what was
/// done, and everything is settled.
const SYNCS: f64 = 4.0;
const HASHES: usize = 20;

/// One life, measured at each point up to `lived` turns.
pub(super) async fn measure(
    table: &mut Table,
    server: &Server,
    folder: &Path,
    sync: f64,
    lived: usize,
) {
    let visit = Visit::begin(&folder.join("curve"), server, SHOWN, Budgets::Tokens).await;
    visit.say("keep a goal").await;
    let mut turns = 0;
    for point in POINTS.into_iter().filter(|point| *point <= lived) {
        while turns < point {
            // Prompts show whole turns of five steps. What happened before these was brief, to get there sooner.
            let question = match point - turns > SHOWN {
                true => format!("what is new, friend {turns}, {BRIEFLY}"),
                false => format!("what is new, friend {turns}?"),
            };
            visit.say(&question).await;
            turns += 1;
        }
        let took = measured(&visit, server, TURNS).await;
        let before = server.last_bodies().await;
        visit.say("what is new, at last?").await;
        turns += TURNS + 1;
        let changed = changed(&before, &server.last_bodies().await);
        let bare = bare(server).await;
        let hash = hash(changed);
        table.add(&Row {
            what: &format!("5-step turn after {point} turns, at most {SHOWN} of them in its prompt"),
            measured: took.wall,
            unit: "ms",
            baseline: "its limit: a bare client that sends the same bytes, four syncs, and the hash of what is new",
            baseline_measured: bare.wall + SYNCS * sync + hash,
            note: format!(
                "bare {:.2} ms for {:.0} KB; a sync {sync:.2} ms; {:.1} KB of that are new in its turn, and hashed in \
                 {hash:.3} ms; {:.2} ms of processor time; {:.1} syncs of the log; {} further requests in {TURNS} turns",
                bare.wall,
                took.bytes as f64 / 1e3,
                changed as f64 / 1e3,
                took.processor,
                took.syncs as f64 / TURNS as f64,
                took.further,
            ),
        });
    }
    visit.end().await;
}

/// How many bytes of a turn's requests are not in the request before: those between what both begin with and what both end
/// with. The request before the first is the last one of the turn before.
fn changed(before: &[Vec<u8>], bodies: &[Vec<u8>]) -> usize {
    let last = before.last().into_iter();
    let pairs = last.chain(bodies).zip(bodies);
    pairs.map(|(old, new)| differing(old, new)).sum()
}

fn differing(old: &[u8], new: &[u8]) -> usize {
    let common = |(a, b): &(&u8, &u8)| a == b;
    let prefix = old.iter().zip(new).take_while(common).count();
    let ends = old.iter().rev().zip(new.iter().rev());
    let suffix = ends.take_while(common).count();
    new.len().saturating_sub(prefix + suffix)
}

/// How long it takes to hash so many bytes, in milliseconds.
fn hash(bytes: usize) -> f64 {
    let text = vec![b'x'; bytes];
    let mut all: Vec<f64> = (0..HASHES)
        .map(|_| {
            let started = now();
            std::hint::black_box(Sha256::digest(&text));
            milliseconds(started.elapsed())
        })
        .collect();
    middle(&mut all)
}
