//! V075 and V085 to V095: the same through every name, every entry and every store.

use hyper::body::Incoming;
use serde_json::json;

use crate::{
    support::{Ledger, Op, Script, VIBES, World, vibes},
    vibes_wire::{check_send, check_stream},
};

#[tokio::test]
async fn v075_what_each_method_is_answered_with() {
    let world = World::six().await;
    for method in ["message/send", "tasks/send"] {
        check_send(&world, method).await;
    }
    for method in ["message/stream", "tasks/sendSubscribe"] {
        check_stream(&world, method).await;
    }
    let mut stream = world.stream(VIBES, "wait").await;
    let id = json!({ "id": stream.one().await.task_id() });
    for op in [Op::Get, Op::Cancel] {
        assert_eq!(world.ok(VIBES, op, id.clone()).await["kind"], "task");
    }
}

/// A Vibes mount as a server or called by hand, with either store.
async fn mounted(by_hand: bool, own_store: bool) -> (World, Option<Ledger>) {
    let (script, store) = (Script::new(), Ledger::default());
    let world = match (by_hand, own_store) {
        (false, false) => World::sockets(script.clone(), vibes(&script).build::<Incoming>().unwrap()).await,
        (false, true) => {
            let service = vibes(&script).task_store(store.clone()).build::<Incoming>().unwrap();
            World::sockets(script.clone(), service).await
        }
        (true, false) => World::one(&script, vibes(&script).build().unwrap()),
        (true, true) => World::one(&script, vibes(&script).task_store(store.clone()).build().unwrap()),
    };
    (world, own_store.then_some(store))
}

/// Sends or streams under these names, as a server or by hand, with either store.
async fn mirror(sends: &[&str], streams: &[&str], by_hand: bool, own_store: bool) {
    let (world, store) = mounted(by_hand, own_store).await;
    for method in sends {
        check_send(&world, method).await;
    }
    for method in streams {
        check_stream(&world, method).await;
    }
    let count = sends.len() + streams.len();
    assert_eq!(world.script.seen().len(), count);
    assert_eq!(store.map_or(count, |store| store.tasks()), count);
}

macro_rules! mirrors {
    ($($name:ident: $sends:expr, $streams:expr, $by_hand:expr, $own_store:expr;)+) => {$(
        #[tokio::test]
        async fn $name() {
            mirror(&$sends, &$streams, $by_hand, $own_store).await;
        }
    )+};
}

const BY_HAND: bool = true;
const OWN_STORE: bool = true;

mirrors! {
    v085_tasks_send_as_a_server_in_memory: ["tasks/send"], [], !BY_HAND, !OWN_STORE;
    v086_tasks_send_as_a_server_in_another_store: ["tasks/send"], [], !BY_HAND, OWN_STORE;
    v087_tasks_send_by_hand_in_memory: ["tasks/send"], [], BY_HAND, !OWN_STORE;
    v088_tasks_send_by_hand_in_another_store: ["tasks/send"], [], BY_HAND, OWN_STORE;
    v089_tasks_send_subscribe_as_a_server_in_memory: [], ["tasks/sendSubscribe"], !BY_HAND, !OWN_STORE;
    v090_tasks_send_subscribe_as_a_server_in_another_store: [], ["tasks/sendSubscribe"], !BY_HAND, OWN_STORE;
    v091_tasks_send_subscribe_by_hand_in_memory: [], ["tasks/sendSubscribe"], BY_HAND, !OWN_STORE;
    v092_tasks_send_subscribe_by_hand_in_another_store: [], ["tasks/sendSubscribe"], BY_HAND, OWN_STORE;
    v093_both_by_hand_in_memory: ["message/send"], ["message/stream"], BY_HAND, !OWN_STORE;
    v094_both_as_a_server_in_another_store: ["message/send"], ["message/stream"], !BY_HAND, OWN_STORE;
    v095_both_by_hand_in_another_store: ["message/send"], ["message/stream"], BY_HAND, OWN_STORE;
}
