//! The one table of scenarios, and what the first way's answers must show: that all ways are alike is worth nothing if
//! all of them fail.

use a2a_layers::operation::OperationKind as Op;
use serde_json::{Value, json};

use crate::{
    place::Place,
    request::Ask,
    scenario::{Scenario, Step, ask, scenario},
};

pub(crate) const EXTENSION: &str = "https://ext.example/offered";
pub(crate) const REQUIRED: &str = "https://ext.example/required";

const FILE: &str = "AP8Q/w==";

fn message(parts: Value) -> Value {
    json!({ "messageId": "m-1", "role": "ROLE_USER", "parts": parts })
}

fn script(script: &str) -> Value {
    json!({ "message": message(json!([{ "text": script }])) })
}

/// The same with something else in the message, or beside it.
fn with(mut params: Value, path: &str, value: impl Into<Value>) -> Value {
    let (object, member) = path.rsplit_once('/').expect("a path");
    if object == "/configuration" && params.get("configuration").is_none() {
        params["configuration"] = json!({});
    }
    params.pointer_mut(object).expect("an object")[member] = value.into();
    params
}

fn without(mut params: Value, path: &str) -> Value {
    let (object, member) = path.rsplit_once('/').expect("a path");
    params.pointer_mut(object).and_then(Value::as_object_mut).expect("an object").remove(member);
    params
}

fn send(params: Value) -> Ask {
    ask(Op::SendMessage, with(params, "/configuration/returnImmediately", false))
}

fn at_once(params: Value) -> Ask {
    ask(Op::SendMessage, with(params, "/configuration/returnImmediately", true))
}

fn stream(params: Value) -> Ask {
    ask(Op::SendStreamingMessage, params)
}

fn get(id: &str) -> Ask {
    ask(Op::GetTask, json!({ "id": id }))
}

fn cancel(id: &str) -> Ask {
    ask(Op::CancelTask, json!({ "id": id }))
}

fn subscribe(id: &str) -> Ask {
    ask(Op::SubscribeToTask, json!({ "id": id }))
}

fn list(params: Value) -> Ask {
    ask(Op::ListTasks, params)
}

fn push(op: Op) -> Ask {
    let params = match op {
        Op::CreatePushConfig => json!({ "taskId": "t-1", "url": "https://hooks.example/" }),
        Op::ListPushConfigs => json!({ "taskId": "t-1" }),
        _ => json!({ "taskId": "t-1", "id": "c-1" }),
    };
    ask(op, params)
}

