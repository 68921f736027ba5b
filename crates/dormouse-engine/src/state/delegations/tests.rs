use dormouse_contracts::{Audience, Trust};

use super::super::{State, Trigger};
use super::*;
use crate::{
    decide::{OverBudget, reserve_for_server},
    event::{
        ContextType, DelegatedWords, EndedBy, StopReason, TaskAnswered, TaskOutcome, TaskReceived,
        TickEnded, TickStarted,
    },
    execution::Insulation,
};

fn task(number: usize) -> DelegatedTask {
    DelegatedTask {
        key: EffectKey::try_new(format!("mole/1/{number}")).unwrap(),
        chain: vec![AssistantId::try_new("mole").unwrap()],
        task: DelegatedWords {
            text: "count the boats".to_owned(),
            trust: Trust::FULL,
            audience: Some(Audience::Public),
        },
        briefing: None,
        insulation: Insulation::Orchestrator,
        summarize: false,
        tokens: 1_000,
        quota: 1,
        expires_at: Timestamp::EPOCH,
    }
}

fn received(number: usize) -> Event {
    Event::TaskReceived(TaskReceived { task: task(number) })
}

fn answered(number: usize) -> Event {
    Event::TaskAnswered(TaskAnswered {
        key: task(number).key,
        outcome: TaskOutcome::Failed(DelegationFailure::NoResult),
        took: TaskCost::default(),
        sources: dormouse_contracts::Sources::default(),
    })
}

fn given(number: usize, root: Seq) -> Event {
    Event::TaskDelegated(TaskDelegated {
        call: "call_1_0".parse().unwrap(),
        to: None,
        tag: None,
        task: task(number),
        sources: dormouse_contracts::Sources::default(),
        briefing_sources: dormouse_contracts::Sources::default(),
        root,
        part_of: None,
        cost: None,
    })
}

fn ended(number: usize) -> Event {
    Event::DelegationEnded(DelegationEnded {
        key: task(number).key,
        by: EndedBy::Carrier,
        outcome: TaskOutcome::Failed(DelegationFailure::NoResult),
        took: Some(TaskCost::default()),
    })
}

fn apply(state: &mut State, event: &Event) -> Seq {
    let seq = state.seq.next();
    state.apply(seq, Timestamp::EPOCH, event);
    seq
}

fn begin_turn(state: &mut State, trigger: Seq) {
    let tick = state.counts.ticks + 1;
    let context = ContextType::TickEvent;
    let started = TickStarted {
        tick,
        context,
        trigger,
    };
    apply(state, &Event::TickStarted(started));
}

fn turn(state: &mut State, trigger: Seq) {
    begin_turn(state, trigger);
    let ended = TickEnded::new(StopReason::Noop, None);
    apply(state, &Event::TickEnded(ended));
}

#[test]
fn a_task_that_was_ever_taken_is_not_taken_again_and_its_answer_can_be_found() {
    let mut state = State::default();
    let mut ends = Vec::new();
    let many = Delegations::ENDED_KEPT + Delegations::KEYS_KEPT;
    for number in 0..many {
        apply(&mut state, &received(number));
        ends.push(apply(&mut state, &answered(number)));
    }
    let before = state.delegations.clone();
    for number in [0, 1, many / 2, many - 1] {
        apply(&mut state, &received(number));
        assert_eq!(state.turns.len(), 0, "{number} was done");
        let end = state.delegations.end_of_taken(&task(number).key);
        assert_eq!(end, Some(ends[number]));
    }
    assert_eq!(state.delegations, before);
    // However many come, the state stays small.
    for number in many..many + 200 {
        apply(&mut state, &received(number));
        apply(&mut state, &answered(number));
    }
    assert!(state.delegations.taken_before.len() <= Delegations::KEYS_KEPT);
    assert!(state.delegations.taken.len() <= Delegations::ENDED_KEPT + 1);
}

#[test]
fn a_result_is_known_by_its_task_until_its_turn_is_over() {
    let mut state = State::default();
    apply(&mut state, &given(0, Seq(1)));
    let result = apply(&mut state, &ended(0));
    // Others come and go meanwhile, each with its turn.
    for number in 1..200 {
        let root = Seq(1_000 + number as u64);
        apply(&mut state, &given(number, root));
        let end = apply(&mut state, &ended(number));
        turn(&mut state, end);
    }
    assert_eq!(state.turns.waiting().map(Trigger::seq).min(), Some(result));
    assert_eq!(state.delegations.root_of(result), Seq(1));
    assert_eq!(state.delegations.tasks_of_tree(Seq(1)), 1);
    turn(&mut state, result);
    for number in 200..202 {
        apply(&mut state, &given(number, Seq(5)));
        apply(&mut state, &ended(number));
    }
    assert_eq!(state.delegations.root_of(result), result, "it is over");
    assert!(state.delegations.given.len() <= Delegations::ENDED_KEPT + 3);
}

#[test]
fn a_request_of_a_server_is_paid_by_the_task_of_the_turn_under_way_and_never_exceeds_it() {
    let mut state = State::default();
    let key = task(0).key;
    let ask =
        |state: &State, prompt, reply| reserve_for_server(state, prompt, reply, Timestamp::EPOCH);
    let trigger = apply(&mut state, &received(0));
    assert_eq!(ask(&state, 300, 500), Ok(None), "no turn works on the task");
    begin_turn(&mut state, trigger);
    let all = ask(&state, 0, 5_000).unwrap().unwrap();
    assert_eq!(all.reply_tokens, 1_000, "what the task may take");

    let reserved = ask(&state, 300, 500).unwrap().unwrap();
    assert_eq!((reserved.tokens, reserved.reply_tokens), (800, 500));
    assert_eq!(reserved.by, ReservedBy::Server);
    apply(&mut state, &Event::CallReserved(reserved.clone()));
    let took = state.delegations.taken(&key).unwrap().took;
    assert_eq!(took.tokens, 800);
    let refused = OverBudget::Task {
        left: 200,
        needed: 201,
    };
    assert_eq!(ask(&state, 101, 100), Err(refused));
    assert_eq!(ask(&state, 100, 100).unwrap().unwrap().tokens, 200);

    // The smaller one of both budgets holds.
    let mut limited = state.clone();
    limited.configuration.settings.budgets.tokens.life = Some(900);
    let refused = ask(&limited, 100, 100).unwrap_err();
    assert!(matches!(refused, OverBudget::Assistant(_)), "{refused}");
    limited.configuration.settings.budgets.tokens.life = Some(100_000);
    let refused = ask(&limited, 101, 100).unwrap_err();
    assert!(matches!(refused, OverBudget::Task { .. }), "{refused}");

    // A call of a turn of its own replaces its reservation by the cost of the reply, so the reservation does not count.
    let mut own = reserved;
    own.by = ReservedBy::Turn;
    apply(&mut state, &Event::CallReserved(own));
    assert_eq!(state.delegations.taken(&key).unwrap().took, took);

    // The giver already knows what it took.
    apply(&mut state, &answered(0));
    assert_eq!(ask(&state, 1, 1), Err(OverBudget::TaskEnded));
    let ended = TickEnded::new(StopReason::Noop, None);
    apply(&mut state, &Event::TickEnded(ended));
    assert_eq!(ask(&state, 300, 500), Ok(None));
}
