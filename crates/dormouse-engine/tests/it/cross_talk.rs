//! Assistants that talk with each other: they stop by themselves once no person says anything.

use dormouse_classify::{MessageVerdict, Rule};
use dormouse_contracts::Perception;
use dormouse_engine::{Accepted, Event};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::home::{Home, Life, in_virtual_time};

/// How an assistant speaks to others.
#[derive(Clone, Copy, Debug)]
enum Way {
    Page,
    Whisper,
    Addressed,
    /// On a channel, with a mention.
    Channel,
}

const WAYS: [Way; 4] = [Way::Page, Way::Whisper, Way::Addressed, Way::Channel];

impl Way {
    fn says(self, name: &str, text: &str) -> Perceive {
        match self {
            Self::Page => Perceive::page(name, text),
            Self::Whisper => Perceive::whisper(name, text),
            Self::Addressed => Perceive::addressed(name, text),
            Self::Channel => Perceive::channel(name, "public", &format!("@dormouse {text}")),
        }
    }
}

/// One of several assistants that hear each other, each with a log, a world and a model of its own.
struct Resident {
    name: String,
    way: Way,
    home: Home,
    life: Life,
    heard: u64,
    /// How many of its acts were passed on to the others.
    spread: usize,
}

impl Resident {
    async fn new(number: usize, way: Way, limit: u32) -> Self {
        let answer = ScriptedTurn::call("say", json!({"message": "And what do you think?"}));
        let home = Home::with_all_shared(ScriptedModel::looping(answer)).configured(|config| {
            config.limits = config.limits.with_max_exchanges(limit).unwrap();
        });
        let life = home.wake().await;
        Self {
            name: format!("Resident{number}"),
            way,
            home,
            life,
            heard: 0,
            spread: 0,
        }
    }

    fn next(&mut self, perceive: Perceive) -> Perception {
        self.heard += 1;
        perceive.number(self.heard).build()
    }

    /// Hears something, and is done with it.
    async fn hear(&mut self, perceive: Perceive) -> Accepted {
        let perception = self.next(perceive);
        let accepted = self.life.accept(perception).await;
        self.life.handle.at_rest().await;
        accepted
    }

    fn turns(&self) -> usize {
        let events = self.home.events().into_iter();
        events
            .filter(|event| matches!(event, Event::TickStarted(_)))
            .count()
    }
}

/// Passes what each resident says to the others, until nobody says anything more. Fails if that does not end.
async fn let_them_talk(residents: &mut [Resident]) {
    for _ in 0..1_000 {
        let mut is_quiet = true;
        for speaker in 0..residents.len() {
            let said = residents[speaker].home.deeds().len();
            let (name, way) = (residents[speaker].name.clone(), residents[speaker].way);
            for act in residents[speaker].spread..said {
                is_quiet = false;
                for listener in (0..residents.len()).filter(|listener| *listener != speaker) {
                    let words = way.says(&name, &format!("Number {act}."));
                    residents[listener].hear(words.from_assistant()).await;
                }
            }
            residents[speaker].spread = said;
        }
        if is_quiet {
            return;
        }
    }
    panic!("they talk without end");
}

fn turns(residents: &[Resident]) -> Vec<usize> {
    residents.iter().map(Resident::turns).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(32)))]

    #[test]
    fn however_assistants_speak_they_end_by_themselves_until_a_person_says_something(
        ways in proptest::collection::vec(prop::sample::select(WAYS.to_vec()), 2..4),
        limit in 0_u32..7,
        person in prop::sample::select(WAYS.to_vec()),
    ) {
        in_virtual_time(async {
            let mut residents = Vec::new();
            for (number, way) in ways.iter().enumerate() {
                residents.push(Resident::new(number, *way, limit).await);
            }
            let most = limit as usize;
            residents[0].hear(person.says("Alice", "Ask the others.")).await;
            let_them_talk(&mut residents).await;
            let first = turns(&residents);
            prop_assert!(first[0] <= 1 + most && first[1..].iter().all(|turns| *turns <= most), "{first:?}");
            prop_assert!(limit == 0 || first[1..].iter().all(|turns| *turns > 0), "{first:?}");

            // Everybody present hears a person who speaks to nobody in particular.
            for resident in &mut residents {
                resident.hear(Perceive::say("Alice", "How nice.")).await;
            }
            prop_assert_eq!(turns(&residents), first.clone());
            residents[1].hear(person.says("Alice", "Ask the others again.")).await;
            let_them_talk(&mut residents).await;
            let second = turns(&residents);
            for (first, second) in first.iter().zip(&second) {
                prop_assert!(second - first <= 1 + most, "{second}");
            }
            prop_assert!(limit == 0 || second[0] > first[0], "{second:?}");
            for resident in residents {
                resident.life.end().await.unwrap();
            }
            Ok(())
        })?;
    }
}

