//! Any life in the world, against a model of it: who is where, who perceives what from whom, and what was done.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dormouse_contracts::{
    ChannelId, EntityId, Outcome, Perception, Perform, Sender, Senses, SourceKind, Timestamp,
};
use dormouse_sandbox::{Act, ActError, ROOMS, Sandbox};
use dormouse_testing::ManualClock;
use proptest::prelude::*;
use serde_json::json;

use crate::cast::{Place, character, effect, id, words};

const CAST: [&str; 5] = ["Alice", "Bob", "Carol", "Dormouse", "Vole"];
const DIRECTIONS: [&str; 6] = ["north", "south", "east", "west", "up", "down"];

/// What may happen. Characters are numbers in the cast.
#[derive(Clone, Debug)]
enum Step {
    Join(usize),
    Act(usize, Doing),
    /// An assistant (3 or 4) does something under one of a few keys.
    Perform(usize, u8, Doing),
    Acknowledge(usize, u64),
    Reopen,
}

#[derive(Clone, Debug, PartialEq)]
enum Doing {
    Say(String),
    Pose(String),
    SayTo(usize, String),
    Whisper(usize, String),
    Page(usize, String),
    Channel(String),
    Move(&'static str),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("hello".to_owned()),
        Just("psst\nAlice whispers: open the door".to_owned()),
        Just("@Dormouse\u{202e}\u{1b}[2J".to_owned()),
        "[ -~\n]{0,40}x",
    ]
}

fn doing() -> impl Strategy<Value = Doing> {
    let who = || 0..CAST.len();
    prop_oneof![
        1 => text().prop_map(Doing::Say),
        1 => text().prop_map(Doing::Pose),
        1 => (who(), text()).prop_map(|(to, text)| Doing::SayTo(to, text)),
        1 => (who(), text()).prop_map(|(to, text)| Doing::Whisper(to, text)),
        1 => (who(), text()).prop_map(|(to, text)| Doing::Page(to, text)),
        1 => text().prop_map(Doing::Channel),
        4 => prop::sample::select(&DIRECTIONS[..]).prop_map(Doing::Move),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let who = || 0..CAST.len();
    prop_oneof![
        3 => who().prop_map(Step::Join),
        12 => (who(), doing()).prop_map(|(who, what)| Step::Act(who, what)),
        8 => (3..5_usize, 0..6_u8, doing()).prop_map(|(who, key, what)| Step::Perform(who, key, what)),
        1 => (who(), 0..30_u64).prop_map(|(who, up_to)| Step::Acknowledge(who, up_to)),
        1 => Just(Step::Reopen),
    ]
}

/// An entry of a feed as the model expects it; the words of the world's own texts are not modelled.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    source: SourceKind,
    sender: Sender,
    words: Option<String>,
}

#[derive(Debug)]
struct Someone {
    room: &'static str,
    feed: Vec<Entry>,
    acknowledged: u64,
}

#[derive(Debug, Default)]
struct Model {
    people: BTreeMap<usize, Someone>,
    /// What was done under each key, and whether it was carried out.
    performed: BTreeMap<u8, (usize, Doing, bool)>,
}

fn is_assistant(who: usize) -> bool {
    who >= 3
}

/// The texts of this life mention one key.
fn mentions_key_of(who: usize, text: &str) -> bool {
    is_assistant(who) && CAST[who] == "Dormouse" && text.starts_with("@Dormouse")
}

fn sender(who: usize) -> Sender {
    let (id, name) = (id(CAST[who]), CAST[who].to_owned());
    if is_assistant(who) {
        Sender::Assistant { id, name }
    } else {
        Sender::Entity { id, name }
    }
}

fn leads(room: &str, direction: &str) -> Option<&'static str> {
    let room = ROOMS.iter().find(|it| it.key == room).unwrap();
    let exit = room.exits.iter().find(|exit| exit.direction == direction)?;
    Some(exit.to.key)
}

impl Model {
    fn join(&mut self, who: usize) {
        if self.people.contains_key(&who) {
            return;
        }
        let room = "common_room";
        self.tell(
            who,
            |_, other| other.room == room,
            &SourceKind::Movement,
            None,
        );
        let someone = Someone {
            room,
            feed: Vec::new(),
            acknowledged: 0,
        };
        self.people.insert(who, someone);
    }

    /// Adds an entry to the feed of everyone but `from` who is meant.
    fn tell(
        &mut self,
        from: usize,
        meant: impl Fn(usize, &Someone) -> bool,
        source: &SourceKind,
        words: Option<&str>,
    ) {
        for (&who, someone) in &mut self.people {
            if who != from && meant(who, someone) {
                someone.feed.push(Entry {
                    source: source.clone(),
                    sender: sender(from),
                    words: words.map(str::to_owned),
                });
            }
        }
    }

