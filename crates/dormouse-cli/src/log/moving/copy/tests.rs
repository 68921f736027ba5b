use dormouse_contracts::{Append, AppendErrorKind, Timestamp};
use dormouse_engine::{EmergencyStopCleared, Event};
use dormouse_testing::MemoryLog;

use super::*;

fn side(name: &'static str) -> Side<MemoryLog> {
    let log = MemoryLog::new();
    Side { log, name }
}

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

fn event(number: i64) -> NewEvent {
    let event = Event::EmergencyStopCleared(EmergencyStopCleared {
        cleared_by: format!("operator {number}"),
    });
    event.encode(Timestamp::from_micros(number)).unwrap()
}

async fn write(side: &Side<MemoryLog>, expected: u64, numbers: std::ops::Range<i64>) {
    let request = AppendRequest {
        assistant: alice(),
        expected: Seq(expected),
        events: numbers.map(event).collect(),
    };
    side.log.append(request).await.unwrap();
}

async fn copied(from: &Side<MemoryLog>, to: &Side<MemoryLog>) -> Result<(u64, u64), CopyError> {
    let copied = copy(from, to, &alice(), &mut Kinds::default()).await?;
    assert_eq!(from.log.events(&alice()), to.log.events(&alice()));
    Ok((copied.events.0, copied.new))
}

#[tokio::test]
async fn a_life_is_the_same_there_and_back_and_only_what_is_new_is_written() {
    let (here, there) = (side("here"), side("there"));
    write(&here, 0, 0..1_300).await;
    assert_eq!(copied(&here, &there).await.unwrap(), (1_300, 1_300));
    let appends = there.log.appends();
    assert_eq!(copied(&here, &there).await.unwrap(), (1_300, 0));
    assert_eq!(there.log.appends(), appends);
    write(&there, 1_300, 0..5).await;
    assert_eq!(copied(&there, &here).await.unwrap(), (1_305, 5));
}

#[tokio::test]
async fn a_copy_that_failed_goes_on_where_it_stopped() {
    let (here, there) = (side("here"), side("there"));
    write(&here, 0, 0..1_300).await;
    there.log.close_after(1);
    let failed = copied(&here, &there).await.unwrap_err();
    assert!(
        matches!(
            &failed,
            CopyError::Write {
                written: Seq(512),
                ..
            }
        ),
        "{failed}"
    );
    there.log.reopen();
    there.log.lose_next_answers(1);
    assert_eq!(copied(&here, &there).await.unwrap(), (1_300, 788));
    there.log.fail_next_appends(9, AppendErrorKind::Unknown);
    write(&here, 1_300, 0..1).await;
    assert!(copied(&here, &there).await.is_err());
}

#[tokio::test]
async fn lives_that_went_on_in_both_places_are_not_mixed() {
    let (here, there) = (side("here"), side("there"));
    write(&here, 0, 0..600).await;
    copied(&here, &there).await.unwrap();
    write(&here, 600, 0..2).await;
    write(&there, 600, 7..8).await;
    let diverged = copied(&here, &there).await.unwrap_err();
    let CopyError::Diverged { at: Seq(601), .. } = diverged else {
        panic!("{diverged}");
    };
    assert_eq!(there.log.events(&alice()).len(), 601);

    let (here, there) = (side("here"), side("there"));
    write(&here, 0, 0..3).await;
    write(&there, 0, 0..700).await;
    let older = copied(&here, &there).await.unwrap_err();
    let CopyError::Older {
        ours: Seq(3),
        theirs: Seq(700),
        ..
    } = older
    else {
        panic!("{older}");
    };
}
