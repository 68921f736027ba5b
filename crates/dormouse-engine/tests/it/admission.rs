//! However much somebody says: others are answered in fair order, the model is asked a bounded number of times, and nothing
//! is lost without being counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Seq, StoredEvent};
use dormouse_engine::{
    Accepted, AdmissionSettings, Event, Person, Refusal, Selection, UnansweredCause, decide_again,
};
use dormouse_testing::{CountTokens, Gate, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::advance;

use crate::{
    forgetting::without,
    home::{Home, Life, in_virtual_time, key},
};

fn home(admission: AdmissionSettings) -> Home {
    let home = Home::with_all_shared(ScriptedModel::looping(answer()));
    home.configured(|config| config.admission = admission)
}

fn answer() -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": "Yes."}))
}

/// What became of the lines of one person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fate {
    sent: u64,
    triggers: u64,
    overheard: u64,
    dropped: u64,
}

/// People who talk to one assistant.
struct Company {
    home: Home,
    life: Life,
    number: u64,
    fates: BTreeMap<String, Fate>,
}

impl Company {
    async fn new(admission: AdmissionSettings) -> Self {
        Self::of(home(admission)).await
    }

    async fn of(home: Home) -> Self {
        let life = home.wake_configured().await;
        Self {
            home,
            life,
            number: 0,
            fates: BTreeMap::new(),
        }
    }

    async fn hear(&mut self, name: &str, perceive: Perceive) -> Accepted {
        self.number += 1;
        let accepted = self.life.accept(perceive.number(self.number).build()).await;
        let fate = self.fates.entry(name.to_owned()).or_default();
        fate.sent += 1;
        match &accepted {
            Accepted::Logged { classification, .. } => match classification.verdict {
                MessageVerdict::Trigger => fate.triggers += 1,
                _ => fate.overheard += 1,
            },
            Accepted::Dropped { .. } => fate.dropped += 1,
            other => panic!("{other:?}"),
        }
        accepted
    }

    async fn whispers(&mut self, name: &str) -> Accepted {
        let words = format!("Number {}.", self.number);
        self.hear(name, Perceive::whisper(name, &words)).await
    }

    fn notices(&self, name: &str) -> usize {
        let events = self.home.events().into_iter();
        events
            .filter(|event| {
                matches!(event, Event::Unanswered(it) if it.from == name && matches!(it.cause, UnansweredCause::NotAdmitted(_)))
            })
            .count()
    }

    async fn end(self) -> (Home, BTreeMap<String, Fate>) {
        self.life.handle.at_rest().await;
        self.life.end().await.unwrap();
        (self.home, self.fates)
    }
}

fn dropped_in_log(home: &Home) -> u64 {
    let events = home.events().into_iter();
    let lines = events.map(|event| match event {
        Event::LinesDropped(it) => it.lines,
        _ => 0,
    });
    lines.sum()
}

/// Who had turns, in order.
fn served(home: &Home) -> Vec<String> {
    let mut sender = BTreeMap::new();
    let mut served = Vec::new();
    for stored in home.log.events(&key()) {
        match Event::decode(&stored).unwrap() {
            Event::Perceived(it) => {
                let name = it.perception.attested.sender.name().to_owned();
                sender.insert(stored.seq, name);
            }
            Event::TickStarted(it) => served.extend(sender.get(&it.trigger).cloned()),
            _ => {}
        }
    }
    served
}

