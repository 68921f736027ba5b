//! Whether an assistant can live in a game.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use dormouse_contracts::{Clock, EntityId, IdError};
use tokio::{join, sync::mpsc, time::Instant};

use crate::{
    client::{Client, Order},
    game::Link,
    notice::Notice,
    people::People,
    session::Session,
    world::Account,
};

/// Logs in as this account, and reports what the game says about it, until it is clear whether an assistant can live in
/// the game. Nothing is stored, and nothing that waits for the assistant is taken. Returns whether it can live there.
/// Waits as long as the game cannot be reached.
///
/// # Errors
///
/// [`IdError`], in practice never.
pub async fn check(
    url: &str,
    account: Account,
    clock: Arc<dyn Clock>,
    on_notice: impl Fn(&Notice) + Send + Sync + 'static,
) -> Result<bool, IdError> {
    let character = EntityId::try_new("assistant:check")?;
    let (orders, taken) = mpsc::channel(1);
    let (sender, mut notices) = mpsc::unbounded_channel();
    let client = Client {
        url: url.to_owned(),
        character,
        acts: String::new(),
        session: Session::new(&account.name, account.password, Instant::now()),
        queue: None,
        people: Arc::new(Mutex::new(People::default())),
        clock,
        on_notice: Box::new(move |notice| drop(sender.send(notice))),
        on_staff: Box::new(|_| {}),
        orders: taken,
        replies: BTreeMap::new(),
        asked: 0,
    };
    let decide = async {
        let mut can_live = false;
        while let Some(notice) = notices.recv().await {
            on_notice(&notice);
            can_live = matches!(notice, Notice::Ready { .. });
            if can_live || notice.is_final() || notice == Notice::Observing {
                break;
            }
        }
        if can_live {
            let link = Link {
                orders: orders.clone(),
                assistant: None,
            };
            // Everything else that the game reports arrives before this answer.
            drop(link.state().await);
            while let Ok(notice) = notices.try_recv() {
                on_notice(&notice);
            }
        }
        // The task that has ended has left the game.
        drop(orders.send(Order::Close).await);
        can_live
    };
    let ((), can_live) = join!(Box::pin(client.run()), decide);
    Ok(can_live)
}
