//! An assistant in a room of a real game, with 50 people who talk: how fast it takes in what they say, how long a whisper takes
//! to its model, and what an hour of talk leaves in memory. `cargo xtask bench evennia`; needs the peer `evennia`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

use std::{
    alloc::System,
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use cap::Cap;
use dormouse_contracts::{
    AssistantId, BoxStream, ChatDelta, ChatModel, ChatRequest, Clock, ModelError, ModelName,
    ProviderId, Senses, Timestamp,
};
use dormouse_evennia::{Account, EvenniaGame, EvenniaSettings, EvenniaWorld, Password};
use dormouse_host::{DataFolder, Host, HostSettings, Resident, config::Config, provider::Models};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use dormouse_tests::{Game, Player};
use serde_json::json;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use table::{Row, Table};

/// Counts the bytes that are in use, which pages of the system are too coarse for.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// How many people talk.
const PEOPLE: usize = 50;
/// How many lines they say in an hour, each of them one a minute, unless `--lines` says otherwise.
const HOUR: usize = 3_000;
/// How many whispers are timed, and how often somebody says something meanwhile.
const WHISPERS: usize = 50;
const LINE_EVERY: Duration = Duration::from_millis(500);
/// How many lines wait at most for an assistant that was away. The game keeps 16 MiB of them, and each names all 50 people.
const AWAY: usize = 1_000;

const PASSWORD: &str = "crowd-pw-of-tests";

struct Now;

impl Clock for Now {
    #[expect(
        clippy::disallowed_methods,
        reason = "a real game has the time of the machine"
    )]
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

/// The number after `--lines`.
fn lines() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--lines");
    (arguments.nth(1)).map_or(HOUR, |number| number.parse().unwrap())
}

fn main() {
    let Some((runtime, mut table)) = Table::begin_benchmark() else {
        return;
    };
    let Some(game) = Game::start() else { return };
    runtime.block_on(Box::pin(measure(&game, &mut table)));
}

async fn measure(game: &Game, table: &mut Table) {
    let mut crowd = Crowd::gather(game).await;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (model, mut asked) = Watched::new();
    let model: Arc<dyn ChatModel> = Arc::new(model);
    let (host, bob) = inhabit(game, folder.path(), &model).await;
    let mut alice = game.enter("alice").await;
    let mut carol = game.enter("carol").await;
    whispering(table, &crowd, (&mut alice, &mut carol), &mut asked).await;
    drop(alice);
    bob.handle().at_rest().await;
    let lines = lines();
    talking(table, &mut crowd, lines, (&host, &bob), &mut carol).await;
    let last = host.world().last_delivery(bob.character()).await.unwrap();
    let eve = listener(game).await;
    // Cut off without a word, both stay in the room, and the game keeps what they hear.
    drop((host, bob, eve));
    let missed = lines.min(AWAY);
    for _ in 0..missed {
        crowd.talks();
    }
    carol.hears("talk number", missed).await;
    catching_up(table, game, (last, missed), async || {
        inhabit(game, folder.path(), &model).await
    })
    .await;
}

/// The people in the room, each at a connection of their own.
struct Crowd {
    people: Vec<mpsc::UnboundedSender<String>>,
    tasks: JoinSet<()>,
    said: usize,
}

impl Crowd {
    async fn gather(game: &Game) -> Self {
        let mut admin = game.enter("admin").await;
        // Names of a line that is executed are not known within its comprehensions, apart from the first sequence.
        let made = format!(
            "py from evennia.utils.utils import class_from_module; from django.conf import settings; \
             made = [one.create(username=f'visitor{{n}}', password='{PASSWORD}')[1] \
             for n, one in enumerate([class_from_module(settings.BASE_ACCOUNT_TYPECLASS)] * {PEOPLE})]; \
             self.msg(f'errors: {{sum(made, [])}}.')"
        );
        admin.types(&made).await;
        admin.sees("errors: [].").await;
        admin.leaves().await;
        let (mut people, mut tasks) = (Vec::new(), JoinSet::new());
        for number in 0..PEOPLE {
            let guest = game.enter_with(&format!("visitor{number}"), PASSWORD).await;
            let (lines, taken) = mpsc::unbounded_channel();
            tasks.spawn(guest.chats(taken));
            people.push(lines);
        }
        Self {
            people,
            tasks,
            said: 0,
        }
    }

