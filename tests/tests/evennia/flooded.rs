//! One person says hundreds of lines in a few seconds, and another one is answered as if nothing had happened.

use std::{sync::Arc, time::Duration};

use dormouse_contracts::{ChatRequest, ReadError, Senses, each_event};
use dormouse_engine::{AdmissionSettings, Event};
use dormouse_evennia::EvenniaWorld;
use dormouse_host::{
    DataFolder, Host, HostSettings, Resident,
    config::{Config, WorldKind},
    provider::Models,
};
use dormouse_providers::Environment;
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use dormouse_tests::{Game, tell};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{Instant, interval, sleep};

use crate::inhabited::{assistant, character, inhabit};

/// How many lines, and how many of them at once, 200 a second.
const LINES: usize = 600;
const AT_ONCE: usize = 20;
const EVERY: Duration = Duration::from_millis(100);

/// How long the log may take to account for all lines.
const PATIENCE: Duration = Duration::from_secs(30);

/// After how many lines of the one the other asks something.
const QUESTION_EVERY: usize = 200;

/// Answers the last question of the other that was asked, if any.
fn answers(request: &ChatRequest) -> ScriptedTurn {
    let all = serde_json::to_string(&request.messages).unwrap();
    let asked = (1..=LINES / QUESTION_EVERY).rfind(|number| all.contains(&question(*number)));
    let message = asked.map_or_else(|| "Yes?".to_owned(), answer);
    ScriptedTurn::call("say", json!({ "message": message }))
}

fn question(number: usize) -> String {
    format!("is question {number} heard?")
}

fn answer(number: usize) -> String {
    format!("I heard question {number}.")
}

/// What became of the lines of the flood.
#[derive(Debug, Default)]
struct Fate {
    answered: usize,
    overheard: usize,
    dropped: usize,
}

impl Fate {
    fn all(&self) -> usize {
        self.answered + self.overheard + self.dropped
    }
}

/// Waits until the log accounts for all of them. Those that are only counted are written down every few seconds.
async fn fate_of(host: &Host<EvenniaWorld>, lines: usize) -> Fate {
    let end = Instant::now() + PATIENCE;
    loop {
        let fate = fate(host).await;
        if fate.all() >= lines || Instant::now() > end {
            return fate;
        }
        sleep(Duration::from_millis(200)).await;
    }
}

async fn fate(host: &Host<EvenniaWorld>) -> Fate {
    let mut fate = Fate::default();
    let bob = assistant("dormouse");
    let read = each_event(host.log(), &bob, .., |stored| {
        match Event::decode(stored).unwrap() {
            Event::Perceived(it) => {
                let is_flood = it.perception.words.as_claimed().contains("flood line");
                match it.refused {
                    Some(_) if is_flood => fate.overheard += 1,
                    None if is_flood => fate.answered += 1,
                    _ => {}
                }
            }
            Event::LinesDropped(it) => fate.dropped += usize::try_from(it.lines).unwrap(),
            _ => {}
        }
        Ok::<_, ReadError>(())
    });
    read.await.unwrap();
    fate
}

pub(crate) async fn one_who_floods_starves_nobody(game: &Game) {
    let folder = TempDir::new().unwrap();
    let model = ScriptedModel::looping(ScriptedTurn::with(answers));
    let world = inhabit(game, folder.path(), &[]).await;
    let mut config = Config::default();
    config.world.kind = WorldKind::Evennia;
    let models = Models::of(Arc::new(model.clone()));
    let settings = HostSettings::with_models(config, Environment::of(|_| None), models);
    let folder = DataFolder::at(folder.path()).unwrap();
    let host = Host::open_in(world, settings, &folder).await.unwrap();
    let bob = host.wake(&assistant("dormouse")).await.unwrap();
    let mut alice = game.enter("alice").await;
    let mut carol = game.enter("carol").await;
    let begun = Instant::now();
    let mut ticks = interval(EVERY);
    let mut waited = Vec::new();
    for number in 1..=LINES {
        if number % AT_ONCE == 1 {
            ticks.tick().await;
        }
        alice.types(&format!("say @bob flood line {number}")).await;
        if number % QUESTION_EVERY == 0 {
            let (number, asked) = (number / QUESTION_EVERY, Instant::now());
            carol.types(&format!("say @bob {}", question(number))).await;
            carol.sees(&answer(number)).await;
            waited.push(asked.elapsed());
        }
    }
    let typed = begun.elapsed();
    // Which lines the game itself refused is seen by the one who typed them.
    alice.counts("nothing").await;
    let said = carol.counts("flood line").await;
    rests(&host, &bob).await;
    let fate = fate_of(&host, said).await;
    let requests = model.requests().len();
    tell(&format!(
        "{LINES} lines typed within {typed:.1?}, {said} of them said aloud: {fate:?}; {requests} requests to the model; another person's \
         questions were answered after {waited:.1?}"
    ));
    assert!(said > LINES / 2, "the game refused {said}");
    assert_eq!(fate.all(), said);
    assert!(fate.dropped > 0);
    let limits = AdmissionSettings::default();
    let more = begun.elapsed().as_secs() / u64::from(limits.cool_down_seconds) + 1;
    let most = u64::from(limits.burst) + more;
    assert!(fate.answered as u64 <= most);
    assert!(requests as u64 <= most + waited.len() as u64);
    bob.handle().shut_down().await;
    host.close().await;
    host.world().game().close().await;
}

async fn rests(host: &Host<EvenniaWorld>, bob: &Resident) {
    let last = host.world().last_delivery(&character("dormouse")).await;
    bob.heard_up_to(last.unwrap()).await.unwrap();
    bob.handle().at_rest().await;
}
