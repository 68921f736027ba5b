//! Two tools of your own, called by a scripted model. The first has a cache: it runs once although the model calls it
//! twice. The second is dangerous: before it runs, the model must decide again without untrusted text. It ends the
//! tick.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, CachePolicy, CacheScope, EntityId, Rejection, Seq, ToolCategory, ToolSourceName,
    Words,
};
use dormouse_engine::Event;
use dormouse_host::{DataFolder, Host, HostSettings, Tail, config::Config, provider::Models};
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use dormouse_tools::{NamedToolSource, Tool, ToolInfo, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rocket {
    /// Which rocket, by its name.
    rocket: String,
}

/// Measures the wind, at most once in ten minutes. The number counts the measurements.
struct Wind(Arc<AtomicUsize>);

impl Tool for Wind {
    type Arguments = Rocket;
    fn info(&self) -> ToolInfo {
        let ttl = Some(Duration::from_secs(600));
        let scope = CacheScope::Session;
        ToolInfo {
            category: ToolCategory::AsyncRequired,
            cache: Some(CachePolicy { scope, ttl }),
            ..ToolInfo::query("wind", "The wind where a rocket is.")
        }
    }
    async fn call(&self, _by: &AssistantId, at: Rocket) -> Result<Value, Rejection> {
        let measured = self.0.fetch_add(1, Relaxed) + 1;
        Ok(json!({ "at": at.rocket, "wind": "calm", "measured": measured }))
    }
}

/// Launches a rocket, which cannot be undone.
struct Launch;

impl Tool for Launch {
    type Arguments = Rocket;
    fn info(&self) -> ToolInfo {
        ToolInfo {
            category: ToolCategory::Dangerous,
            ..ToolInfo::effect("launch", "Launch a rocket. It cannot be called back.")
        }
    }
    async fn call(&self, by: &AssistantId, with: Rocket) -> Result<Value, Rejection> {
        Ok(json!({ "launched": with.rocket, "by": by }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let measured = Arc::new(AtomicUsize::new(0));
    let tools = Toolbox::new()
        .with(Wind(Arc::clone(&measured)))?
        .with(Launch)?;
    let base = NamedToolSource {
        name: ToolSourceName::try_new("base")?,
        source: Arc::new(tools),
    };
    let call = |tool: &str| ScriptedTurn::call(tool, json!({ "rocket": "Star" }));
    let calls = ["wind", "wind", "launch", "launch"].map(call);
    let model = ScriptedModel::new(calls);
    let models = Models::of(Arc::new(model.clone()));
    let environment = Environment::of(|_| None);
    let mut settings = HostSettings::with_models(Config::default(), environment, models);
    settings.tool_sources = vec![base];

    let folder = tempfile::tempdir()?;
    let host = Host::open(settings, &DataFolder::at(folder.path())?).await?;
    let resident = host.wake(&AssistantId::try_new("dormouse")?).await?;
    let alice = EntityId::try_new("player:alice")?;
    let character = Character {
        id: alice.clone(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    host.world().join(character).await?;
    let (key, handle) = (resident.key(), resident.handle());
    let mut events = Tail::new(host.log(), key, handle, Seq::ZERO);
    let act = Act::Page {
        to: "Dormouse".to_owned(),
        words: Words::try_new("Is it calm? Then launch Star.")?,
    };
    let acted = host.world().act(&alice, act).await?;
    resident.heard(&acted.deliveries).await?;
    handle.at_rest().await;
    drop(resident);
    host.close().await;

    while let Some(recorded) = events.next().await? {
        match recorded.event {
            Event::ToolAnswered(answered) => println!("answered: {}", answered.content),
            Event::EffectSettled(settled) => println!("settled: {}", settled.content),
            Event::TickEnded(ended) => println!("the tick ended: {}", ended.reason.code()),
            _ => {}
        }
    }
    assert_eq!(measured.load(Relaxed), 1, "the second answer is the first");
    model.assert_finished();
    Ok(())
}
