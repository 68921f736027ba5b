//! `dormouse play --script FILE`: a file says what several visitors say, and when.
//!
//! The clock advances only between two lines, the model is the offline one, and the assistants run one after the other.
//! So a script in an empty folder always produces the same log, including times and ids.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, Author, Clock, EntityId, Habitat, PERCEPTIONS_PAGE, Random, ReadEvents, Senses,
    Seq, Timestamp,
};
use dormouse_host::{
    DataFolder, Host, HostSettings, admit_player,
    provider::ModelSelection,
    roster::{self, Newcomer, RosterDecision},
};
use dormouse_providers::ServedBy;
use dormouse_sandbox::{Act, Character};
use tokio::{runtime, select};

use super::{
    PlayError,
    feed::WatchError,
    session::surroundings::{Meaning, meaning, refusal},
};
use crate::{
    command::Places,
    config::Config,
    exit::{Exit, Report},
    input::Input,
    item::{Item, OwnAct, Sight, World, act_name},
    plain::Style,
    provider,
    screen::{Format, Screen, Stdout},
    signals::Signals,
};

mod lines;

pub(crate) use lines::ScriptError;
use lines::{Deed, ScriptLine, VisitScript};

/// The author of the events that a script causes.
const AUTHOR: &str = "script";

/// The time of the script, in microseconds since 1970.
#[derive(Debug)]
struct ScriptClock(AtomicI64);

impl Clock for ScriptClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// A constant instead of random numbers. They only spread retries, and the offline model needs no retry.
#[derive(Debug)]
struct Middle;

impl Random for Middle {
    fn unit(&self) -> f64 {
        0.5
    }
}

/// Plays the script, and prints what each visitor did and perceived.
pub(super) fn run(places: &Places, file: &Path, json: bool) -> Result<Exit, PlayError> {
    let format = match json {
        true => Format::Json,
        false => Format::Text(Style::Plain),
    };
    let data = crate::data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    let script = lines::read(file, &config.assistant.name())?;
    let clock = Arc::new(ScriptClock(AtomicI64::new(script.begin.as_micros())));
    let settings = settings(&config, &clock)?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(PlayError::System)?;
    runtime.block_on(Box::pin(async {
        let mut signals = Signals::listen().map_err(PlayError::System)?;
        let (screen, writer) =
            Screen::open(Arc::new(Mutex::new(Stdout)), format).map_err(PlayError::System)?;
        let played = play(&data, script, settings, clock, (screen, format));
        let exit = select! {
            exit = signals.next() => Ok(exit),
            played = Box::pin(played) => played.map(|()| Exit::Success),
        }?;
        writer.finish().await.map_err(PlayError::Output)?;
        Ok(exit)
    }))
}

/// The settings of a host whose behaviour depends only on its folder and this clock.
fn settings(config: &Config, clock: &Arc<ScriptClock>) -> Result<HostSettings, PlayError> {
    let environment = provider::environment();
    let selection = ModelSelection {
        provider: Some(ServedBy::Offline),
        ..ModelSelection::default()
    };
    let chosen = provider::select(&selection, &config.provider, &environment)?;
    let network = provider::network(&config.provider)?;
    let models = provider::assemble(&chosen, &config.provider, &config.prices, &network, |_| {})?;
    let mut settings = HostSettings::with_models(config.clone(), environment, models);
    settings.learns = false;
    settings.clock = Arc::clone(clock) as _;
    settings.random = Arc::new(Middle);
    Ok(settings)
}

async fn play(
    data: &DataFolder,
    script: VisitScript,
    settings: HostSettings,
    clock: Arc<ScriptClock>,
    (screen, format): (Screen, Format),
) -> Result<(), PlayError> {
    let failed = |error| PlayError::composing(data, error);
    let host = Host::open(settings, data).await.map_err(failed)?;
    let mut stage = Stage {
        host,
        clock,
        screen,
        format,
        residents: BTreeMap::new(),
        visitors: BTreeMap::new(),
    };
    stage.move_in(&script).await?;
    for line in script.lines {
        stage.carry_out(line).await?;
    }
    stage.host.close().await;
    Ok(())
}

