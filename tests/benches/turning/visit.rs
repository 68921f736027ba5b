//! An assistant with everything on, over HTTP on this machine and on a disk.

use std::{fs, path::Path, sync::Arc, time::Duration};

use dormouse_contracts::{
    AssistantId, EntityId, ReadError, Seq, ToolSourceName, Words, each_event,
};
use dormouse_engine::Rest;
use dormouse_host::{DataFolder, Host, HostSettings, Resident, config::Config};
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use dormouse_tests::Workshop;
use dormouse_tools::NamedToolSource;

use super::server::Server;

/// The budgets of a life, if it has any.
#[derive(Clone, Copy, Debug)]
pub(super) enum Budgets {
    None,
    Tokens,
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// An assistant on a disk, and Alice, who pages it.
pub(super) struct Visit {
    pub(super) host: Host,
    resident: Resident,
    alice: EntityId,
}

impl Visit {
    pub(super) async fn begin(
        folder: &Path,
        server: &Server,
        history: usize,
        budgets: Budgets,
    ) -> Self {
        fs::create_dir_all(folder).unwrap();
        let budgets = match budgets {
            Budgets::None => String::new(),
            Budgets::Tokens => {
                "[budgets]\ntokens_per_hour = 1000000000\ntokens_per_day = 1000000000\n".to_owned()
            }
        };
        let text = format!(
            "[provider]\nkind = \"local\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n\
             [limits]\nmax_iterations_per_tick = 8\nmax_context_tokens = 400000\nmax_history = {history}\n\
             [memory]\nembedder = \"none\"\n[journal]\nreflection_interval = 0\n{budgets}",
            server.url
        );
        let file = folder.join("dormouse.toml");
        fs::write(&file, text).unwrap();
        let (config, _) = Config::load(Some(&file), &file, []).unwrap();
        let mut settings = HostSettings::of(config, Environment::of(|_| None)).unwrap();
        settings.tool_sources = vec![NamedToolSource {
            name: ToolSourceName::try_new("bench").unwrap(),
            source: Arc::new(Workshop::open(folder.join("receipts"))),
        }];
        let data = DataFolder::at(folder).unwrap();
        let host = Host::open(settings, &data).await.unwrap();
        let alice = EntityId::try_new("player:alice").unwrap();
        let character = Character {
            id: alice.clone(),
            name: "Alice".to_owned(),
            kind: CharacterKind::Player,
        };
        host.world().join(character).await.unwrap();
        let key = AssistantId::try_new("dormouse").unwrap();
        let resident = host.wake(&key).await.unwrap();
        Self {
            host,
            resident,
            alice,
        }
    }

    /// Says something and waits until it is answered and everything is on disk.
    pub(super) async fn say(&self, words: &str) {
        let act = Act::Page {
            to: "Dormouse".to_owned(),
            words: Words::try_new(words).unwrap(),
        };
        let acted = self.host.world().act(&self.alice, act).await.unwrap();
        self.resident.heard(&acted.deliveries).await.unwrap();
        assert_eq!(self.resident.handle().at_rest().await, Rest::Settled);
    }

    pub(super) fn replies(&self) -> u64 {
        self.resident.handle().status().spent.replies
    }

    pub(super) async fn last(&self) -> Seq {
        let state = self.resident.handle().inspect().await.unwrap();
        state.seq
    }

    /// How many replies after this event are no steps of a turn.
    pub(super) async fn further_requests(&self, after: Seq) -> u64 {
        let key = AssistantId::try_new("dormouse").unwrap();
        let mut further = 0;
        let range = after.next()..;
        let counted = each_event(self.host.log(), &key, range, |stored| {
            let is_further = ["consulted", "history_summarized"].contains(&&*stored.kind);
            further += u64::from(is_further);
            Ok::<_, ReadError>(())
        });
        counted.await.unwrap();
        further
    }

    pub(super) async fn end(self) {
        drop(self.resident);
        self.host.close().await;
    }
}
