//! Two assistants without a language model: one asks the other on somebody's behalf.

use std::sync::Arc;

use dormouse_contracts::{ReadEvents, Senses, Seq};
use dormouse_engine::Event;
use dormouse_host::{DataFolder, Host, HostSettings, config::Config, provider::Models};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use tokio::task::yield_now;

use crate::tea_house::{Folder, admit_alice, alice, key, page};

async fn house(folder: &Folder) -> Host {
    let file = folder.path().join("dormouse.toml");
    std::fs::write(&file, "[execution]\nsub_agents_enabled = true\n").unwrap();
    let (config, _) = Config::load(Some(&file), &file, []).unwrap();
    let models = Models::of(Arc::new(OfflineModel::new()));
    let settings = HostSettings::with_models(config, Environment::of(|_| None), models);
    let data = DataFolder::at(folder.path()).unwrap();
    Host::open(settings, &data).await.unwrap()
}

/// The words that Alice has heard.
async fn heard(host: &Host) -> Vec<String> {
    let feed = host.world().perceptions(&alice(), 0, 256).await.unwrap();
    let words = feed.iter().map(|heard| heard.words.as_claimed().to_owned());
    words.collect()
}

/// Says something and waits until somebody has said something with these words to Alice.
async fn answered(host: &Host, to: &str, words: &str, answer: &str) {
    page(host, to, words).await;
    while !heard(host).await.iter().any(|said| said.contains(answer)) {
        yield_now().await;
    }
}

#[tokio::test]
async fn without_a_language_model_an_assistant_asks_another_one_and_passes_the_answer_on() {
    let folder = Folder::new();
    let host = house(&folder).await;
    admit_alice(&host).await;
    for name in ["mole", "rat"] {
        drop(host.wake(&key(name)).await.unwrap());
    }
    let remember = "remember that the silver key hangs behind the clock";
    answered(&host, "Rat", remember, "I will remember").await;
    let ask = "Could you ask Rat where the silver key is?";
    answered(&host, "Mole", ask, "Alice, rat says").await;
    let ask = "please ask Rat about the ferry to Hollow";
    answered(&host, "Mole", ask, "found nothing about that").await;

    let said = heard(&host).await;
    let passed_on = said
        .iter()
        .filter(|said| said.starts_with("Alice, rat says"));
    let passed_on: Vec<_> = passed_on.collect();
    assert_eq!(passed_on.len(), 2, "{said:?}");
    assert!(passed_on[0].contains("the silver key hangs behind the clock"));
    let stored = host
        .log()
        .read(&key("rat"), Seq::ZERO, 1_000)
        .await
        .unwrap();
    let answered = stored
        .iter()
        .filter(|it| it.kind == "task_answered")
        .count();
    assert_eq!(answered, 2);
    let decoded = stored.iter().map(Event::decode);
    assert!(decoded.into_iter().all(|event| event.is_ok()));
    host.close().await;
}