pub(crate) fn table() -> Vec<Scenario> {
    [
        sends(),
        turns(),
        parts(),
        streams(),
        subscriptions(),
        cancels(),
        lists(),
        cards_and_push(),
        refusals(),
        others(),
        retries(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sends() -> Vec<Scenario> {
    vec![
        scenario("a send that ends in a task", [send(script("done")).into()], ["task COMPLETED"]),
        scenario("a send that ends in a message", [send(script("message")).into()], ["message"]),
        scenario("a message to a caller that does not wait", [at_once(script("message")).into()], ["message"]),
        scenario(
            "a conversation that the caller names",
            [send(with(script("done"), "/message/contextId", "c-1")).into()],
            ["task COMPLETED"],
        ),
        scenario("the agent rejects", [send(script("reject")).into()], ["task REJECTED"]),
        scenario("the agent fails", [send(script("fail")).into()], ["task FAILED"]),
        scenario("the agent fails late", [send(script("fail late")).into()], ["task FAILED"]),
        scenario("the agent panics", [send(script("panic")).into()], ["task FAILED"]),
        scenario("the agent refuses", [send(script("refuse")).into()], ["error ContentTypeNotSupported"]),
        scenario("the agent refuses late", [send(script("refuse late")).into()], ["task FAILED"]),
        scenario(
            "the agent needs a login",
            [
                at_once(script("auth")).into(),
                Step::Until(0, "AUTH_REQUIRED"),
                get("$0").into(),
                Step::Release,
                Step::Until(0, "COMPLETED"),
            ],
            ["task", "task AUTH_REQUIRED"],
        )
        .active(&[0]),
        scenario(
            "lengths of the history of an answer",
            [1, 5].map(|length| send(with(script("done"), "/configuration/historyLength", length)).into()),
            ["task COMPLETED"; 2],
        ),
        scenario(
            "lengths of the history of a task",
            [
                send(script("ask")).into(),
                send(with(script("done"), "/message/taskId", "$0")).into(),
                get("$0").into(),
                ask(Op::GetTask, json!({ "id": "$0", "historyLength": 1 })).into(),
            ],
            ["task INPUT_REQUIRED", "task COMPLETED", "task COMPLETED", "task COMPLETED"],
        ),
        scenario(
            "an answer without history",
            [send(with(script("done"), "/configuration/historyLength", 0)).into()],
            ["task COMPLETED"],
        ),
        scenario(
            "a task without history",
            [
                send(with(script("done"), "/configuration/historyLength", 0)).into(),
                ask(Op::GetTask, json!({ "id": "$0", "historyLength": 0 })).into(),
            ],
            ["task COMPLETED", "task COMPLETED"],
        ),
        scenario(
            "a send that does not wait",
            [
                at_once(script("wait")).into(),
                Step::Until(0, "WORKING"),
                get("$0").into(),
                Step::Release,
                Step::Until(0, "COMPLETED"),
                get("$0").into(),
            ],
            ["task", "task WORKING", "task COMPLETED"],
        )
        .active(&[0]),
        scenario(
            "a send that does not say whether it waits",
            [ask(Op::SendMessage, script("wait")).begun(), Step::Release, Step::End],
            ["task COMPLETED"],
        ),
    ]
}

fn turns() -> Vec<Scenario> {
    vec![
        scenario(
            "three turns on a task",
            [
                send(script("ask")).into(),
                send(with(script("ask"), "/message/taskId", "$0")).into(),
                send(with(with(script("done"), "/message/taskId", "$0"), "/message/contextId", "$0.context")).into(),
                get("$0").into(),
            ],
            ["task INPUT_REQUIRED", "task INPUT_REQUIRED", "task COMPLETED", "task COMPLETED"],
        ),
        scenario(
            "a second task of a conversation",
            [send(script("done")).into(), send(with(script("who"), "/message/contextId", "$0.context")).into()],
            ["task COMPLETED", "task COMPLETED"],
        ),
        scenario(
            "a task of another conversation",
            [
                send(script("ask")).into(),
                send(with(with(script("done"), "/message/taskId", "$0"), "/message/contextId", "other")).into(),
            ],
            ["task INPUT_REQUIRED", "error InvalidParams"],
        ),
        scenario(
            "a task that is referred to",
            [send(script("done")).into(), send(with(script("who"), "/message/referenceTaskIds", json!(["$0"]))).into()],
            ["task COMPLETED", "task COMPLETED"],
        ),
    ]
}

fn parts() -> Vec<Scenario> {
    let echo = |part: Value| send(json!({ "message": message(json!([{ "text": "echo" }, part])) }));
    let one = |name, part: Value| scenario(name, [echo(part).into()], ["task COMPLETED"]);
    vec![
        one("text comes back", json!({ "text": "漢字 <b>&\n\u{2028}\"" })),
        one("a file inline", json!({ "raw": FILE, "mediaType": "a/b", "filename": "n.bin" })),
        one(
            "a file by URL",
            json!({ "url": "https://files.example/a?b=c#d", "mediaType": "a/b", "filename": "n.bin" }),
        ),
        one("a file that has no name", json!({ "url": "https://files.example/a" })),
        one("data", json!({ "data": { "a": [1, 2.5, null, true, "漢"], "b": { "c": {} } } })),
        one("data that is a list", json!({ "data": [1, "two", null] })),
        one("data that is a number", json!({ "data": 0.25 })),
        one("data that is nothing", json!({ "data": null })),
        one("metadata of a part", json!({ "text": "x", "metadata": { "a": { "b": [1] } } })),
        one("nulls and what is empty in metadata", json!({ "text": "x", "metadata": { "a": {}, "b": null, "c": [] } })),
        one("a name and a type for text", json!({ "text": "x", "mediaType": "text/x", "filename": "x.txt" })),
        scenario(
            "metadata and extensions of a message and of a send",
            [send(with(
                with(
                    with(script("who"), "/message/metadata", json!({ "a": 1 })),
                    "/message/extensions",
                    json!([EXTENSION]),
                ),
                "/metadata",
                json!({ "b": [2] }),
            ))
            .into()],
            ["task COMPLETED"],
        ),
        scenario("data of the agent that is a list", [send(script("list data")).into()], ["task COMPLETED"]),
        scenario("data of the agent that is nothing", [send(script("null data")).into()], ["task COMPLETED"]),
        scenario("an artifact without parts", [send(script("no parts")).into()], ["task COMPLETED"]),
        scenario("lines of all sorts", [send(script("lines")).into()], ["task COMPLETED"]),
    ]
}

fn streams() -> Vec<Scenario> {
    let one = |name, text: &str, shows: &'static str| scenario(name, [stream(script(text)).into()], [shows]);
    vec![
        one("a stream of one artifact", "done", "task statusUpdate artifactUpdate statusUpdate"),
        one(
            "a stream of pieces",
            "chunks",
            "task statusUpdate artifactUpdate artifactUpdate artifactUpdate statusUpdate",
        ),
        one("a stream that is a message", "message", "message"),
        one("a stream that asks back", "ask", "task statusUpdate statusUpdate"),
        one("a stream that is rejected", "reject", "task statusUpdate statusUpdate"),
        one("a stream of a run that fails", "fail", "task statusUpdate statusUpdate"),
        one("a stream of a run that fails late", "fail late", "task statusUpdate statusUpdate statusUpdate"),
        one("a stream of a run that panics late", "panic late", "task statusUpdate statusUpdate statusUpdate"),
        one("a stream that is refused", "refuse", "error ContentTypeNotSupported"),
        scenario(
            "a stream that waits",
            [stream(script("wait")).begun(), Step::Release, Step::End],
            ["task statusUpdate statusUpdate artifactUpdate statusUpdate"],
        ),
        scenario(
            "a stream on a task that waits",
            [
                send(script("ask")).into(),
                stream(with(script("done"), "/message/taskId", "$0")).into(),
                get("$0").into(),
            ],
            ["task INPUT_REQUIRED", "task artifactUpdate statusUpdate", "task COMPLETED"],
        ),
    ]
}

fn subscriptions() -> Vec<Scenario> {
    let from = |cursor: &str| subscribe("$0").header("last-event-id", cursor);
    let followed = |name, asked: Ask, shows: &'static str| {
        scenario(
            name,
            [at_once(script("wait")).into(), Step::Until(0, "WORKING"), asked.begun(), Step::Release, Step::End],
            ["task", shows],
        )
        .active(&[0])
    };
    vec![
        followed(
            "a subscription from the first event",
            from("0"),
            "task statusUpdate statusUpdate artifactUpdate statusUpdate",
        ),
        followed("a subscription from an event on", from("2"), "task statusUpdate artifactUpdate statusUpdate"),
        followed("a subscription without a cursor", subscribe("$0"), "task artifactUpdate statusUpdate"),
        scenario(
            "cursors that are none",
            [
                at_once(script("wait")).into(),
                Step::Until(0, "WORKING"),
                from("99").into(),
                from("x").into(),
                Step::Release,
                Step::Until(0, "COMPLETED"),
            ],
            ["task", "error InvalidParams", "error InvalidParams"],
        )
        .active(&[0]),
        scenario("a subscription to what is not there", [subscribe("t-9").into()], ["error TaskNotFound"]),
        scenario(
            "a subscription to what is over",
            [send(script("done")).into(), subscribe("$0").into()],
            ["task COMPLETED", "error UnsupportedOperation"],
        ),
    ]
}

fn cancels() -> Vec<Scenario> {
    vec![
        scenario(
            "a cancel, and another one",
            [
                at_once(script("wait")).into(),
                Step::Until(0, "WORKING"),
                cancel("$0").into(),
                cancel("$0").into(),
                get("$0").into(),
            ],
            ["task", "task CANCELED", "error TaskNotCancelable", "task CANCELED"],
        )
        .active(&[0]),
        scenario(
            "a cancel of what waits for the caller",
            [send(script("ask")).into(), cancel("$0").into()],
            ["task INPUT_REQUIRED", "task CANCELED"],
        ),
        scenario(
            "a cancel of what is over",
            [send(script("done")).into(), cancel("$0").into()],
            ["task COMPLETED", "error TaskNotCancelable"],
        ),
        scenario("a cancel of what is not there", [cancel("t-9").into()], ["error TaskNotFound"]),
        scenario(
            "a cancel ends streams",
            [
                at_once(script("wait")).into(),
                Step::Until(0, "WORKING"),
                subscribe("$0").header("last-event-id", "0").begun(),
                cancel("$0").into(),
                Step::End,
            ],
            ["task", "task CANCELED", "task statusUpdate statusUpdate statusUpdate"],
        )
        .active(&[0]),
    ]
}

fn lists() -> Vec<Scenario> {
    let owned = |owner: &'static str, text: &str, context: &str| {
        send(with(script(text), "/message/contextId", context)).by(owner)
    };
    let three = |owner: &'static str, rest: Vec<Ask>| {
        let sent = [owned(owner, "done", "c-1"), owned(owner, "ask", "c-1"), owned(owner, "done", "c-2")];
        sent.into_iter().chain(rest.into_iter().map(|ask| ask.by(owner))).map(Step::from).collect::<Vec<_>>()
    };
    let sent = ["task COMPLETED", "task INPUT_REQUIRED", "task COMPLETED"];
    let shows = |rest: &[&'static str]| [&sent, rest].concat();
    vec![
        scenario("a list of nothing", [list(json!({})).by("nobody").into()], ["tasks 0"]),
        scenario("a list of everything", three("lister", vec![list(json!({}))]), shows(&["tasks 3"])),
        scenario(
            "lists that are filtered",
            three(
                "filterer",
                vec![
                    list(json!({ "contextId": "c-1" })),
                    list(json!({ "status": "TASK_STATE_COMPLETED" })),
                    list(json!({ "contextId": "c-1", "status": "TASK_STATE_INPUT_REQUIRED" })),
                    list(json!({ "statusTimestampAfter": "2000-01-01T00:00:00Z" })),
                    list(json!({ "statusTimestampAfter": "2099-01-01T00:00:00Z" })),
                    list(json!({ "includeArtifacts": true })),
                    list(json!({ "historyLength": 0 })),
                ],
            ),
            shows(&["tasks 2", "tasks 2", "tasks 1", "tasks 3", "tasks 0", "tasks 3", "tasks 3"]),
        ),
        scenario(
            "lists in pages",
            three(
                "pager",
                vec![list(json!({ "pageSize": 2 })), list(json!({ "pageSize": 2, "pageToken": "$3.token" }))],
            ),
            shows(&["tasks 2", "tasks 1"]),
        ),
        scenario(
            "pages that there are none of",
            [
                list(json!({ "pageSize": 0 })).into(),
                list(json!({ "pageSize": 101 })).into(),
                list(json!({ "pageToken": "none" })).into(),
                list(json!({ "historyLength": -1 })).into(),
            ],
            ["error InvalidParams"; 4],
        ),
    ]
}

fn cards_and_push() -> Vec<Scenario> {
    let of = [Op::CreatePushConfig, Op::GetPushConfig, Op::ListPushConfigs, Op::DeletePushConfig];
    let webhook = json!({ "url": "https://hooks.example/" });
    vec![
        scenario("the extended card", [ask(Op::GetExtendedAgentCard, json!({})).into()], ["card"]),
        scenario(
            "an extended card that is not set",
            [ask(Op::GetExtendedAgentCard, json!({})).header("a2a-extensions", REQUIRED).into()],
            ["error ExtendedAgentCardNotConfigured"],
        )
        .at(Place::Bare),
        scenario(
            "an extended card that is not offered",
            [ask(Op::GetExtendedAgentCard, json!({})).into()],
            ["error UnsupportedOperation"],
        )
        .at(Place::Busy),
        scenario("webhooks", of.map(|op| push(op).into()), ["error PushNotificationNotSupported"; 4]),
        scenario(
            "a send with a webhook",
            [send(with(script("done"), "/configuration/taskPushNotificationConfig", webhook)).into()],
            ["error PushNotificationNotSupported"],
        ),
    ]
}

fn refusals() -> Vec<Scenario> {
    let refused = |name, ask: Ask, shows: &'static str| scenario(name, [ask.into()], [shows]);
    let invalid = |name, params: Value| {
        scenario(name, [send(params.clone()).into(), stream(params).into()], ["error InvalidParams"; 2])
    };
    vec![
        refused("a task that is not there", get("t-9"), "error TaskNotFound"),
        refused(
            "a message to a task that is not there",
            send(with(script("done"), "/message/taskId", "t-9")),
            "error TaskNotFound",
        ),
        scenario(
            "a message to a task that is over",
            [
                send(script("done")).into(),
                send(with(script("done"), "/message/taskId", "$0")).into(),
                stream(with(script("done"), "/message/taskId", "$0")).into(),
            ],
            ["task COMPLETED", "error UnsupportedOperation", "error UnsupportedOperation"],
        ),
        invalid("no message", json!({})),
        invalid("no parts", json!({ "message": message(json!([])) })),
        invalid("no id", without(script("done"), "/message/messageId")),
        invalid("no role", without(script("done"), "/message/role")),
        invalid("a length below nothing", with(script("done"), "/configuration/historyLength", -1)),
        refused(
            "a task's history below nothing",
            ask(Op::GetTask, json!({ "id": "t-9", "historyLength": -1 })),
            "error InvalidParams",
        ),
        refused("an id that is empty", get(""), "error InvalidParams"),
        refused("a version that there is not", get("t-9").header("a2a-version", "9.9"), "error VersionNotSupported"),
        refused("a message that is too large", send(script(&"x".repeat(100 << 10))), "error PayloadTooLarge"),
        refused("too many at once", send(script("done")), "task COMPLETED").at(Place::Busy),
        scenario(
            "one too many at once",
            [
                at_once(script("wait")).into(),
                Step::Until(0, "WORKING"),
                send(script("done")).into(),
                Step::Release,
                Step::Until(0, "COMPLETED"),
            ],
            ["task", "error Overloaded"],
        )
        .active(&[0])
        .at(Place::Busy),
        scenario(
            "streams that are not offered",
            [stream(script("done")), subscribe("t-9")].map(|ask| ask.header("a2a-extensions", REQUIRED).into()),
            ["error UnsupportedOperation"; 2],
        )
        .at(Place::Bare),
        refused("an extension that is required", send(script("done")), "error ExtensionSupportRequired")
            .at(Place::Bare),
        refused(
            "a media type that is not taken",
            send(
                json!({ "message": message(json!([{ "url": "https://files.example/a", "mediaType": "image/png" }])) }),
            )
            .header("a2a-extensions", REQUIRED),
            "error ContentTypeNotSupported",
        )
        .at(Place::Bare),
    ]
}

fn others() -> Vec<Scenario> {
    let modes = |modes: Value| send(with(script("who"), "/configuration/acceptedOutputModes", modes));
    vec![
        scenario(
            "extensions that are activated",
            [
                send(script("who")).header("a2a-extensions", EXTENSION).into(),
                send(script("who")).header("a2a-extensions", "https://ext.example/unknown").into(),
                stream(script("done")).header("a2a-extensions", EXTENSION).into(),
            ],
            ["task COMPLETED", "task COMPLETED", "task statusUpdate artifactUpdate statusUpdate"],
        ),
        scenario(
            "a required extension that is activated",
            [send(script("done")).header("a2a-extensions", REQUIRED).into()],
            ["task COMPLETED"],
        )
        .at(Place::Bare),
        scenario(
            "accepted output modes",
            [
                modes(json!(["application/json"])).into(),
                modes(json!(["*/*"])).into(),
                modes(json!(["text/plain"])).into(),
            ],
            ["task COMPLETED", "task COMPLETED", "error ContentTypeNotSupported"],
        ),
        scenario(
            "owners see their own tasks alone",
            [
                send(script("ask")).by("alice").into(),
                get("$0").by("alice").into(),
                get("$0").by("bob").into(),
                cancel("$0").by("bob").into(),
                subscribe("$0").by("bob").into(),
                send(with(script("done"), "/message/taskId", "$0")).by("bob").into(),
                send(with(script("who"), "/message/taskId", "$0")).by("alice").into(),
            ],
            [
                "task INPUT_REQUIRED",
                "task INPUT_REQUIRED",
                "error TaskNotFound",
                "error TaskNotFound",
                "error TaskNotFound",
                "error TaskNotFound",
                "task COMPLETED",
            ],
        ),
        scenario(
            "headers reach the agent",
            [send(script("who")).header("traceparent", "00-1-2-01").into()],
            ["task COMPLETED"],
        ),
    ]
}

fn retries() -> Vec<Scenario> {
    let again = |params: Value, id: &str| with(params, "/message/messageId", id);
    let turn = |text: &str, id: &str| with(again(script(text), id), "/message/taskId", "$0");
    vec![
        scenario(
            "a message that comes again",
            [
                stream(again(script("done"), "r-1")).into(),
                stream(again(script("done"), "r-1")).into(),
                send(again(script("done"), "r-1")).into(),
                at_once(again(script("done"), "r-1")).into(),
            ],
            [
                "task statusUpdate artifactUpdate statusUpdate",
                "task statusUpdate artifactUpdate statusUpdate",
                "task COMPLETED",
                "task COMPLETED",
            ],
        )
        .at(Place::Retries),
        scenario(
            "a turn that comes again",
            [
                send(again(script("ask"), "r-2")).into(),
                send(turn("done", "r-3")).into(),
                send(turn("done", "r-3")).into(),
                stream(turn("done", "r-3")).into(),
                send(again(script("ask"), "r-2")).into(),
                get("$0").into(),
            ],
            [
                "task INPUT_REQUIRED",
                "task COMPLETED",
                "task COMPLETED",
                "task artifactUpdate statusUpdate",
                "task COMPLETED",
                "task COMPLETED",
            ],
        )
        .at(Place::Retries),
        scenario(
            "an id that comes again for another message",
            [
                send(again(script("done"), "r-4")).into(),
                send(again(script("ask"), "r-4")).into(),
                stream(again(script("ask"), "r-4")).into(),
            ],
            ["task COMPLETED", "error InvalidParams", "error InvalidParams"],
        )
        .at(Place::Retries),
        scenario(
            "what came to nothing comes again",
            [send(again(script("refuse"), "r-5")).into(), send(again(script("message"), "r-6")).into()]
                .into_iter()
                .cycle()
                .take(4)
                .collect::<Vec<Step>>(),
            ["error ContentTypeNotSupported", "message", "error ContentTypeNotSupported", "message"],
        )
        .at(Place::Retries),
    ]
}