/// A resident that has answered as many other assistants as it may.
async fn exhausted(limit: u32) -> Resident {
    let mut resident = Resident::new(0, Way::Page, limit).await;
    for _ in 0..limit {
        let heard = resident.hear(page_of_mole()).await;
        assert_eq!(
            verdict(&heard),
            (MessageVerdict::Trigger, Rule::DirectMessage)
        );
    }
    resident
}

fn page_of_mole() -> Perceive {
    Perceive::page("Mole", "Are you there?").from_assistant()
}

fn verdict(accepted: &Accepted) -> (MessageVerdict, Rule) {
    let Accepted::Logged { classification, .. } = accepted else {
        panic!("{accepted:?}")
    };
    (classification.verdict, classification.rule)
}

const NO_MORE: (MessageVerdict, Rule) = (MessageVerdict::Context, Rule::ExchangeLimit);

#[tokio::test(start_paused = true)]
async fn a_restart_gives_no_further_exchanges_and_the_log_and_the_status_say_why() {
    let mut resident = exhausted(2).await;
    assert_eq!(resident.life.handle.status().exchanges, Some(2));
    assert_eq!(verdict(&resident.hear(page_of_mole()).await), NO_MORE);
    resident.life.end().await.unwrap();

    resident.life = resident.home.wake().await;
    assert_eq!(resident.life.handle.status().exchanges, Some(2));
    assert_eq!(verdict(&resident.hear(page_of_mole()).await), NO_MORE);
    assert_eq!(resident.turns(), 2);

    let words = Perceive::page("Alice", "Go on, please.");
    resident.hear(words).await;
    assert_eq!(resident.life.handle.status().exchanges, None);
    let heard = resident.hear(page_of_mole()).await;
    assert_eq!(
        verdict(&heard),
        (MessageVerdict::Trigger, Rule::DirectMessage)
    );
    assert_eq!(resident.turns(), 4);
    let overheard = resident.home.last_shown();
    assert!(overheard.contains("Are you there?"), "{overheard}");
    resident.life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn messages_that_arrive_at_once_are_counted_one_by_one() {
    let mut resident = exhausted(1).await;
    resident.hear(Perceive::say("Alice", "Good morning.")).await;
    let pages: Vec<_> = (0..3).map(|_| resident.next(page_of_mole())).collect();
    let handle = resident.life.handle.clone();
    let mut heard = tokio::task::JoinSet::new();
    for page in pages {
        let handle = handle.clone();
        heard.spawn(async move { handle.perceive(page).await });
    }
    let mut answered = 0;
    while let Some(accepted) = heard.join_next().await {
        let accepted = accepted.unwrap().unwrap();
        answered += usize::from(verdict(&accepted).0 == MessageVerdict::Trigger);
    }
    assert_eq!(answered, 1);
    resident.life.handle.at_rest().await;
    resident.life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn somebody_who_walks_in_says_nothing() {
    let mut resident = exhausted(1).await;
    resident.hear(Perceive::movement("Alice", "arrives.")).await;
    resident.hear(Perceive::emit("The kettle whistles.")).await;
    assert_eq!(verdict(&resident.hear(page_of_mole()).await), NO_MORE);
    resident.hear(Perceive::pose("Alice", "waves.")).await;
    assert_ne!(verdict(&resident.hear(page_of_mole()).await), NO_MORE);
    resident.life.end().await.unwrap();
}
