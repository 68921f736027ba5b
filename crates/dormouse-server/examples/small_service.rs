//! A service with one assistant and no language model, on a free port, until Enter is pressed.
//!
//! `cargo run -p dormouse-server --example small_service`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{collections::BTreeSet, error::Error, sync::Arc};

use dormouse_contracts::{AssistantId, Clock};
use dormouse_host::{
    DataFolder, Host, HostSettings, SystemClock,
    config::{Config, ServerSection},
    provider::Models,
};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use dormouse_server::{NewToken, Right, Server, ServerSettings, TokenSecret, TokenStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let models = Models::of(Arc::new(OfflineModel::new()));
    let environment = Environment::of(|_| None);
    let settings = HostSettings::with_models(Config::default(), environment, models);
    let host = Host::open_folder(settings, &DataFolder::at(folder.path())?).await?;
    host.wake(&AssistantId::try_new("dormouse")?).await?;

    let secret = TokenSecret::generate()?;
    let token = NewToken {
        name: "Ann".to_owned(),
        rights: BTreeSet::from(Right::ALL),
        assistants: None,
        attests: None,
        expires_at: None,
        created_by: "the example".to_owned(),
    };
    TokenStore::in_folder(folder.path()).create(token, &secret, SystemClock.now())?;

    let settings = ServerSettings {
        address: ([127, 0, 0, 1], 0).into(),
        hosts: BTreeSet::new(),
        section: ServerSection::default(),
        clock: Arc::new(SystemClock),
    };
    let server = Server::open(&host, settings).await?;
    let address = server.address();
    println!("curl -H 'authorization: Bearer {}' \\", secret.reveal());
    println!("  -H 'content-type: application/json' -d '{{\"words\": \"hello\"}}' \\");
    println!("  http://{address}/api/ai/assistants/dormouse/interact/");
    if let Some(link) = server.sign_in_link("Wilma")? {
        println!("open {link} in a browser");
    }
    let enter = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    server
        .run(async {
            // The example ends when its input ends or fails.
            drop(enter.await);
        })
        .await;
    host.close().await;
    Ok(())
}
