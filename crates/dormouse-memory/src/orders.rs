//! Standing orders: lasting requests of people. They are found by the kind of their records, not by search.

use std::sync::PoisonError;

use dormouse_contracts::{Attribution, Audience, Timestamp, invariant};
use dormouse_entities::{
    FoundOrder, Name, OrderId, OrderKind, OrderText, OrderValidity, StandingOrder, orders_in,
};

use crate::{
    memory::{Inner, Memory, MemoryError, blocking},
    recall::{Recall, RecallRequest},
    record::{Record, RecordId, RecordKind},
    store::StoreError,
};

impl Memory {
    /// The answer to a request, if there is one, as [`Memory::recall`] gives it; and the instructions and preferences that are
    /// valid at `now`, oldest first and of any trust. With `listeners`, only the orders that all of them perceived.
    ///
    /// [`dormouse_entities::compile`] decides which orders count and writes the block for a prompt. Records whose speaker is
    /// known only by name are left out, because no world vouches for a name.
    ///
    /// Checks the kind of every record in memory, and reads the orders from the file. Both are looked up on one thread: waking
    /// a second one would take longer.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn recall_with_orders(
        &self,
        request: Option<RecallRequest>,
        now: Timestamp,
        listeners: Option<Audience>,
    ) -> Result<(Option<Recall>, Vec<StandingOrder>), MemoryError> {
        let request = match request {
            Some(request) => Some((self.dense(&request).await?, request)),
            None => None,
        };
        let inner = self.inner.clone();
        blocking(move || {
            let recalled = request.map(|(dense, request)| inner.recalled(&request, dense));
            let orders = inner.standing_orders(now, listeners.as_ref())?;
            Ok((recalled.transpose()?, orders))
        })
        .await
    }
}

impl Inner {
    fn standing_orders(
        &self,
        now: Timestamp,
        listeners: Option<&Audience>,
    ) -> Result<Vec<StandingOrder>, StoreError> {
        let hearing = self.hearing(listeners)?;
        let ids: Vec<RecordId> = {
            let projection = self.projection()?;
            let metas = projection.metas.iter();
            metas
                .filter(|(_, meta)| {
                    meta.in_use
                        && hearing.admits(meta)
                        && matches!(meta.kind, RecordKind::Instruction | RecordKind::Preference)
                        && meta.valid_from <= now
                        && now < meta.valid_until
                })
                .map(|(id, _)| id)
                .collect()
        };
        let records = self.store.read(|reading| reading.records(&ids))?;
        let entities = self.entities.read().unwrap_or_else(PoisonError::into_inner);
        let mut orders: Vec<_> = records
            .into_iter()
            .flatten()
            .flat_map(|record| orders_of(&record))
            .collect();
        for order in &mut orders {
            if let Some(survivor) = entities.resolve(&order.from) {
                order.from = survivor.clone();
            }
        }
        orders.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        Ok(orders)
    }
}

/// The orders in one record: the sentences that are recognised as orders, or the whole text if there is none. A preference
/// may be overheard, so a record of a preference contains no instruction.
fn orders_of(record: &Record) -> Vec<StandingOrder> {
    let Attribution::Entity { id: from, name } = &record.speaker else {
        return Vec::new();
    };
    let Some(from_name) = Name::shortened(name) else {
        return Vec::new();
    };
    let kind = match record.kind {
        RecordKind::Instruction => OrderKind::Instruction,
        RecordKind::Preference => OrderKind::Preference,
        RecordKind::Event | RecordKind::Fact | RecordKind::Insight => return Vec::new(),
    };
    let mut found = orders_in(&record.text);
    found.retain(|found| kind == OrderKind::Instruction || found.kind == kind);
    if found.is_empty() {
        let whole = OrderText::shortened(&record.text);
        found.extend(whole.map(|text| FoundOrder {
            kind,
            text,
            subject: None,
            period: None,
        }));
    }
    let orders = found.into_iter().enumerate().filter_map(|(place, found)| {
        let id = match place {
            0 => record.id.to_string(),
            place => format!("{}/{place}", record.id),
        };
        let id = OrderId::try_new(id);
        let ends = found.period.map(|period| record.at.plus(period.duration()));
        Some(StandingOrder {
            id: invariant!(id.map(Some), "a record's number is a valid id of an order")?,
            text: found.text,
            kind: found.kind,
            from: from.clone(),
            from_name: from_name.clone(),
            trust: record.trust,
            at: record.at,
            valid: OrderValidity {
                since: record.valid_from,
                until: record.valid_until.into_iter().chain(ends).min(),
            },
            subject: found.subject,
        })
    });
    orders.collect()
}