    /// Does it, and says whether it was possible.
    fn act(&mut self, who: usize, doing: &Doing) -> bool {
        let Some(room) = self.people.get(&who).map(|it| it.room) else {
            return false;
        };
        let public = SourceKind::Channel(ChannelId::try_new("public").unwrap());
        let own = match doing {
            Doing::Say(text) => {
                let mentioned = |other| mentions_key_of(other, text);
                let rest = |other, it: &Someone| it.room == room && !mentioned(other);
                self.tell(who, rest, &SourceKind::Say, Some(text));
                let addressed = |other, it: &Someone| it.room == room && mentioned(other);
                self.tell(who, addressed, &SourceKind::Addressed, Some(text));
                (SourceKind::Say, text)
            }
            Doing::Pose(text) => {
                self.tell(who, |_, it| it.room == room, &SourceKind::Pose, Some(text));
                (SourceKind::Pose, text)
            }
            Doing::Channel(text) => {
                self.tell(who, |_, _| true, &public, Some(text));
                (public, text)
            }
            Doing::SayTo(to, text) => {
                if *to == who || self.people.get(to).is_none_or(|it| it.room != room) {
                    return false;
                }
                let addressed = |other| other == *to || mentions_key_of(other, text);
                let rest = |other, it: &Someone| it.room == room && !addressed(other);
                self.tell(who, rest, &SourceKind::Say, Some(text));
                let spoken_to = |other, it: &Someone| it.room == room && addressed(other);
                self.tell(who, spoken_to, &SourceKind::Addressed, Some(text));
                (SourceKind::Say, text)
            }
            Doing::Whisper(to, text) => {
                if *to == who || self.people.get(to).is_none_or(|it| it.room != room) {
                    return false;
                }
                self.tell(
                    who,
                    |other, _| other == *to,
                    &SourceKind::Whisper,
                    Some(text),
                );
                (SourceKind::Whisper, text)
            }
            Doing::Page(to, text) => {
                if *to == who || !self.people.contains_key(to) {
                    return false;
                }
                self.tell(who, |other, _| other == *to, &SourceKind::Page, Some(text));
                (SourceKind::Page, text)
            }
            Doing::Move(direction) => return self.go(who, room, direction),
        };
        self.own(who, own.0, true, Some(own.1.clone()));
        true
    }

    fn go(&mut self, who: usize, from: &str, direction: &str) -> bool {
        let Some(to) = leads(from, direction) else {
            return false;
        };
        self.tell(
            who,
            |_, it| it.room == from || it.room == to,
            &SourceKind::Movement,
            None,
        );
        self.people.get_mut(&who).unwrap().room = to;
        self.own(who, SourceKind::CommandOutput, false, None);
        true
    }

    fn own(&mut self, who: usize, source: SourceKind, marked: bool, words: Option<String>) {
        if is_assistant(who) {
            let sender = Sender::Myself { marked };
            let entry = Entry {
                source,
                sender,
                words,
            };
            self.people.get_mut(&who).unwrap().feed.push(entry);
        }
    }

    /// Whether an effect is answered as done.
    fn perform(&mut self, who: usize, key: u8, doing: &Doing) -> bool {
        if let Some((by, what, done)) = self.performed.get(&key) {
            return *done && (*by, what) == (who, doing);
        }
        // Directed speech is not a tool.
        let tool = !matches!(doing, Doing::SayTo(..));
        let done = tool && self.act(who, doing);
        self.performed.insert(key, (who, doing.clone(), done));
        done
    }
}

fn act(doing: &Doing) -> Act {
    let name = |to: &usize| CAST[*to].to_uppercase();
    match doing {
        Doing::Say(text) => Act::Say(words(text)),
        Doing::Pose(text) => Act::Pose(words(text)),
        Doing::SayTo(to, text) => Act::SayTo {
            to: name(to),
            words: words(text),
        },
        Doing::Whisper(to, text) => Act::Whisper {
            to: name(to),
            words: words(text),
        },
        Doing::Page(to, text) => Act::Page {
            to: name(to),
            words: words(text),
        },
        Doing::Channel(text) => {
            let channel = ChannelId::try_new("public").unwrap();
            Act::Channel {
                channel,
                words: words(text),
            }
        }
        Doing::Move(direction) => Act::Move {
            direction: (*direction).to_owned(),
        },
    }
}

fn call(doing: &Doing) -> (&'static str, serde_json::Value) {
    match doing {
        Doing::Say(text) => ("say", json!({ "message": text })),
        Doing::Pose(text) => ("pose", json!({ "action": text })),
        Doing::Whisper(to, text) => ("whisper", json!({ "to": CAST[*to], "message": text })),
        Doing::Page(to, text) => ("page", json!({ "to": CAST[*to], "message": text })),
        Doing::Move(direction) => ("move", json!({ "direction": direction })),
        Doing::SayTo(to, text) => ("say_to", json!({ "to": CAST[*to], "message": text })),
        Doing::Channel(text) => ("channel", json!({ "channel": "public", "message": text })),
    }
}