    /// The next one says something.
    fn talks(&mut self) {
        self.said += 1;
        let line = format!(
            "say talk number {} about the weather in the hollow",
            self.said
        );
        let who = self.people.get(self.said % PEOPLE).unwrap();
        assert!(
            who.send(line).is_ok() && self.tasks.len() == PEOPLE,
            "somebody left"
        );
    }

    /// Somebody says something now and then, for ever.
    async fn goes_on(&self) {
        for number in 0_usize.. {
            let line = format!("say meanwhile number {number}");
            assert!(self.people.get(number % PEOPLE).unwrap().send(line).is_ok());
            sleep(LINE_EVERY).await;
        }
    }
}

async fn inhabit(
    game: &Game,
    folder: &Path,
    model: &Arc<dyn ChatModel>,
) -> (Host<EvenniaWorld>, Resident) {
    let key = AssistantId::try_new("dormouse").unwrap();
    let account = Account {
        name: "bob".to_owned(),
        password: Password::new(game.password("bob")),
    };
    let world = EvenniaGame::open(EvenniaSettings {
        url: game.url().to_owned(),
        residents: BTreeMap::from([(key.clone(), account)]),
        commands: Vec::new(),
        folder: folder.to_owned(),
        clock: Arc::new(Now),
        on_notice: Arc::new(|_, _| {}),
        on_staff: Arc::new(|asked| asked.answer(String::new(), false)),
    });
    let world = world.await.unwrap();
    let environment = Environment::of(|_| None);
    let models = Models::of(Arc::clone(model));
    let settings = HostSettings::with_models(Config::default(), environment, models);
    let folder = DataFolder::at(folder).unwrap();
    let host = Host::open_in(world, settings, &folder).await.unwrap();
    let bob = host.wake(&key).await.unwrap();
    while bob.presence().await.unwrap().place.is_none() {
        sleep(Duration::from_millis(50)).await;
    }
    (host, bob)
}

/// A resident's plain client, that only receives.
async fn listener(game: &Game) -> Player {
    let mut eve = game.enter("eve").await;
    let hello = json!({ "v": 1, "life": null, "after": null, "after_at": null, "client": "plain" });
    eve.sends(&json!(["dormouse_hello", [hello], {}])).await;
    eve.receives("dormouse_hello").await;
    eve
}

/// How long a whisper takes to the request to the model, against how long one takes to a plain client.
async fn whispering(
    table: &mut Table,
    crowd: &Crowd,
    (alice, carol): (&mut Player, &mut Player),
    asked: &mut mpsc::UnboundedReceiver<Instant>,
) {
    let (mut to_model, mut to_client) = (Vec::new(), Vec::new());
    let timed = async {
        for number in 0..WHISPERS {
            let started = Instant::now();
            alice
                .types(&format!("whisper carol = psst {number}."))
                .await;
            carol.sees(&format!("psst {number}.")).await;
            carol.forgets();
            to_client.push(started.elapsed());
            while asked.try_recv().is_ok() {}
            let started = Instant::now();
            alice.types("whisper bob = hello, are you there?").await;
            let request = timeout(Duration::from_secs(30), asked.recv()).await;
            to_model.push(request.unwrap().unwrap().duration_since(started));
            // The answer is not part of it.
            alice.sees("bob whispers").await;
            alice.forgets();
        }
    };
    tokio::select! {
        () = timed => {}
        () = crowd.goes_on() => {}
    }
    for (what, part) in [("p50", 50), ("p99", 99)] {
        table.add(&Row {
            what: &format!("from a whisper to the request to the model, {what}"),
            measured: at(&mut to_model, part),
            unit: "ms",
            baseline: "from a whisper to a plain websocket client that only receives",
            baseline_measured: at(&mut to_client, part),
            note: format!(
                "of {WHISPERS}, while {PEOPLE} people say a line every {} ms",
                LINE_EVERY.as_millis()
            ),
        });
    }
}

