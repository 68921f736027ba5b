use dormouse_contracts::{CallId, EffectKey, Seq, Timestamp, Trust};
use proptest::prelude::*;

use super::*;
use crate::{
    event::{DelegatedTask, DelegatedWords},
    execution::Insulation,
};

fn key(key: &str) -> AssistantId {
    AssistantId::try_new(key).unwrap()
}

fn candidate(key_: &str, name: &str, tags: &[&str]) -> DelegateCandidate {
    DelegateCandidate {
        key: key(key_),
        name: name.to_owned(),
        tags: tags.iter().map(|tag| Tag::try_new(tag).unwrap()).collect(),
        is_stopped: false,
        is_asleep: false,
        tasks: 0,
    }
}

fn delegated(to: Option<&str>, tag: Option<&str>, chain: &[&str]) -> TaskDelegated {
    TaskDelegated {
        call: CallId::try_new("call").unwrap(),
        to: to.map(str::to_owned),
        tag: tag.map(str::to_owned),
        task: DelegatedTask {
            key: EffectKey::try_new("mole/1/1").unwrap(),
            chain: chain.iter().map(|it| key(it)).collect(),
            task: DelegatedWords {
                text: "look".to_owned(),
                trust: Trust::FULL,
                audience: None,
            },
            briefing: None,
            insulation: Insulation::None,
            summarize: false,
            tokens: 1,
            quota: 0,
            expires_at: Timestamp::EPOCH,
        },
        sources: dormouse_contracts::Sources::default(),
        briefing_sources: dormouse_contracts::Sources::default(),
        root: Seq(1),
        part_of: None,
        cost: None,
    }
}

fn chosen(
    delegated: &TaskDelegated,
    candidates: &[DelegateCandidate],
) -> Result<String, &'static str> {
    let chosen = choose_delegate(delegated, candidates);
    chosen
        .map(ToString::to_string)
        .map_err(DelegationFailure::code)
}

#[test]
fn a_name_is_read_as_a_key_then_as_a_tag_then_as_the_name_of_a_character() {
    let all = [
        // Its tag is the key of another one, and two have one name, which is also that of the one who asks.
        candidate("rat", "Ratty", &["toad", "River"]),
        candidate("toad", "Mole", &["hall"]),
        candidate("otter", "Mole", &["river"]),
    ];
    let to = |to| chosen(&delegated(Some(to), None, &["mole"]), &all);
    assert_eq!(to("toad"), Ok("toad".to_owned()));
    assert_eq!(to("RIVER"), Ok("otter".to_owned()));
    assert_eq!(to("ratty"), Ok("rat".to_owned()));
    assert_eq!(to("Mole"), Err("ambiguous"));
    assert_eq!(to("badger"), Err("none_found"));
    let anybody = chosen(&delegated(None, None, &["mole"]), &all);
    assert_eq!(anybody, Ok("otter".to_owned()));
    // What the settings ask for holds in addition.
    let hall = delegated(Some("rat"), Some("Hall"), &["mole"]);
    assert_eq!(chosen(&hall, &all), Err("none_found"));
    let hall = delegated(None, Some("Hall"), &["mole"]);
    assert_eq!(chosen(&hall, &all), Ok("toad".to_owned()));
    let nobody = chosen(&delegated(None, None, &["mole"]), &[]);
    assert_eq!(nobody, Err("none_found"));
}

#[test]
fn a_task_never_goes_back_and_each_reason_has_its_code() {
    let mut rat = candidate("rat", "Rat", &["river"]);
    let back = delegated(Some("rat"), None, &["rat", "mole"]);
    assert_eq!(chosen(&back, std::slice::from_ref(&rat)), Err("cycle"));
    let river = delegated(Some("river"), None, &["mole"]);
    rat.is_asleep = true;
    assert_eq!(chosen(&river, std::slice::from_ref(&rat)), Err("asleep"));
    rat.is_stopped = true;
    let alone = [rat.clone()];
    assert_eq!(chosen(&river, &alone), Err("emergency_stop"));
    // Somebody who can begin goes first.
    let two = [rat, candidate("vole", "Vole", &["river"])];
    assert_eq!(chosen(&river, &two), Ok("vole".to_owned()));
}

proptest! {
    #[test]
    fn the_chosen_one_can_begin_and_is_new_to_the_task_and_no_order_matters(
        all in proptest::collection::vec((0_usize..5, any::<bool>(), any::<bool>(), 0_usize..3), 0..6),
        to in proptest::option::of(prop::sample::select(vec!["a", "b", "red", "Anna", "nobody"])),
        tag in proptest::option::of(Just("red")),
    ) {
        const KEYS: [&str; 5] = ["a", "b", "c", "d", "e"];
        let mut candidates = Vec::new();
        for (who, is_stopped, is_asleep, tasks) in all {
            let tags: &[&str] = if who % 2 == 0 { &["red"] } else { &[] };
            let name = if who < 2 { "Anna" } else { KEYS[who] };
            let new = DelegateCandidate { is_stopped, is_asleep, tasks, ..candidate(KEYS[who], name, tags) };
            if candidates.iter().all(|it: &DelegateCandidate| it.key != new.key) {
                candidates.push(new);
            }
        }
        let delegated = delegated(to, tag, &["c", "mole"]);
        let one = chosen(&delegated, &candidates);
        candidates.reverse();
        prop_assert_eq!(&one, &chosen(&delegated, &candidates));
        if let Ok(found) = one {
            let found = candidates.iter().find(|it| it.key.as_str() == found).unwrap();
            prop_assert!(!found.is_stopped && !found.is_asleep && found.key != key("c"));
            prop_assert!(tag.is_none() || found.has_tag("red"));
        }
    }
}