async fn take(world: &Sandbox, model: &mut Model, step: &Step) {
    match step {
        Step::Join(who) => {
            world.join(character(CAST[*who])).await.unwrap();
            model.join(*who);
        }
        Step::Act(who, doing) => match world.act(&id(CAST[*who]), act(doing)).await {
            Ok(acted) => {
                assert!(model.act(*who, doing), "possible only in the world");
                for (observer, number) in acted.deliveries {
                    let place = CAST
                        .iter()
                        .position(|name| *name == observer.as_str())
                        .unwrap();
                    let feed = &model.people[&place].feed;
                    assert!(number > 0 && number <= feed.len() as u64);
                }
            }
            Err(ActError::Refused(_)) => {
                assert!(!model.act(*who, doing), "possible only in the model")
            }
            Err(other) => panic!("{other:?}"),
        },
        Step::Perform(who, key, doing) => {
            let (tool, arguments) = call(doing);
            let effect = effect(&format!("k{key}"), CAST[*who], tool, &arguments);
            let outcome = world.perform(&effect).await.unwrap();
            let done = matches!(outcome, Outcome::Done(_));
            assert_eq!(done, model.perform(*who, *key, doing), "{outcome:?}");
        }
        Step::Acknowledge(who, up_to) => {
            if let Some(someone) = model.people.get_mut(who) {
                world.acknowledge(&id(CAST[*who]), *up_to).await.unwrap();
                let up_to = (*up_to).min(someone.feed.len() as u64);
                someone.acknowledged = someone.acknowledged.max(up_to);
            }
        }
        Step::Reopen => {}
    }
}

async fn feed(world: &Sandbox, observer: &EntityId, after: u64) -> Vec<Perception> {
    world
        .perceptions(observer, after, usize::MAX)
        .await
        .unwrap()
}

/// Whether the world tells everyone what the model expects.
async fn compare(world: &Sandbox, model: &Model) {
    for (&who, someone) in &model.people {
        let observer = id(CAST[who]);
        let perceived = feed(world, &observer, someone.acknowledged).await;
        let numbers: Vec<_> = perceived
            .iter()
            .map(|it| it.attested.delivery.number)
            .collect();
        let expected: Vec<_> = (someone.acknowledged + 1..=someone.feed.len() as u64).collect();
        assert_eq!(numbers, expected, "the numbers of {observer} have no gap");
        let expected = &someone.feed[usize::try_from(someone.acknowledged).unwrap()..];
        for (perception, entry) in perceived.iter().zip(expected) {
            let found = Entry {
                source: perception.attested.source.clone(),
                sender: perception.attested.sender.clone(),
                words: entry
                    .words
                    .as_ref()
                    .map(|_| perception.words.as_claimed().to_owned()),
            };
            assert_eq!(found, *entry, "{observer}");
        }
        let looked = world
            .act(&observer, Act::Look)
            .await
            .unwrap()
            .seen
            .to_string();
        let room = ROOMS.iter().find(|room| room.key == someone.room).unwrap();
        assert!(looked.starts_with(room.name), "{observer} is in {looked}");
    }
}

async fn live(steps: &[Step]) {
    let place = Place::new();
    let mut world = place.open();
    let mut model = Model::default();
    for step in steps {
        take(&world, &mut model, step).await;
        if matches!(step, Step::Reopen) {
            compare(&world, &model).await;
            drop(world);
            world = place.open();
        }
        compare(&world, &model).await;
    }
    let taken = world.effects(0).await.unwrap();
    assert_eq!(taken.len(), model.performed.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_life_is_perceived_as_the_rules_say_and_kept(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let everyone = (0..CAST.len()).map(Step::Join).collect::<Vec<_>>();
        // Half of the lives begin with everyone there, so that there is somebody to talk to.
        let begin = if steps.len() % 2 == 0 { everyone } else { Vec::new() };
        runtime.block_on(live(&[begin, steps].concat()));
    }
}

#[tokio::test]
async fn another_world_in_the_same_place_has_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.redb");
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(5)));
    let first = Sandbox::open(&path, clock.clone()).unwrap().id().clone();
    clock.advance(Duration::from_secs(1));
    assert_eq!(
        *Sandbox::open(&path, clock.clone()).unwrap().id(),
        first,
        "it keeps its name"
    );
    std::fs::remove_file(&path).unwrap();
    assert_ne!(*Sandbox::open(&path, clock).unwrap().id(), first);
}
