//! Running an assistant in steps, for a caller that controls the clock.

use dormouse_contracts::{AssistantId, Clock, Timestamp};
use dormouse_engine::{Activity, Handle, Skip, gate};
use tokio::{select, task::JoinSet};

use super::{Host, HostError, residency::due, running::learn};
use crate::pump::{Pump, PumpError};

impl<W: ?Sized> Host<W> {
    /// Wakes an assistant, lets it handle everything that is due and everything that the world holds for it, and puts
    /// it away. Returns when it would wake by itself next; `None` if nothing will be due, or if it is archived.
    ///
    /// It receives one perception at a time, each after it has come to rest from the one before. It receives output of
    /// its own acts while it acts. Call this for one assistant at a time, and not for a [resident](Host::take_in). Then
    /// every step is reproducible, if the clock stands still meanwhile and the model depends only on its request.
    /// Dropping the future is like a crash of the assistant.
    ///
    /// # Errors
    ///
    /// [`HostError`]; what was accepted is in the log.
    pub async fn live_through(&self, key: &AssistantId) -> Result<Option<Timestamp>, HostError> {
        // The future is large. Boxing keeps the caller's future small.
        Box::pin(self.wake_once(key)).await
    }

    async fn wake_once(&self, key: &AssistantId) -> Result<Option<Timestamp>, HostError> {
        let woken = match self.prepare(key).await {
            Err(HostError::Archived { .. }) => return Ok(None),
            woken => woken?,
        };
        let (memory, handle) = (woken.memory.clone(), woken.handle.clone());
        let events = woken.events.again();
        let (assistant, (pump, _)) = woken.into_parts(Box::new(|_, _| Box::pin(async {})));
        let mut life = JoinSet::new();
        life.spawn(assistant.run());
        let lived = async {
            let clock = &*self.shared.clock;
            rest(&handle, &pump, clock).await?;
            while pump.hand_over_next().await? {
                rest(&handle, &pump, clock).await?;
            }
            Ok::<_, HostError>(handle.inspect().await)
        };
        let state = lived.await?;
        handle.shut_down().await;
        drop((handle, pump));
        if let Some(Ok(ended)) = life.join_next().await {
            ended?;
        }
        learn(&self.shared, events).await;
        // The next step opens its file again.
        memory.close().await;
        Ok(state.and_then(|state| due(&state, self.shared.clock.now())))
    }
}

/// Waits until nothing is under way, and hands over the output of acts. An assistant that waits for a moment counts as
/// at rest, because time does not advance by itself.
async fn rest(handle: &Handle, pump: &Pump, clock: &dyn Clock) -> Result<(), PumpError> {
    let mut handle = handle.clone();
    loop {
        // When the assistant answers this, it has begun everything that was requested before.
        if handle.inspect().await.is_none() {
            return Ok(());
        }
        let status = handle.status();
        let is_at_rest = match status.activity {
            Activity::Idle => status.waiting == 0 || waits_for_its_beat(&handle, clock).await,
            Activity::Asleep { is_working, .. } => status.waiting == 0 && !is_working,
            Activity::Disabled
            | Activity::Stopped(_)
            | Activity::Waiting(_)
            | Activity::OverBudget { .. }
            | Activity::WorldUnreachable { .. }
            | Activity::Paused(_) => true,
            _ => false,
        };
        if is_at_rest {
            return Ok(());
        }
        let is_acting = status.activity == Activity::Acting;
        select! {
            changed = handle.status_changed() => {
                if changed.is_none() {
                    return Ok(());
                }
            }
            // An act is settled only after its output was received, so both are always in this order in the log.
            held = pump.until_output(), if is_acting => {
                for _ in 0..held? {
                    pump.hand_over_next().await?;
                }
            }
        }
    }
}

/// Whether what waits is due only at the next beat of the heart. The state is read after the status, so it has all that waits.
async fn waits_for_its_beat(handle: &Handle, clock: &dyn Clock) -> bool {
    let state = handle.inspect().await.map(Box::new);
    state.is_none_or(|state| gate(&state, clock.now()) == Err(Skip::Idle))
}
