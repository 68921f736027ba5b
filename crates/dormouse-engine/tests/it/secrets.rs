//! Secrets that a log keeps are never shown to a model, and never said.

use dormouse_contracts::Seq;
use dormouse_engine::{Event, SecretsInLog, State, replay};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::{Home, key, shown};

const SECRET: &str = "sk-proj-4fT9xQzLm28KpWvR7nYc3HdB6sJg1Ue0";

#[tokio::test(start_paused = true)]
async fn a_secret_that_the_log_keeps_is_in_no_prompt_and_is_not_said() {
    for kept in [SecretsInLog::Kept, SecretsInLog::Masked] {
        // The model makes up the same key, as one that was trained on it might.
        let parrot = ScriptedModel::looping(ScriptedTurn::with(|request| {
            assert!(!shown(request).contains(SECRET));
            ScriptedTurn::call("say", json!({"message": format!("Your key is {SECRET}.")}))
        }));
        let home = Home::with(parrot).configured(|config| config.secrets_in_log = kept);
        for (number, text) in [
            (1, format!("My key is {SECRET}, keep it.")),
            (2, "Which is my key?".to_owned()),
        ] {
            home.hear(Perceive::whisper("Alice", &text).number(number).build())
                .await;
        }
        assert_eq!(home.deeds(), ["say Your key is [secret: api key]."; 2]);
        let holds = |event: &Event| format!("{event:?}").contains(SECRET);
        let held: Vec<_> = home.events().into_iter().filter(holds).collect();
        match kept {
            SecretsInLog::Kept => assert!(matches!(held[..], [Event::Perceived(_)]), "{held:?}"),
            SecretsInLog::Masked => assert_eq!(held, []),
        }
        let state: State = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
        assert!(!serde_json::to_string(&state).unwrap().contains(SECRET));
    }
}
