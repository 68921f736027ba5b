//! A service with assistants and the offline model, on a free port.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use dormouse_contracts::{AssistantId, Clock, Timestamp};
use dormouse_host::{
    DataFolder, FolderWorld, Host, HostSettings, SystemClock, config::Config, provider::Models,
};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use dormouse_server::{NewToken, Right, Server, ServerSettings, TokenSecret, TokenStore};
use tokio::{sync::oneshot, task::JoinSet};

use crate::client::Call;

/// The path of all assistants.
pub(crate) const ALL: &str = "/api/ai/assistants/";

/// A running service.
pub(crate) struct Service {
    pub(crate) host: Host<FolderWorld>,
    pub(crate) address: SocketAddr,
    /// The secret of a token with all rights, whose name is Ann.
    pub(crate) secret: String,
    pub(crate) clock: Arc<SetClock>,
    /// The path of the link that signs Vera in.
    pub(crate) link: String,
    end: oneshot::Sender<()>,
    running: JoinSet<()>,
    folder: tempfile::TempDir,
}

/// The system's clock, which a test can put forward.
#[derive(Debug, Default)]
pub(crate) struct SetClock(Mutex<std::time::Duration>);

impl SetClock {
    pub(crate) fn put_forward(&self, by: std::time::Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(*self.0.lock().unwrap())
    }
}

pub(crate) fn key(key: &str) -> AssistantId {
    AssistantId::try_new(key).unwrap()
}

impl Service {
    /// A service with the assistant `dormouse`.
    pub(crate) async fn open() -> Self {
        // Most tests ask more often than people do.
        Self::with("requests_per_minute = 100000\nburst = 1000").await
    }

    /// A service with these lines in the section `[server]`.
    pub(crate) async fn with(section: &str) -> Self {
        Self::of(&format!("[server]\n{section}\n")).await
    }

    /// A service with this configuration.
    pub(crate) async fn of(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("dormouse.toml"), config).unwrap();
        let mut service = Self::over(folder).await;
        service.secret = service.token("Ann", &Right::ALL, None);
        service
    }

    /// The same service, ended and started again. Its tokens stay.
    pub(crate) async fn again(self) -> Self {
        let (secret, folder) = self.end().await;
        let mut service = Self::over(folder).await;
        service.secret = secret;
        service
    }

    /// A service over what is in the folder.
    async fn over(folder: tempfile::TempDir) -> Self {
        let file = folder.path().join("dormouse.toml");
        let nothing: [(std::ffi::OsString, std::ffi::OsString); 0] = [];
        let (config, _) = Config::load(Some(&file), &file, nothing).unwrap();
        let section = config.server.clone();
        let environment = Environment::of(|_| None);
        let models = Models::of(Arc::new(OfflineModel::new()));
        let settings = HostSettings::with_models(config, environment, models);
        let data = DataFolder::at(folder.path()).unwrap();
        let host = Host::open_folder(settings, &data).await.unwrap();
        host.wake(&key("dormouse")).await.unwrap();
        // Its first event is on disk a moment later.
        while host.known().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        let clock = Arc::new(SetClock::default());
        let settings = ServerSettings {
            address: ([127, 0, 0, 1], 0).into(),
            hosts: BTreeSet::from(["tea.example".to_owned()]),
            section,
            clock: Arc::clone(&clock) as _,
        };
        let server = Server::open(&host, settings).await.unwrap();
        let address = server.address();
        let link = server.sign_in_link("Vera").unwrap().unwrap();
        let link = link[format!("http://{address}").len()..].to_owned();
        let (end, ends) = oneshot::channel();
        let mut running = JoinSet::new();
        running.spawn(server.run(async { drop(ends.await) }));
        Self {
            host,
            address,
            secret: String::new(),
            clock,
            link,
            end,
            running,
            folder,
        }
    }

    /// Another token.
    pub(crate) fn token(&self, name: &str, rights: &[Right], of: Option<&[&str]>) -> String {
        let secret = TokenSecret::generate().unwrap();
        let new = NewToken {
            name: name.to_owned(),
            rights: rights.iter().copied().collect(),
            assistants: of.map(|of| of.iter().map(|it| key(it)).collect()),
            attests: None,
            expires_at: None,
            created_by: "a test".to_owned(),
        };
        self.tokens()
            .create(new, &secret, self.clock.now())
            .unwrap();
        secret.reveal()
    }

    pub(crate) fn tokens(&self) -> TokenStore {
        TokenStore::in_folder(self.folder.path())
    }

    /// A request by Ann to a path below that of all assistants.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        self.raw(method, &format!("{ALL}{path}")).by(&self.secret)
    }

    /// A request by nobody.
    pub(crate) fn raw(&self, method: &str, path: &str) -> Call {
        Call::new(self.address, method, path)
    }

    /// Ends the service, and then the assistants.
    pub(crate) async fn close(self) {
        self.end().await;
    }

    async fn end(mut self) -> (String, tempfile::TempDir) {
        drop(self.end);
        while self.running.join_next().await.is_some() {}
        self.host.close().await;
        (self.secret, self.folder)
    }
}