/// All characters of the script.
struct Stage {
    host: Host,
    clock: Arc<ScriptClock>,
    screen: Screen,
    format: Format,
    /// The assistants, each with its character and the next moment at which something is due.
    residents: BTreeMap<AssistantId, (EntityId, Option<Timestamp>)>,
    /// The visitors who are there, by the id of their character.
    visitors: BTreeMap<EntityId, Character>,
}

impl Stage {
    fn failed(&self, error: dormouse_host::HostError) -> PlayError {
        PlayError::composing(self.host.folder(), error)
    }

    /// Creates the residents of the script, and starts all assistants of the folder.
    async fn move_in(&mut self, script: &VisitScript) -> Result<(), PlayError> {
        let known = self.host.known().map_err(|error| self.failed(error))?;
        for (key, seq) in &known {
            self.check_time(script.begin, key, *seq).await?;
        }
        for (key, persona) in &script.residents {
            // The residents may already exist, if the script is played again in the same folder.
            if known.iter().any(|(it, _)| it == key) {
                continue;
            }
            let newcomer = Newcomer {
                key: key.clone(),
                name: None,
                persona: Some(persona.clone()),
                tags: BTreeSet::new(),
            };
            let decision = RosterDecision {
                author: Author::Operator(AUTHOR.to_owned()),
                reason: "a resident of the script".to_owned(),
            };
            let landmarks = self.host.world().landmarks();
            let (log, config) = (self.host.log(), (self.host.config(), &landmarks));
            roster::create(log, &*self.clock, config, newcomer, decision)
                .await
                .map_err(|error| self.failed(error.into()))?;
        }
        let mut keys = vec![self.host.config().assistant.key()];
        keys.extend(known.into_iter().map(|(key, _)| key));
        keys.extend(script.residents.iter().map(|(key, _)| key.clone()));
        for key in keys {
            let character = self.host.world().character(&key);
            let character = character.map_err(|error| self.failed(error.into()))?;
            let due = self.live_through(&key).await?;
            self.residents.insert(key, (character, due));
        }
        self.settle().await
    }

    async fn check_time(
        &self,
        begin: Timestamp,
        key: &AssistantId,
        seq: Seq,
    ) -> Result<(), PlayError> {
        let before = Seq(seq.0.saturating_sub(1));
        let last = self.host.log().read(key, before, 1).await;
        let last = last.map_err(|error| self.failed(error.into()))?;
        match last.first() {
            Some(last) if last.at > begin => Err(ScriptError::TooEarly {
                begin,
                assistant: key.clone(),
                last: last.at,
            }
            .into()),
            _ => Ok(()),
        }
    }

    async fn carry_out(&mut self, line: ScriptLine) -> Result<(), PlayError> {
        self.pass(self.clock.now().plus(line.after)).await?;
        if let Some(Deed { by, input }) = line.deed {
            let visitor = admit_player(self.host.world(), &by).await;
            let visitor = visitor.map_err(|error| self.failed(error))?;
            self.visitors.insert(visitor.id.clone(), visitor.clone());
            match input {
                Some(input) => self.act(line.number, &visitor, input).await,
                None => self.leave(line.number, &visitor).await,
            }
        }
        self.settle().await
    }

    /// Advances the clock to this moment. What becomes due before happens at its own moment.
    async fn pass(&mut self, until: Timestamp) -> Result<(), PlayError> {
        loop {
            let due = self.residents.values().filter_map(|(_, due)| *due).min();
            let next = due.filter(|due| *due <= until).unwrap_or(until);
            let now = self.clock.now().max(next);
            self.clock.0.store(now.as_micros(), Ordering::Relaxed);
            if due.is_none_or(|due| due > until) {
                return Ok(());
            }
            self.settle().await?;
        }
    }