#[tokio::test(start_paused = true)]
async fn two_hundred_lines_a_second_of_one_player_starve_nobody_and_burn_no_budget() {
    let mut company = Company::new(AdmissionSettings::default()).await;
    let mut others = Vec::new();
    for line in 0..2_000_u64 {
        company.whispers("Flood").await;
        if line % 500 == 250 {
            let name = format!("Guest{}", line / 500);
            let before = company.home.model.requests().len();
            company.whispers(&name).await;
            company.life.handle.at_rest().await;
            others.push((name, company.home.model.requests().len() - before));
        }
        advance(Duration::from_millis(5)).await;
    }
    company.life.handle.at_rest().await;
    // Ten seconds, 2,000 lines.
    let flood = company.fates["Flood"];
    let answered = flood.triggers - company.notices("Flood") as u64;
    assert!(answered <= 20, "{flood:?}");
    assert_eq!(company.notices("Flood"), 1);
    assert_eq!(
        company.home.model.requests().len() as u64,
        answered + others.len() as u64
    );
    for (name, asked) in &others {
        assert!(*asked >= 1, "{name} waits");
        assert_eq!(company.notices(name), 0);
        assert_eq!(company.fates[name].triggers, 1);
    }
    assert_eq!(flood.sent, flood.triggers + flood.overheard + flood.dropped);
    assert!(flood.triggers + flood.overheard <= 120 + 20, "{flood:?}");
    let status = company.life.handle.status();
    assert_eq!(status.dropped, flood.dropped);
    let (home, _) = company.end().await;
    let counted = home.events().into_iter().filter_map(|event| match event {
        Event::LinesDropped(it) => Some(it.lines),
        _ => None,
    });
    let counted: Vec<_> = counted.collect();
    assert_eq!(counted.iter().sum::<u64>(), flood.dropped);
    assert!(
        counted.len() <= 4,
        "a flood must not fill the log: {counted:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn while_the_model_is_slow_people_are_answered_one_message_each_in_turn() {
    let gate = Gate::new();
    let model = ScriptedModel::new([ScriptedTurn::after(&gate, answer())]).then_for_ever(answer());
    let home = Home::with_all_shared(model)
        .configured(|config| config.admission = AdmissionSettings::default());
    let mut company = Company::of(home).await;
    for _ in 0..20 {
        company.whispers("Flood").await;
    }
    company.whispers("Bob").await;
    company.whispers("Cara").await;
    gate.open();
    company.life.handle.at_rest().await;
    let served = served(&company.home);
    let place = |name: &str| served.iter().position(|it| it == name).unwrap();
    assert!(place("Bob") <= 2 && place("Cara") <= 3, "{served:?}");
    // Eight messages of one sender wait at once; the first that does not is answered with the notice.
    let flood = company.fates["Flood"];
    assert_eq!((flood.triggers, flood.overheard), (9, 11));
    company.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_message_is_overheard_and_its_sender_hears_once_why() {
    let settings = AdmissionSettings {
        burst: 2,
        ..AdmissionSettings::default()
    };
    let mut company = Company::new(settings).await;
    for _ in 0..6 {
        company.whispers("Alice").await;
        company.life.handle.at_rest().await;
    }
    let notice = "whisper That is more than I can answer one by one. I am still listening.";
    let notices = |home: &Home| home.deeds().iter().filter(|it| *it == notice).count();
    assert_eq!(company.home.model.requests().len(), 2);
    assert_eq!(notices(&company.home), 1);
    assert_eq!(company.life.handle.status().overheard, 4);
    let refusals = company.home.events().into_iter();
    let refusals = refusals.filter_map(|event| match event {
        Event::Perceived(it) => it.refused,
        _ => None,
    });
    assert_eq!(refusals.collect::<Vec<_>>(), [Refusal::CoolDown; 4]);

    // A restart changes nothing about it, and time does.
    company.life.end().await.unwrap();
    company.life = company.home.wake_configured().await;
    company.whispers("Alice").await;
    company.life.handle.at_rest().await;
    assert_eq!(company.home.model.requests().len(), 2);
    advance(Duration::from_secs(11)).await;
    company.whispers("Alice").await;
    company.life.handle.at_rest().await;
    assert_eq!(company.home.model.requests().len(), 3);
    let shown = company.home.last_shown();
    assert!(shown.contains("Number 5."), "{shown}");
    assert_eq!(notices(&company.home), 1);
    company.end().await;
}

#[tokio::test(start_paused = true)]
async fn in_a_crowd_everybody_has_limits_of_their_own() {
    let mut company = Company::new(AdmissionSettings::default()).await;
    for _ in 0..4 {
        for person in 0..30 {
            company.whispers(&format!("Person{person}")).await;
        }
        company.life.handle.at_rest().await;
    }
    let refused = |fate: &Fate| fate.overheard + fate.dropped;
    assert!(company.fates.values().all(|fate| refused(fate) == 0));
    assert_eq!(served(&company.home).len(), 120);
    company.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_silences_nobody() {
    let settings = AdmissionSettings {
        burst: 1,
        ..AdmissionSettings::default()
    };
    let mut company = Company::new(settings).await;
    company.whispers("Alice").await;
    company.home.set_clock(-48);
    company.whispers("Alice").await;
    company.life.handle.at_rest().await;
    assert_eq!(company.home.model.requests().len(), 2);
    company.end().await;
}

#[tokio::test(start_paused = true)]
async fn another_assistant_hears_a_farewell_once_until_a_person_says_something() {
    let mut company = Company::new(AdmissionSettings::default()).await;
    company.home.config.limits = company.home.config.limits.with_max_exchanges(2).unwrap();
    company.life.end().await.unwrap();
    company.life = company.home.wake_configured().await;
    let said = |company: &Company| {
        let farewell = "Let us leave it at that until somebody joins us.";
        let deeds = company.home.deeds();
        (
            company.home.model.requests().len(),
            deeds.iter().filter(|it| it.ends_with(farewell)).count(),
        )
    };
    for name in ["Mole", "Mole", "Mole", "Rat", "Mole", "Rat"] {
        let words = Perceive::whisper(name, "And you?").from_assistant();
        company.hear(name, words).await;
        company.life.handle.at_rest().await;
    }
    assert_eq!(said(&company), (2, 2));
    company.whispers("Alice").await;
    for _ in 0..3 {
        let words = Perceive::whisper("Mole", "And now?").from_assistant();
        company.hear("Mole", words).await;
        company.life.handle.at_rest().await;
    }
    assert_eq!(said(&company), (5, 3));
    company.end().await;
}

#[tokio::test(start_paused = true)]
async fn after_somebody_is_forgotten_limits_begin_anew_and_a_replay_is_equal() {
    let settings = AdmissionSettings {
        burst: 3,
        ..AdmissionSettings::default()
    };
    let mut company = Company::new(settings).await;
    for line in 0..12 {
        let name = ["Alice", "Bob", "Cara"][line % 3];
        company.whispers(name).await;
    }
    company.life.handle.at_rest().await;
    company.life.end().await.unwrap();
    let alice = |event: &StoredEvent| match Event::decode(event).unwrap() {
        Event::Perceived(it) => it.perception.attested.sender.name() == "Alice",
        _ => false,
    };
    let events = company.home.log.events(&key());
    let first = events.iter().find(|event| alice(event)).unwrap();
    let Event::Perceived(heard) = Event::decode(first).unwrap() else {
        panic!("not a message")
    };
    let id = heard.perception.attested.sender.id().unwrap().clone();
    let person = Person::of_ids(BTreeSet::from([id]));
    let (log, _) = without(&company.home.log, Selection::Person(person)).await;
    company.home.log = log;
    company.home.lose_memory();
    company.life = company.home.wake_configured().await;
    for line in 0..12 {
        let name = ["Bob", "Alice", "Cara"][line % 3];
        company.whispers(name).await;
    }
    company.life.handle.at_rest().await;
    let (home, fates) = company.end().await;
    // Each of them has three answers and a notice before, and the same again after it.
    let triggers: Vec<_> = fates.values().map(|fate| fate.triggers).collect();
    assert_eq!(triggers, [8, 8, 8]);
    let again = decide_again(&home.log, &key(), Seq(u64::MAX), |_| Arc::new(CountTokens)).await;
    again.unwrap_or_else(|error| panic!("{error}: {error:#?}"));
}

/// What a test does next.
#[derive(Clone, Debug)]
enum Deed {
    Whisper(u8),
    Say(u8),
    ByAssistant(u8),
    Wait(u64),
    Rest,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        8 => (0_u8..4).prop_map(Deed::Whisper),
        3 => (0_u8..4).prop_map(Deed::Say),
        2 => (4_u8..6).prop_map(Deed::ByAssistant),
        3 => (1_u64..8_000).prop_map(Deed::Wait),
        1 => Just(Deed::Rest),
    ];
    prop::collection::vec(deed, 1..120)
}

fn settings() -> impl Strategy<Value = AdmissionSettings> {
    (0_u32..4, 0_u32..4, 1_u32..20, 0_u32..12).prop_map(
        |(waiting, burst, cool_down_seconds, lines_per_minute)| AdmissionSettings {
            waiting,
            burst,
            cool_down_seconds,
            lines_per_minute,
            ..AdmissionSettings::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(64)))]

    #[test]
    fn nothing_is_lost_uncounted_nobody_starves_and_no_limit_is_passed(
        deeds in deeds(),
        settings in settings(),
        exchanges in 0_u32..4,
    ) {
        in_virtual_time(async {
            let mut company = Company::new(settings.clone()).await;
            company.home.config.limits = company.home.config.limits.with_max_exchanges(exchanges).unwrap();
            company.life.end().await.unwrap();
            company.life = company.home.wake_configured().await;
            for deed in deeds {
                match deed {
                    Deed::Whisper(who) => {
                        company.whispers(&format!("P{who}")).await;
                    }
                    Deed::Say(who) => {
                        let name = format!("P{who}");
                        company.hear(&name, Perceive::say(&name, "Hm.")).await;
                    }
                    Deed::ByAssistant(who) => {
                        let name = format!("A{who}");
                        let words = Perceive::whisper(&name, "And you?").from_assistant();
                        company.hear(&name, words).await;
                    }
                    Deed::Wait(millis) => advance(Duration::from_millis(millis)).await,
                    Deed::Rest => {
                        company.life.handle.at_rest().await;
                    }
                }
            }
            let (home, fates) = company.end().await;

            // Every line is a trigger with a turn of its own, or overheard, or counted.
            let dropped: u64 = fates.values().map(|fate| fate.dropped).sum();
            prop_assert_eq!(dropped_in_log(&home), dropped);
            let triggers: u64 = fates.values().map(|fate| fate.triggers).sum();
            prop_assert_eq!(served(&home).len() as u64, triggers);
            check_turns(&home, &settings, exchanges)?;
            Ok(())
        })?;
    }
}

/// Checks the turns of a life: their order, and how many of them there are between two words of a person.
fn check_turns(
    home: &Home,
    settings: &AdmissionSettings,
    exchanges: u32,
) -> Result<(), TestCaseError> {
    let mut waiting: BTreeMap<Seq, String> = BTreeMap::new();
    let mut served_since: BTreeMap<Seq, BTreeMap<String, u32>> = BTreeMap::new();
    let mut of_assistants = 0;
    let mut answered: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for stored in home.log.events(&key()) {
        match Event::decode(&stored).unwrap() {
            Event::Perceived(it) => {
                let sender = &it.perception.attested.sender;
                let is_assistant = sender.name().starts_with('A');
                if !is_assistant {
                    of_assistants = 0;
                }
                if it.classification.verdict != MessageVerdict::Trigger {
                    continue;
                }
                let of_sender = waiting.values().filter(|name| *name == sender.name());
                let of_sender = of_sender.count();
                waiting.insert(stored.seq, sender.name().to_owned());
                served_since.insert(stored.seq, BTreeMap::new());
                if it.refused.is_some() {
                    continue;
                }
                if is_assistant {
                    of_assistants += 1;
                    prop_assert!(of_assistants <= exchanges);
                }
                prop_assert!(settings.waiting == 0 || of_sender < settings.waiting as usize);
                let times = answered.entry(sender.name().to_owned()).or_default();
                times.push(stored.at.as_micros());
                if settings.burst > 0 {
                    // Within any cool-down there are at most as many as may come at once, and one more.
                    let window = i64::from(settings.cool_down_seconds) * 1_000_000;
                    let lately = times
                        .iter()
                        .filter(|at| stored.at.as_micros() - **at < window);
                    prop_assert!(lately.count() <= settings.burst as usize + 1);
                }
            }
            Event::TickStarted(it) => {
                let Some(name) = waiting.remove(&it.trigger) else {
                    continue;
                };
                served_since.remove(&it.trigger);
                for (seq, other) in &waiting {
                    let served = served_since.get_mut(seq).unwrap();
                    if *other == name {
                        served.clear();
                        continue;
                    }
                    let times = served.entry(name.clone()).or_default();
                    *times += 1;
                    // Nobody has two turns while somebody else waits for the first.
                    let is_first = waiting.range(..seq).all(|(_, earlier)| earlier != other);
                    prop_assert!(*times <= 1 || !is_first);
                }
            }
            _ => {}
        }
    }
    prop_assert!(waiting.is_empty());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_of_rates_a_refused_sender_hears_once_why_however_much_follows() {
    let gate = Gate::new();
    let model = ScriptedModel::new([ScriptedTurn::after(&gate, answer())]).then_for_ever(answer());
    let only_waiting = AdmissionSettings {
        waiting: 2,
        refusal_notice: "That is too much.".to_owned(),
        ..AdmissionSettings::off()
    };
    let home = Home::with_all_shared(model).configured(|config| config.admission = only_waiting);
    let mut company = Company::of(home).await;
    for _ in 0..9 {
        company.whispers("Alice").await;
    }
    gate.open();
    company.life.handle.at_rest().await;
    assert_eq!(company.notices("Alice"), 1);
    company.end().await;
}
