//! Tools of other sources than the world.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use dormouse_contracts::{AssistantId, Rejection, ToolCategory, ToolSourceName};
use dormouse_host::HostError;
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use dormouse_tools::{NamedToolSource, Tool, ToolInfo, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tea_house::{Folder, admit_alice, key, open_with_tools, page};

#[derive(Deserialize, JsonSchema)]
struct Kettle {
    kettle: String,
}

/// A tool that counts its calls.
struct Boil(&'static str, Arc<AtomicUsize>);

impl Tool for Boil {
    type Arguments = Kettle;

    fn info(&self) -> ToolInfo {
        ToolInfo {
            category: ToolCategory::Dangerous,
            ..ToolInfo::effect(self.0, "Boil the water of a kettle.")
        }
    }

    async fn call(&self, by: &AssistantId, with: Kettle) -> Result<Value, Rejection> {
        self.1.fetch_add(1, SeqCst);
        Ok(json!({ "boiled": with.kettle, "by": by }))
    }
}

fn kitchen(names: &[&'static str], boiled: &Arc<AtomicUsize>) -> NamedToolSource {
    let tools = names.iter().fold(Toolbox::new(), |tools, name| {
        tools.with(Boil(name, Arc::clone(boiled))).unwrap()
    });
    NamedToolSource {
        name: ToolSourceName::try_new("kitchen").unwrap(),
        source: Arc::new(tools),
    }
}

#[tokio::test]
async fn a_host_offers_the_tools_of_other_sources_and_says_what_it_renamed() {
    let folder = Folder::new();
    let boiled = Arc::new(AtomicUsize::new(0));
    // The sandbox has a tool of this name already, and the engine has another.
    let source = kitchen(&["boil", "pose", "noop"], &boiled);
    let call = |name: &str| ScriptedTurn::call(name, json!({ "kettle": "the blue one" }));
    // The result of the first call is not trusted text, so the second dangerous call is decided again without it.
    let model = ScriptedModel::new([call("boil"), call("kitchen_pose"), call("kitchen_pose")]);
    let host = open_with_tools(folder.path(), Arc::new(model.clone()), vec![source]);
    let host = host.await.unwrap();
    let tools = host.tools();
    let others = tools.iter().filter(|tool| tool.source.is_some());
    let named: Vec<_> = others
        .map(|tool| (tool.spec.name.as_str(), tool.is_renamed()))
        .collect();
    let expected = [
        ("boil", false),
        ("kitchen_pose", true),
        ("kitchen_noop", true),
    ];
    assert_eq!(named, expected);

    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    for (words, times) in [("boil the blue one", 1), ("once more, the blue one", 2)] {
        let acted = page(&host, "Rat", words).await;
        rat.heard(&acted.deliveries).await.unwrap();
        rat.handle().at_rest().await;
        assert_eq!(boiled.load(SeqCst), times);
    }
    model.assert_finished();
    drop(rat);
    host.close().await;
}

#[tokio::test]
async fn two_sources_of_one_name_are_refused_before_anybody_wakes() {
    let folder = Folder::new();
    let boiled = Arc::default();
    let sources = vec![kitchen(&["boil"], &boiled), kitchen(&["brew"], &boiled)];
    let model = Arc::new(ScriptedModel::new([]));
    let refused = open_with_tools(folder.path(), model, sources).await;
    let Err(error @ HostError::Tools(_)) = refused else {
        panic!("it was opened");
    };
    assert!(
        error
            .to_string()
            .contains("two tool sources are named \"kitchen\"")
    );
    assert!(!folder.path().join("log.redb").exists());
}