    /// Runs the assistants one after the other until none has anything to do, and prints what the visitors perceived.
    async fn settle(&mut self) -> Result<(), PlayError> {
        loop {
            let mut is_quiet = true;
            for key in self.residents.keys().cloned().collect::<Vec<_>>() {
                if self.has_something_to_do(&key).await? {
                    is_quiet = false;
                    let due = self.live_through(&key).await?;
                    if let Some((_, next)) = self.residents.get_mut(&key) {
                        *next = due;
                    }
                    self.carry_tasks(&key).await?;
                }
            }
            self.show_perceptions().await?;
            if is_quiet {
                return Ok(());
            }
        }
    }

    async fn has_something_to_do(&self, key: &AssistantId) -> Result<bool, PlayError> {
        let Some((character, due)) = self.residents.get(key) else {
            return Ok(false);
        };
        if due.is_some_and(|due| due <= self.clock.now()) {
            return Ok(true);
        }
        let next = self.host.world().perceptions(character, 0, 1).await;
        Ok(!next.map_err(WatchError::from)?.is_empty())
    }

    async fn live_through(&self, key: &AssistantId) -> Result<Option<Timestamp>, PlayError> {
        let due = Box::pin(self.host.live_through(key)).await;
        let due = due.map_err(|error| self.failed(error))?;
        // The clock stands still, so what could not be done now would be retried forever at the same moment.
        let soon = self.clock.now().plus(Duration::from_secs(1));
        Ok(due.map(|due| due.max(soon)))
    }

    /// Carries its tasks and results to the other assistants, which then have something to do at once.
    async fn carry_tasks(&mut self, key: &AssistantId) -> Result<(), PlayError> {
        let stirred = self.host.carry_tasks(key).await;
        for other in stirred.map_err(|error| self.failed(error))? {
            if let Some((_, due)) = self.residents.get_mut(&other) {
                *due = Some(self.clock.now());
            }
        }
        Ok(())
    }

    async fn act(&self, number: u64, visitor: &Character, input: Input) {
        let world = self.host.world();
        let assistant = self.host.config().assistant.name();
        let item = match meaning(world, &visitor.id, &assistant, input).await {
            Ok(Meaning::Sight(name, seen)) => {
                let own = OwnAct::look_at(self.clock.now(), &visitor.name, name, seen);
                Item::World(World::Own(self.of_somebody(own)))
            }
            Ok(Meaning::Act(act)) => self.done(number, visitor, act).await,
            Err(reason) => rejected(number, reason),
        };
        self.screen.show(item).await;
    }

    async fn leave(&mut self, number: u64, visitor: &Character) {
        self.visitors.remove(&visitor.id);
        if let Err(error) = self.host.world().leave(&visitor.id).await {
            let item = rejected(number, Report(&error).to_string());
            self.screen.show(item).await;
        }
    }

    async fn done(&self, number: u64, visitor: &Character, act: Act) -> Item {
        let name = act_name(&act);
        match self.host.world().act(&visitor.id, act).await {
            Ok(acted) => {
                let own = OwnAct::new(self.clock.now(), &visitor.name, name, &acted.seen);
                Item::World(World::Own(self.of_somebody(own)))
            }
            Err(error) => rejected(number, refusal(&error)),
        }
    }

    /// In text output, acts of several visitors are distinguished by their names.
    fn of_somebody(&self, mut own: OwnAct) -> OwnAct {
        if let Format::Text(_) = self.format {
            own.seen = format!("({}) {}", own.by, own.seen);
        }
        own
    }

    /// Prints what the visitors perceived since the last time.
    async fn show_perceptions(&self) -> Result<(), PlayError> {
        let world = self.host.world();
        for (id, visitor) in &self.visitors {
            let perceived = world.perceptions(id, 0, PERCEPTIONS_PAGE).await;
            for perception in perceived.map_err(WatchError::from)? {
                let number = perception.attested.delivery.number;
                let mut sight = Sight::from(&perception);
                sight.observer = Some(visitor.name.clone());
                self.screen.show(Item::World(World::Perceived(sight))).await;
                let forgotten = world.acknowledge(id, number).await;
                forgotten.map_err(WatchError::from)?;
            }
        }
        Ok(())
    }
}

fn rejected(line: u64, reason: String) -> Item {
    Item::Rejected { line, reason }
}
