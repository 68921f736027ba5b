//! Nobody learns what they did not perceive: whispers, pages, rooms, channels, notes, profiles and merged people.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
};

use dormouse_classify::{ChannelAction, ChannelConfig};
use dormouse_contracts::{
    Audience, Author, ChannelId, ChatRequest, Clock, EntityId, Message, PlaceId, Purpose, Sender,
};
use dormouse_engine::{AssistantConfig, EntityChanged, Event, Privacy};
use dormouse_entities::EntityChange;
use dormouse_memory::{
    MemoryChange, Note,
    hygiene::{HygienePolicy, survey},
};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    consolidating::{consolidator, logged},
    home::{Home, in_virtual_time, shown},
    rebuilding::decide,
};

/// The note in the prompt that something relevant is left out.
const MARKER: &str =
    "You know something about this that not everybody who hears your answer perceived";
/// The note in the prompt that the world refused an act of speech.
const REFUSED: &str = "What you were about to say was not said";
const ME: &str = "npc:me";

fn id(text: &str) -> EntityId {
    EntityId::try_new(text).unwrap()
}

fn among(ids: &[&str]) -> Audience {
    ids.iter().copied().chain([ME]).map(id).collect()
}

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

async fn hear(home: &Home, heard: impl IntoIterator<Item = Perceive>) {
    let life = home.wake().await;
    let before = home.events().len() as u64;
    for (heard, number) in heard.into_iter().zip(before + 1..) {
        life.accept(heard.number(number).build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
}

fn whisper(name: &str, text: &str) -> Perceive {
    Perceive::whisper(name, text).audience(among(&[&format!("player:{name}")]))
}

fn aloud(name: &str, text: &str) -> Perceive {
    Perceive::addressed(name, text).audience(among(&["player:Alice", "player:Bob"]))
}

fn listen_to(config: &mut AssistantConfig, channel: &str, action: ChannelAction) {
    let channel = ChannelId::try_new(channel).unwrap();
    let action = ChannelConfig::new(action);
    config.classify.channels.insert(channel, action);
}

/// Without history, so that only the memory knows what was said before.
fn forgetful(config: &mut AssistantConfig) {
    config.limits = config.limits.with_max_history(0).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_whispered_secret_is_not_told_aloud_and_is_told_in_a_whisper() {
    for configure in [|_: &mut AssistantConfig| {}, forgetful] {
        let home = Home::with(ScriptedModel::looping(noop())).configured(configure);
        let secret = whisper("Alice", "the vault opens with the word plumbago");
        hear(&home, [secret]).await;
        let question = "@dormouse which word opens the vault?";
        hear(&home, [aloud("Bob", question)]).await;
        let shown = home.last_shown();
        assert!(!shown.contains("plumbago"), "{shown}");
        assert!(shown.contains(MARKER), "{shown}");
        let marker = shown.split(MARKER).nth(1).unwrap();
        assert!(
            !marker.contains("Alice"),
            "the marker names nobody: {marker}"
        );
        let withheld = home.events().into_iter().filter_map(|event| match event {
            Event::Recollected(found) => found.withheld.first().cloned(),
            _ => None,
        });
        let withheld = withheld.last().unwrap();
        assert_eq!(withheld.record.to_string(), "2");
        assert_eq!(withheld.audience, among(&["player:Alice"]));
        hear(&home, [aloud("Alice", question)]).await;
        assert!(!home.last_shown().contains("plumbago"), "Bob is there");
        hear(&home, [whisper("Alice", "which word opens the vault?")]).await;
        assert!(
            home.last_shown().contains("plumbago"),
            "{}",
            home.last_shown()
        );
        assert!(!home.last_shown().contains(MARKER));
        hear(&home, [whisper("Bob", "which word opens the vault?")]).await;
        assert!(!home.last_shown().contains("plumbago"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_nothing_to_do_with_a_secret_is_answered_without_a_marker() {
    let home = Home::with(ScriptedModel::looping(noop()));
    hear(
        &home,
        [whisper("Alice", "the vault opens with the word plumbago")],
    )
    .await;
    hear(&home, [aloud("Bob", "@dormouse is it raining?")]).await;
    assert!(!home.last_shown().contains(MARKER), "{}", home.last_shown());
}

#[tokio::test(start_paused = true)]
async fn what_is_to_be_done_for_one_person_is_taken_off_by_nobody_else() {
    let complete = |action| {
        let arguments = json!({"entity": "player:Alice", "action": action});
        ScriptedTurn::call("complete_pending_action", arguments)
    };
    let add = json!({"entity": "player:Alice", "description": "burn the letter"});
    let first = [ScriptedTurn::call("add_pending_action", add), noop()];
    let later = || (1..=3).map(complete).chain([noop()]);
    let home = Home::with(ScriptedModel::new(
        first.into_iter().chain(later()).chain(later()),
    ));
    let pending = |home: &Home| {
        let alice = EntityId::try_new("player:Alice").unwrap();
        home.memory.entities().pending_actions(&alice).len()
    };
    hear(&home, [whisper("Alice", "please burn the letter")]).await;
    assert_eq!(pending(&home), 1);
    hear(&home, [aloud("Bob", "@dormouse forget the letter")]).await;
    assert_eq!(pending(&home), 1, "Bob did not perceive it");
    let shown = home.last_shown();
    for action in 1..=3 {
        let answer = format!("there is no pending action {action} for player:Alice");
        assert!(shown.contains(&answer), "each answer is the same: {shown}");
    }
    hear(&home, [whisper("Alice", "forget the letter")]).await;
    assert_eq!(pending(&home), 0);
}

#[tokio::test(start_paused = true)]
async fn everything_is_told_to_everybody_where_the_operator_says_so() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()));
    hear(
        &home,
        [whisper("Alice", "the vault opens with the word plumbago")],
    )
    .await;
    hear(
        &home,
        [aloud("Bob", "@dormouse which word opens the vault?")],
    )
    .await;
    assert!(home.last_shown().contains("plumbago"));
    assert!(!home.last_shown().contains(MARKER));
    // Once privacy is switched on, it also covers what was said before.
    let home = home.configured(|config| config.privacy = Privacy::Kept);
    hear(
        &home,
        [aloud("Bob", "@dormouse which word opens the vault?")],
    )
    .await;
    assert!(!home.last_shown().contains("plumbago"));
}

#[tokio::test(start_paused = true)]
async fn what_is_said_in_a_public_place_or_on_a_public_channel_is_told_to_everybody() {
    let configure = |config: &mut AssistantConfig| {
        forgetful(config);
        config
            .public_places
            .insert(PlaceId::try_new("square").unwrap());
        config
            .public_channels
            .insert(ChannelId::try_new("news").unwrap());
        listen_to(config, "news", ChannelAction::Context);
    };
    let home = Home::with(ScriptedModel::looping(noop())).configured(configure);
    let alone = || among(&["player:Alice"]);
    let square = |heard: Perceive| heard.in_room("square").audience(alone());
    let heard = [
        square(Perceive::say(
            "Alice",
            "the fair begins with the word marigold",
        )),
        square(whisper("Alice", "the vault opens with the word plumbago")),
        Perceive::channel("Alice", "news", "the race begins with the word heather")
            .audience(alone()),
        Perceive::say("Alice", "the well opens with the word saffron")
            .in_room("cellar")
            .audience(alone()),
    ];
    Box::pin(hear(&home, heard)).await;
    hear(
        &home,
        [aloud(
            "Bob",
            "@dormouse with which word do things open or begin?",
        )],
    )
    .await;
    let shown = home.last_shown();
    let found: Vec<_> = ["marigold", "plumbago", "heather", "saffron"]
        .map(|word| shown.contains(word))
        .into();
    assert_eq!(found, [true, false, true, false], "{shown}");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_on_a_channel_before_it_was_public_stays_with_those_who_heard_it() {
    let mut home = Home::with(ScriptedModel::looping(noop())).configured(|config| {
        forgetful(config);
        listen_to(config, "guild", ChannelAction::Context);
    });
    let on_guild = |text: &str| {
        Perceive::channel("Alice", "guild", text).audience(among(&["player:Alice", "player:Carol"]))
    };
    let question = "@dormouse with which word does the race begin?";
    hear(&home, [on_guild("the race begins with the word heather")]).await;
    let guild = ChannelId::try_new("guild").unwrap();
    home.config.public_channels.insert(guild.clone());
    hear(
        &home,
        [
            on_guild("the race begins with the word marigold"),
            aloud("Bob", question),
        ],
    )
    .await;
    let shown = home.last_shown();
    assert!(
        !shown.contains("heather") && shown.contains("marigold"),
        "{shown}"
    );
    // Words said while the channel was public stay public when it becomes private.
    home.config.public_channels.remove(&guild);
    hear(
        &home,
        [
            on_guild("the race begins with the word saffron"),
            aloud("Bob", question),
        ],
    )
    .await;
    let shown = home.last_shown();
    assert!(
        !shown.contains("saffron") && !shown.contains("heather"),
        "{shown}"
    );
    assert!(shown.contains("marigold"), "{shown}");
}

/// Who perceived a word, or hears an answer: everyone, all members of an unlisted channel, or these ids.
#[derive(Clone, Debug, Default)]
struct Party {
    everyone: bool,
    channel: bool,
    ids: BTreeSet<&'static str>,
}

impl Party {
    fn of(ids: impl IntoIterator<Item = &'static str>) -> Self {
        Self {
            ids: ids.into_iter().collect(),
            ..Self::default()
        }
    }

    fn everyone() -> Self {
        Self {
            everyone: true,
            ..Self::default()
        }
    }
}

/// The records of a scene: which word was heard by whom, and which prompts contained a word that a listener had not
/// heard.
#[derive(Debug, Default)]
struct Scene {
    heard: BTreeMap<String, Party>,
    are_merged: bool,
    /// Who hears the answer to the present message, and who perceived the message.
    listeners: Party,
    speaker: &'static str,
    /// Whether the present message is known to everyone.
    is_public: bool,
    /// The words of the present message, and of what the assistant said about it.
    now: BTreeSet<String>,
    habit: u8,
    /// Who enters before the answer.
    comer: Option<&'static str>,
    is_guild_public: bool,
    /// The first words of each text said to somebody who did not perceive all of it. The world must be asked to refuse
    /// it.
    unsayable: Vec<(String, &'static str)>,
    /// Who got a good judgement, and the word of the message that was answered then.
    judged: Vec<(&'static str, String)>,
    leaks: Vec<String>,
}

type Shared = Arc<Mutex<Scene>>;

fn lock(scene: &Shared) -> MutexGuard<'_, Scene> {
    scene.lock().unwrap()
}

const ALICE: &str = "player:Alice";
const BOB: &str = "player:Bob";
const CAROL: &str = "player:Carol";
/// Another id of Alice, while the two are merged.
const MASKED: &str = "player:Masked";
const PEOPLE: [&str; 4] = [ALICE, BOB, CAROL, MASKED];

impl Scene {
    fn person(&self, id: &'static str) -> &'static str {
        if id == MASKED && self.are_merged {
            ALICE
        } else {
            id
        }
    }

    /// A word that nobody said before.
    fn word(&mut self, party: Party) -> String {
        let word = format!("zq{}x", self.heard.len());
        self.heard.insert(word.clone(), party);
        self.now.insert(word.clone());
        word
    }

    fn may_hear(&self, word: &str) -> bool {
        let Some(party) = self.heard.get(word) else {
            return false;
        };
        if party.everyone {
            return true;
        }
        let ids: BTreeSet<_> = party.ids.iter().map(|id| self.person(id)).collect();
        let listeners = &self.listeners;
        !listeners.everyone
            && (party.channel || !listeners.channel)
            && listeners.ids.iter().all(|id| ids.contains(self.person(id)))
    }

    /// Checks a prompt, and answers like the worst possible model: it notes, looks up and says everything that it is
    /// shown.
    fn answer(&mut self, request: &ChatRequest) -> ScriptedTurn {
        let text = shown(request);
        if request.purpose == Purpose::Consolidation {
            return repeated(request);
        }
        if text.contains(REFUSED)
            && let Some(comer) = self.comer.take()
        {
            self.listeners.ids.insert(comer);
            // Words that were not said in this turn were heard by nobody. The world may also refuse acts that the scene
            // would allow.
            if let Some((own, _)) = self.unsayable.last()
                && self.now.contains(own)
            {
                self.heard.insert(own.clone(), Party::default());
                self.now.remove(own);
            }
        }
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let words: BTreeSet<_> = words.filter(|word| word.starts_with("zq")).collect();
        for word in &words {
            if !self.now.contains(*word) && !self.may_hear(word) {
                self.leaks.push(format!(
                    "{word} ({:?}) is shown for {:?}:\n{text}",
                    self.heard.get(*word),
                    self.listeners
                ));
            }
            // From here on they have heard it, because it is said to them.
            if let Some(party) = self.heard.get_mut(*word) {
                party.ids.extend(&self.listeners.ids);
            }
        }
        for (who, state) in closeness(request) {
            let is_same =
                |other| self.person(other) == self.person(who) || [ALICE, MASKED].contains(&other);
            let may_learn = |word: &String| self.now.contains(word) || self.may_hear(word);
            let mut judged = self.judged.iter();
            if !judged.any(|(other, word)| is_same(*other) && may_learn(word)) {
                let listeners = &self.listeners;
                self.leaks.push(format!(
                    "that {who} is an {state} is shown for {listeners:?}, by {:?}:\n{text}",
                    self.judged
                ));
            }
        }
        let shown_words: BTreeSet<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let all = words
            .into_iter()
            .rev()
            .take(24)
            .collect::<Vec<_>>()
            .join(" ");
        let all = format!("the word of the vault is {all}");
        if !matches!(request.messages.last(), Some(Message::Tool { .. })) {
            let who = self.speaker;
            let about = PEOPLE[usize::from(self.habit / 4) % PEOPLE.len()];
            if self.habit % 5 == 4 {
                let own = self.now.first().cloned().unwrap_or_default();
                self.judged.push((about, own));
            }
            let note = match self.habit % 5 {
                0 => ("store_memory", json!({"text": all})),
                1 => (
                    "add_entity_observation",
                    json!({"entity": who, "content": cut(&all, 480)}),
                ),
                2 => (
                    "update_entity_profile",
                    json!({"entity": who, "preferences": {"vault": cut(&all, 180)}}),
                ),
                3 => (
                    "add_pending_action",
                    json!({"entity": who, "description": cut(&all, 180)}),
                ),
                _ => (
                    "update_relationship",
                    json!({"entity": about, "metric": "favorability", "change": 0.2, "reason": "the word of the vault"}),
                ),
            };
            let own = match self.habit % 6 {
                0 => ("keep_note", json!({"kind": "fact", "text": cut(&all, 180)})),
                1 => ("create_project", json!({"summary": cut(&all, 180)})),
                2 => ("update_project", json!({"context": cut(&all, 480)})),
                3 => ("add_journal_entry", json!({"content": all})),
                4 => ("review_journal", json!({"synthesis": all})),
                _ => ("set_topic", json!({"entity": who, "topic": cut(&all, 110)})),
            };
            return ScriptedTurn::calls([
                note,
                own,
                (
                    "recall_memories",
                    json!({"query": "the word of the vault", "limit": 20}),
                ),
                match self.habit % 2 {
                    0 => ("get_entity_profile", json!({"entity": about})),
                    _ => (
                        "search_journal",
                        json!({"query": "the word of the vault", "limit": 50}),
                    ),
                },
            ]);
        }
        let told = |party: &Party, comer| {
            party.everyone
                || party
                    .ids
                    .iter()
                    .any(|id| self.person(id) == self.person(comer))
        };
        let about = PEOPLE[usize::from(self.habit / 4) % PEOPLE.len()];
        if self.habit % 7 == 1 {
            let is_for_them = shown_words
                .iter()
                .all(|word| told(&self.heard[word], about));
            let own = self.word(Party::of([self.speaker, about]));
            if !is_for_them {
                self.unsayable.push((own.clone(), about));
            }
            for word in shown_words {
                self.heard.get_mut(&word).unwrap().ids.insert(about);
            }
            let to = about.trim_start_matches("player:");
            let message = format!("{own} {all}");
            return ScriptedTurn::call("whisper", json!({"to": to, "message": message}));
        }
        if self.habit.is_multiple_of(3) {
            let own = self.word(Party::of([self.speaker]));
            let to = self.speaker.trim_start_matches("player:");
            return ScriptedTurn::call(
                "whisper",
                json!({"to": to, "message": format!("{own} {all}")}),
            );
        }
        // If the world does not list a room, the listeners of an answer there are unknown.
        let party = match (self.listeners.everyone, self.is_public) {
            (true, false) => Party::of([self.speaker]),
            (true, true) | (false, _) => self.listeners.clone(),
        };
        let is_for_comer = self.comer.is_none_or(|comer| {
            let mut rest = shown_words.iter().filter(|word| !self.now.contains(*word));
            rest.all(|word| told(&self.heard[word], comer))
        });
        let own = self.word(party);
        match (is_for_comer, self.comer) {
            (false, Some(comer)) => self.unsayable.push((own.clone(), comer)),
            (_, Some(comer)) => {
                // Those who entered hear it, too.
                for word in shown_words.iter().chain([&own]) {
                    self.heard.get_mut(word).unwrap().ids.insert(comer);
                }
            }
            (_, None) => {}
        }
        ScriptedTurn::call("say", json!({"message": format!("{own} {all}")}))
    }
}

/// The reply of the worst possible model outside a turn: it puts all words into each text.
fn repeated(request: &ChatRequest) -> ScriptedTurn {
    let Some(Message::User { content }) = request.messages.last() else {
        return ScriptedTurn::text("[]");
    };
    let words = content.split(|c: char| !c.is_ascii_alphanumeric());
    let words: BTreeSet<_> = words.filter(|word| word.starts_with("zq")).collect();
    let words: Vec<_> = words.into_iter().rev().take(12).collect();
    let text = format!("the word of the vault is {}", words.join(" "));
    ScriptedTurn::text(if content.starts_with('[') {
        let id = content
            .trim_start_matches('[')
            .split(']')
            .next()
            .unwrap_or_default();
        json!([{"text": text, "from": [id]}]).to_string()
    } else if content.starts_with('c') {
        "[]".to_owned()
    } else {
        json!({"preferences": {"vault": cut(&text, 180)}, "interests": words}).to_string()
    })
}

/// Who is shown as more than a stranger. A scene takes less than a day, so only a judgement can cause that.
fn closeness(request: &ChatRequest) -> Vec<(&'static str, &'static str)> {
    let states = ["acquaintance", "friend", "ally"];
    let mut found = Vec::new();
    for (who, state) in PEOPLE
        .iter()
        .flat_map(|who| states.map(|state| (*who, state)))
    {
        let is_shown = request.messages.iter().any(|message| match message {
            Message::Tool { content, .. } => {
                let content: serde_json::Value = serde_json::from_str(content).unwrap_or_default();
                content["result"]["entity"] == who
                    && content["result"]["relationship"]["state"] == state
            }
            Message::System { content } | Message::User { content } => {
                content.contains(&format!("({who}) - {state}"))
            }
            _ => false,
        });
        if is_shown {
            found.push((who, state));
        }
    }
    found
}

fn cut(text: &str, limit: usize) -> &str {
    text.split_at(text.len().min(limit)).0
}

/// One event of a scene.
#[derive(Clone, Debug)]
struct Happening {
    how: u8,
    who: usize,
    /// Who is in the room, or on the channel, in addition to the speaker.
    others: BTreeSet<usize>,
    is_renamed: bool,
    is_order: bool,
    comer: Option<usize>,
    habit: u8,
}

/// What the operator does while the assistant sleeps.
#[derive(Clone, Copy, Debug)]
enum Command {
    /// Two ids are merged or separated again.
    Merge,
    /// A model makes facts and attributes from what was heard.
    Consolidate,
    /// Duplicates become one.
    Fold,
    /// A line is imported, with or without the list of those who perceived it.
    Import(usize),
    /// A record is made public.
    Publish,
    /// A channel is made public, or private again.
    Guild,
    /// The memory is rebuilt from the log.
    Rebuild,
}

fn commands() -> impl Strategy<Value = BTreeMap<usize, Command>> {
    let command = prop_oneof![
        3 => Just(Command::Merge),
        3 => Just(Command::Consolidate),
        2 => Just(Command::Fold),
        2 => (0_usize..6).prop_map(Command::Import),
        1 => Just(Command::Publish),
        1 => Just(Command::Guild),
        1 => Just(Command::Rebuild),
    ];
    prop::collection::btree_map(1_usize..10, command, 0..4)
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let happening = (
        0_u8..14,
        0_usize..4,
        prop::collection::btree_set(0_usize..4, 0..3),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::option::weighted(0.4, 0_usize..4),
        any::<u8>(),
    );
    let happening =
        happening.prop_map(
            |(how, who, others, is_renamed, is_order, comer, habit)| Happening {
                how,
                who,
                others,
                is_renamed,
                is_order,
                comer,
                habit,
            },
        );
    prop::collection::vec(happening, 3..11)
}

/// The perception of something that happens, and who hears the answer to it.
fn happen(scene: &mut Scene, happening: &Happening) -> Perceive {
    let speaker = PEOPLE[happening.who];
    let name = speaker.trim_start_matches("player:");
    let present = happening
        .others
        .iter()
        .map(|place| PEOPLE[*place])
        .chain([speaker]);
    let present = Party::of(present);
    let audience: Audience = present.ids.iter().copied().chain([ME]).map(id).collect();
    let alone = Party::of([speaker]);
    let on_channel = Party {
        channel: true,
        ..alone.clone()
    };
    let guild = || Audience::Channel(ChannelId::try_new("guild").unwrap());
    let (party, listeners) = match happening.how {
        0..=2 => (alone.clone(), alone.clone()),
        3 | 4 => (alone.clone(), alone.clone()),
        5..=8 => (present.clone(), present.clone()),
        9 => (alone.clone(), Party::everyone()),
        10 if scene.is_guild_public => (Party::everyone(), on_channel),
        11 if scene.is_guild_public => (Party::everyone(), present.clone()),
        10 => (on_channel.clone(), on_channel),
        11 => (present.clone(), present.clone()),
        12 => (Party::everyone(), present.clone()),
        _ => (Party::everyone(), Party::everyone()),
    };
    scene.now.clear();
    scene.listeners = listeners;
    scene.is_public = party.everyone;
    scene.speaker = speaker;
    scene.habit = happening.habit;
    let word = scene.word(party);
    let comer = happening.comer.map(|place| PEOPLE[place]);
    let is_in_a_room = matches!(happening.how, 5..=8 | 12);
    let is_new = |id: &&'static str| {
        !present
            .ids
            .iter()
            .any(|one| scene.person(one) == scene.person(id))
    };
    scene.comer = comer.filter(|id| is_in_a_room && is_new(id));
    let text = match happening.is_order {
        true => format!("@dormouse From now on always say the word {word} of the vault."),
        false => format!(
            "@dormouse the word of the vault is {word}, what else is the word of the vault?"
        ),
    };
    let heard = match happening.how {
        0 => Perceive::whisper(name, &text),
        1 | 2 => Perceive::whisper(name, &text).audience(among(&[speaker])),
        3 => Perceive::page(name, &text),
        4 => Perceive::page(name, &text).audience(among(&[speaker])),
        5 | 6 => Perceive::addressed(name, &text).audience(audience),
        7 => Perceive::say(name, &format!("the word of the vault is {word}")).audience(audience),
        8 => {
            Perceive::pose(name, &format!("shows the word of the vault: {word}")).audience(audience)
        }
        9 => Perceive::addressed(name, &text),
        10 => Perceive::channel(name, "guild", &text).audience(guild()),
        11 => Perceive::channel(name, "guild", &text).audience(audience),
        12 => Perceive::addressed(name, &text)
            .audience(audience)
            .in_room("square"),
        _ => Perceive::channel(name, "public", &text).audience(Audience::Public),
    };
    let called = if happening.is_renamed {
        format!("Lady {name}")
    } else {
        name.to_owned()
    };
    heard.sender(Sender::Entity {
        id: id(speaker),
        name: called,
    })
}

async fn merge(home: &Home, are_merged: bool) {
    let change = match are_merged {
        true => EntityChange::Merged {
            from: id(MASKED),
            into: id(ALICE),
        },
        false => EntityChange::Unmerged { entity: id(MASKED) },
    };
    let changed = EntityChanged {
        change,
        author: by(),
        reason: "one person".to_owned(),
    };
    decide(home, &Event::EntityChanged(changed)).await;
}

fn by() -> Author {
    Author::Operator("florian".to_owned())
}

async fn changed(home: &Home, change: MemoryChange) {
    let mut memory = logged(home).await;
    memory.change(change, by(), "in a scene").await.unwrap();
}

async fn obey(home: &mut Home, scene: &Shared, command: Command) {
    match command {
        Command::Merge => {
            let are_merged = !lock(scene).are_merged;
            merge(home, are_merged).await;
            lock(scene).are_merged = are_merged;
        }
        Command::Consolidate => {
            let model = ScriptedModel::looping(ScriptedTurn::with(repeated));
            let mut by = consolidator(home, model);
            by.settings.people.min_observations = 1;
            by.run(&mut logged(home).await).await.unwrap();
        }
        Command::Fold => {
            let memory = logged(home).await;
            let now = home.clock.now();
            let policy = HygienePolicy::default();
            let report = survey(memory.memory(), policy, now).await.unwrap();
            for proposal in &report.proposals {
                changed(home, proposal.change().0).await;
            }
        }
        Command::Import(place) => {
            let person = PEOPLE.get(place).copied();
            let word = lock(scene).word(Party::of(person));
            let note = Note::new(format!("the word of the vault is {word}"));
            let note = match person {
                Some(person) => note.known_to(among(&[person])),
                None => note,
            };
            changed(home, MemoryChange::Added { notes: vec![note] }).await;
        }
        Command::Publish => {
            let memory = logged(home).await;
            let records = memory.memory().records(None, 1_000).await.unwrap();
            let record = records
                .into_iter()
                .rfind(|record| record.text.contains("zq"));
            if let Some(record) = record {
                let words = record.text.split(|c: char| !c.is_ascii_alphanumeric());
                for word in words {
                    if let Some(party) = lock(scene).heard.get_mut(word) {
                        party.everyone = true;
                    }
                }
                changed(home, MemoryChange::Published { record: record.id }).await;
            }
        }
        Command::Guild => {
            let is_public = !lock(scene).is_guild_public;
            lock(scene).is_guild_public = is_public;
            let guild = ChannelId::try_new("guild").unwrap();
            let channels = &mut home.config.public_channels;
            match is_public {
                true => channels.insert(guild),
                false => channels.remove(&guild),
            };
        }
        Command::Rebuild => home.lose_memory(),
    }
}

/// Who hears what is said aloud.
fn audible(scene: &Scene) -> Audience {
    match scene.listeners.everyone || scene.listeners.channel {
        true => Audience::nobody(),
        false => {
            let listeners = scene.listeners.ids.iter().copied();
            listeners.chain(scene.comer).map(id).collect()
        }
    }
}

/// Acts of speech that the world was not asked to refuse, although a listener did not perceive their words before.
fn said_to_others(home: &Home, scene: &Scene) -> Vec<String> {
    let intended = home.events().into_iter().filter_map(|event| match event {
        Event::EffectIntended(intended) => Some(intended),
        _ => None,
    });
    let mut said = Vec::new();
    for intended in intended {
        let message = intended.arguments["message"].as_str().unwrap_or_default();
        let refused = scene.unsayable.iter();
        let mut refused = refused.filter(|(own, _)| message.split(' ').next() == Some(own));
        let may = |who| {
            let who = among(&[who]).without(&id(ME));
            intended.within.as_ref().is_none_or(|all| all.covers(&who))
        };
        if let Some((_, who)) = refused.find(|(_, who)| may(who)) {
            said.push(format!("{who} would hear {message}: {:?}", intended.within));
        }
    }
    said
}

/// Plays a scene, and returns the words that were shown in a turn for somebody who had not perceived them.
async fn leaks_of(
    happenings: &[Happening],
    privacy: Privacy,
    history: usize,
    commands: &BTreeMap<usize, Command>,
) -> Vec<String> {
    let scene = Shared::default();
    let model = {
        let scene = scene.clone();
        ScriptedModel::looping(ScriptedTurn::with(move |request| {
            lock(&scene).answer(request)
        }))
    };
    let mut home = Home::with(model).configured(|config| {
        config.privacy = privacy;
        config.limits = config.limits.with_max_history(history).unwrap();
        config
            .public_places
            .insert(PlaceId::try_new("square").unwrap());
        listen_to(config, "guild", ChannelAction::Trigger);
        listen_to(config, "public", ChannelAction::Trigger);
    });
    let mut life = home.wake_configured().await;
    for (place, happening) in happenings.iter().enumerate() {
        if let Some(command) = commands.get(&place) {
            life.end().await.unwrap();
            obey(&mut home, &scene, *command).await;
            life = home.wake_configured().await;
        }
        let heard = happen(&mut lock(&scene), happening);
        home.world.listen(audible(&lock(&scene)));
        life.accept(heard.number(place as u64 + 1).build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
    let mut scene = lock(&scene);
    let mut leaks = std::mem::take(&mut scene.leaks);
    leaks.extend(said_to_others(&home, &scene));
    leaks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(512)))]
    #[test]
    fn no_prompt_holds_a_word_that_one_of_its_listeners_was_not_party_to(
        happenings in happenings(),
        history in 0_usize..4,
        commands in commands(),
    ) {
        let leaks = in_virtual_time(leaks_of(&happenings, Privacy::Kept, history, &commands));
        prop_assert!(leaks.is_empty(), "{}", leaks.join("\n\n"));
    }
}

#[test]
fn nobody_learns_by_a_word_how_they_were_judged_for_what_somebody_said_in_private() {
    let happening = |who, habit| Happening {
        how: 1,
        who,
        others: BTreeSet::new(),
        is_renamed: false,
        is_order: false,
        comer: None,
        habit,
    };
    for history in [0, 3] {
        // Bob speaks, Alice whispers something good of him, and Bob whispers again.
        let scene = [happening(1, 0), happening(0, 4), happening(1, 0)];
        let leaks = |privacy| in_virtual_time(leaks_of(&scene, privacy, history, &BTreeMap::new()));
        assert_eq!(leaks(Privacy::Kept), Vec::<String>::new());
        let shared = leaks(Privacy::Shared);
        assert!(
            shared.iter().any(|leak| leak.contains("acquaintance")),
            "{shared:?}"
        );
    }
}

#[test]
fn the_same_scenes_leak_where_nothing_is_kept_private() {
    let happening = |how, who, habit| Happening {
        how,
        who,
        others: BTreeSet::from([1, 2]),
        is_renamed: false,
        is_order: false,
        comer: None,
        habit,
    };
    for habit in 0..4 {
        for (history, how) in [(3, 1), (0, 1), (0, 3), (0, 5), (3, 7), (0, 11)] {
            let scene = [happening(how, 0, habit), happening(1, 3, habit)];
            let leaks =
                |privacy| in_virtual_time(leaks_of(&scene, privacy, history, &BTreeMap::new()));
            assert!(!leaks(Privacy::Shared).is_empty(), "{how} {history}");
            assert!(leaks(Privacy::Kept).is_empty(), "{how} {history}");
        }
    }
}
