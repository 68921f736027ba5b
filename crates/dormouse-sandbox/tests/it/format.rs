//! A file as the first format was written, table by table and record by record, still opens.

use dormouse_contracts::{
    Delivery, EffectInquiry, EffectKey, Inquire, Observe, Outcome, Perform, SourceKind,
};
use redb::{Database, TableDefinition};
use serde_json::json;

use crate::cast::{Place, effect, id, query};

const META: TableDefinition<'_, &str, u64> = TableDefinition::new("dormouse_sandbox");
const CHARACTERS: TableDefinition<'_, &str, &str> = TableDefinition::new("characters");
const FEEDS: TableDefinition<'_, (&str, u64), &str> = TableDefinition::new("feeds");
const EFFECTS: TableDefinition<'_, &str, &str> = TableDefinition::new("effects");
const EFFECT_ORDER: TableDefinition<'_, u64, &str> = TableDefinition::new("effect_order");

fn write_first_format(place: &Place) {
    let database = Database::create(place.path()).unwrap();
    let writing = database.begin_write().unwrap();
    {
        let mut meta = writing.open_table(META).unwrap();
        meta.insert("format", 1).unwrap();
        meta.insert("revision", 7).unwrap();
        let mut characters = writing.open_table(CHARACTERS).unwrap();
        for (id, record) in [
            (
                "Alice",
                r#"{"name":"Alice","kind":"player","room":"garden","delivered":9}"#,
            ),
            (
                "Dormouse",
                r#"{"name":"Dormouse","kind":{"assistant":"Dormouse"},"room":"garden","delivered":0}"#,
            ),
            (
                "Bob",
                r#"{"name":"Bob","kind":"player","room":"a_room_since_closed","delivered":0}"#,
            ),
        ] {
            characters.insert(id, record).unwrap();
        }
        let perception = r#"{"attested":{"delivery":{"world":"sandbox","number":9},"source":"whisper",
            "sender":{"assistant":{"id":"Dormouse","name":"Dormouse"}},"at":1000000},"words":"psst"}"#;
        writing
            .open_table(FEEDS)
            .unwrap()
            .insert(("Alice", 9), perception)
            .unwrap();
        let done = r#"{"number":1,"at":1000000,"effect":{"key":"k","actor":"Dormouse","tool":"whisper",
            "arguments":{"to":"Alice","message":"psst"}},"outcome":{"done":{"detail":{"to":"Alice"}}}}"#;
        let rejected = r#"{"number":2,"at":1000000,"effect":{"key":"l","actor":"Dormouse","tool":"fly",
            "arguments":{}},"outcome":{"rejected":{"reason":"no wings"}}}"#;
        let mut effects = writing.open_table(EFFECTS).unwrap();
        effects.insert("k", done).unwrap();
        effects.insert("l", rejected).unwrap();
        let mut order = writing.open_table(EFFECT_ORDER).unwrap();
        order.insert(1, "k").unwrap();
        order.insert(2, "l").unwrap();
    }
    writing.commit().unwrap();
}

#[tokio::test]
async fn a_file_of_the_first_format_opens_and_goes_on_where_it_was() {
    let place = Place::new();
    write_first_format(&place);
    let world = place.open();

    let feed = world.perceptions(&id("Alice"), 0, 10).await.unwrap();
    assert_eq!(feed.len(), 1);
    let delivery = Delivery {
        world: world.id().clone(),
        number: 9,
    };
    assert_eq!(feed[0].attested.delivery, delivery);
    assert_eq!(feed[0].attested.source, SourceKind::Whisper);

    let whisper = effect(
        "k",
        "Dormouse",
        "whisper",
        &json!({ "to": "Alice", "message": "psst" }),
    );
    assert!(matches!(
        world.perform(&whisper).await.unwrap(),
        Outcome::Done(_)
    ));
    let rejected = world
        .inquire(&EffectKey::try_new("l").unwrap())
        .await
        .unwrap();
    assert!(matches!(rejected, EffectInquiry::Rejected(it) if it.reason == "no wings"));

    let say = effect("m", "Dormouse", "say", &json!({ "message": "hello" }));
    world.perform(&say).await.unwrap();
    let feed = world.perceptions(&id("Alice"), 9, 10).await.unwrap();
    assert_eq!(feed[0].attested.delivery.number, 10);
    assert_eq!(world.effects(0).await.unwrap().len(), 3);

    let seen = world
        .observe(&query("Dormouse", "inspect_location", &json!({})))
        .await
        .unwrap();
    assert_eq!(seen.unwrap()["room"], "The Garden");
    let looked = world
        .act(&id("Bob"), dormouse_sandbox::Act::Look)
        .await
        .unwrap();
    assert!(
        looked.seen.to_string().starts_with("The Common Room"),
        "whose room is gone is in the first"
    );
}