fn at(latencies: &mut [Duration], part: usize) -> f64 {
    latencies.sort();
    latencies
        .get(latencies.len() * part / 100)
        .unwrap()
        .as_secs_f64()
        * 1e3
}

/// An hour of talk, as fast as the game carries it.
async fn talking(
    table: &mut Table,
    crowd: &mut Crowd,
    lines: usize,
    (host, bob): (&Host<EvenniaWorld>, &Resident),
    carol: &mut Player,
) {
    let before = ALLOCATOR.allocated();
    let first = host.world().last_delivery(bob.character()).await.unwrap();
    let started = Instant::now();
    for _ in 0..lines {
        crowd.talks();
    }
    let plain = async {
        carol.hears("talk number", lines).await;
        started.elapsed()
    };
    let (plain, heard) = tokio::join!(plain, classified(host, bob, first + lines as u64, started));
    table.add(&Row {
        what: "lines of talk, on disk and classified",
        measured: lines as f64 / heard.as_secs_f64(),
        unit: "a second",
        baseline: "received by a plain websocket client in the same room",
        baseline_measured: lines as f64 / plain.as_secs_f64(),
        note: format!("{lines} lines of {PEOPLE} people; the game sets the pace"),
    });
    bob.handle().at_rest().await;
    let after = ALLOCATOR.allocated();
    table.add(&Row {
        what: "memory in use after an hour of talk",
        measured: after as f64 / 1e6,
        unit: "MB",
        baseline: "before it",
        baseline_measured: before as f64 / 1e6,
        note: format!(
            "{} bytes more for each line",
            after.saturating_sub(before) / lines
        ),
    });
}

async fn classified(
    host: &Host<EvenniaWorld>,
    bob: &Resident,
    last: u64,
    started: Instant,
) -> Duration {
    while host.world().last_delivery(bob.character()).await.unwrap() < last {
        sleep(Duration::from_millis(5)).await;
    }
    bob.heard_up_to(last).await.unwrap();
    started.elapsed()
}

/// What waits for an assistant that was away is sent at once, so here the assistant sets the pace.
async fn catching_up(
    table: &mut Table,
    game: &Game,
    (last, missed): (u64, usize),
    open: impl AsyncFn() -> (Host<EvenniaWorld>, Resident),
) {
    let mut eve = listener(game).await;
    let started = Instant::now();
    let mut received = 0;
    while received < missed {
        eve.receives("dormouse_event").await;
        received += eve.takes("dormouse_event").len();
    }
    let plain = started.elapsed();
    eve.leaves().await;
    let started = Instant::now();
    let (host, bob) = open().await;
    let heard = classified(&host, &bob, last + missed as u64, started).await;
    table.add(&Row {
        what: "lines that waited, on disk and classified",
        measured: missed as f64 / heard.as_secs_f64(),
        unit: "a second",
        baseline: "received by a plain client of a resident",
        baseline_measured: missed as f64 / plain.as_secs_f64(),
        note: format!("{missed} lines, with the login and the start of the assistant"),
    });
    host.close().await;
    host.world().game().close().await;
}

/// The offline model, which reports when it is asked.
struct Watched {
    model: OfflineModel,
    asked: mpsc::UnboundedSender<Instant>,
}

impl Watched {
    fn new() -> (Self, mpsc::UnboundedReceiver<Instant>) {
        let (asked, requests) = mpsc::unbounded_channel();
        let model = OfflineModel::new();
        (Self { model, asked }, requests)
    }
}

impl ChatModel for Watched {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        // Nobody listens any more at the end.
        let _unheard = self.asked.send(Instant::now());
        self.model.stream(request)
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }
}
