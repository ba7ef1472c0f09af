//! B001 to B016: packages, versions, mounts.

use a2a_layers::{
    error::BoxError,
    operation::ProtocolVersion,
    part::Input,
    server::{ConfigError, Mount, Mounts, Settings},
};
use http::Request;
use hyper::body::Incoming;
use serde_json::json;
use tower::service_fn;

use crate::support::{ALL, BREAD, BREAD_0_3, BREAD_1_0, Op, STRICT_0_3, Script, World, bread, strict};

#[tokio::test]
async fn b001_an_agent_has_a_card_and_answers() {
    let world = World::six().await;
    for talk in BREAD {
        assert_eq!(world.card(talk).await["name"], "scripted");
        let result = world.ok(talk, Op::Send, talk.says("hi")).await;
        assert_eq!(talk.sent_message(&result)["parts"], json!([talk.text("you said: hi")]));
    }
}

#[tokio::test]
async fn b002_the_service_is_bound_to_no_framework() {
    // No SDK of the protocol and no web framework is among the dependencies,
    let manifest = include_str!("../../Cargo.toml");
    let (_, rest) = manifest.split_once("[dependencies]\n").unwrap();
    let (dependencies, _) = rest.split_once("\n[").unwrap();
    let names: Vec<_> = dependencies.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    assert!(names.contains(&"tower-service"), "{names:?}");
    for foreign in ["axum", "actix-web", "warp", "a2a", "a2a-server", "a2a-types"] {
        assert!(!names.contains(&foreign), "{foreign}");
    }
    // and the same service runs with two kinds of bodies: under hyper, and called as a plain tower service.
    let script = Script::new();
    let over_hyper = World::sockets(script.clone(), bread(BREAD_0_3, &script).build::<Incoming>().unwrap()).await;
    let plain = World::one(&script, bread(BREAD_0_3, &script).build().unwrap());
    for world in [over_hyper, plain] {
        assert_eq!(world.parts(BREAD_0_3, "hi").await[0]["text"], "you said: hi");
    }
}

#[tokio::test]
async fn b003_one_call_makes_a_server() {
    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, BoxError>(format!("you said: {}", request.body().text()))
    });
    let service = Mount::new("echo", agent).build::<Incoming>().unwrap();
    let world = World::sockets(Script::new(), service).await;
    let root = crate::support::Talk { path: "/", ..STRICT_0_3 };
    let task = world.task(root, "hi").await;
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "you said: hi");
}

#[tokio::test]
async fn b004_each_mount_has_its_own_version() {
    let world = World::six().await;
    let (old, new) = (BREAD_0_3.says("hi"), BREAD_1_0.says("hi"));
    assert_eq!(world.ok(BREAD_0_3, Op::Send, old.clone()).await["kind"], "message");
    assert_eq!(world.ok(BREAD_1_0, Op::Send, new.clone()).await["message"]["role"], "ROLE_AGENT");
    assert_eq!(world.call(BREAD_0_3, "SendMessage", new).await.code(), -32601);
    assert_eq!(world.call(BREAD_1_0, "message/send", old).await.code(), -32601);
}

#[tokio::test]
async fn b005_without_a_version_it_is_0_3() {
    let script = Script::new();
    let world = World::one(&script, strict(&script).build().unwrap());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"hi"}],"messageId":"m1","kind":"message"}}}"#;
    let answer = world.post("/strict", &[], body).await;
    assert_eq!(answer.json()["result"]["kind"], "task");
    let body = body.replace("message/send", "SendMessage");
    assert_eq!(world.post("/strict", &[], body).await.code(), -32601);
}

#[tokio::test]
async fn b006_agent_url_card_path_and_version_are_options() {
    let script = Script::new();
    let service = Mount::new("support-bot", script.agent())
        .url("https://api.example.com/a2a")
        .settings(Settings::bread(ProtocolVersion::V0_3).card_path("/.well-known/agent-card.json"))
        .build()
        .unwrap();
    assert_eq!(service.id(), "support-bot");
    assert_eq!(service.paths(), ["/a2a", "/.well-known/agent-card.json"]);
    let world = World::one(&script, service);
    assert_eq!(world.card(STRICT_0_3).await["url"], "https://api.example.com/a2a");
    assert_eq!(world.parts(BREAD_0_3, "hi").await[0]["text"], "you said: hi");
}

#[tokio::test]
async fn b007_how_0_3_looks() {
    let world = World::six().await;
    let message = world.ok(BREAD_0_3, Op::Send, BREAD_0_3.says("hi")).await;
    assert_eq!((&message["kind"], &message["role"]), (&json!("message"), &json!("agent")));
    assert_eq!(message["parts"], json!([{ "kind": "text", "text": "you said: hi" }]));
    let task = world.ok(BREAD_0_3, Op::Get, json!({ "id": message["taskId"] })).await;
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
}

#[tokio::test]
async fn b008_how_1_0_looks() {
    let world = World::six().await;
    let result = world.ok(BREAD_1_0, Op::Send, BREAD_1_0.says("hi")).await;
    let message = &result["message"];
    assert_eq!(message["role"], "ROLE_AGENT");
    assert_eq!(message["parts"], json!([{ "text": "you said: hi" }]));
    let task = world.ok(BREAD_1_0, Op::Get, json!({ "id": message["taskId"] })).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    for object in [message, &task] {
        assert!(object.get("kind").is_none(), "{object}");
    }
}

#[tokio::test]
async fn b010_a_card_path_is_demanded() {
    for version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        let mount = Mount::new("a", Script::new().agent()).settings(Settings::bread(version));
        let error = mount.build::<Incoming>().unwrap_err();
        assert!(matches!(error, ConfigError::NoCardPath), "{error}");
        assert!(error.to_string().contains("card path"), "{error}");
    }
}

#[tokio::test]
async fn b011_the_card_is_at_the_card_path_and_nowhere_else() {
    let script = Script::new();
    let world = World::one(&script, bread(BREAD_1_0, &script).build().unwrap());
    assert_eq!(world.card(BREAD_1_0).await["name"], "scripted");
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json", "/.well-known/agent-card-v1.json/"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn b012_two_versions_and_two_agents_live_in_one_process() {
    let (one, other) = (Script::new(), Script::new());
    let elsewhere = crate::support::Talk { path: "/other", card: "/other/card.json", ..BREAD_0_3 };
    let mounts = [(BREAD_0_3, &one), (BREAD_1_0, &one), (elsewhere, &other)].into_iter();
    let mounts = mounts.fold(Mounts::new(), |mounts, (talk, script)| {
        let settings = Settings::bread(if talk.new { ProtocolVersion::V1_0 } else { ProtocolVersion::V0_3 });
        let mount = Mount::new(talk.path.trim_matches('/'), script.agent())
            .url(format!("http://agents.example{}", talk.path))
            .settings(settings.card_path(talk.card));
        mounts.mount(mount.build().unwrap()).unwrap()
    });
    let world = World::sockets(one.clone(), mounts).await;
    for talk in [BREAD_0_3, BREAD_1_0, elsewhere] {
        assert_eq!(world.parts(talk, "hi").await[0]["text"], "you said: hi", "{talk:?}");
        assert_eq!(world.card(talk).await["name"], talk.path.trim_matches('/'));
    }
    assert_eq!((one.seen().len(), other.seen().len()), (2, 1));
}

#[tokio::test]
async fn b013_mounts_do_not_get_in_each_others_way() {
    let world = World::six().await;
    let mut ids = Vec::new();
    for talk in ALL {
        let url = format!("http://agents.example{}", talk.path);
        let card = world.card(talk).await;
        let stated = if talk.negotiated {
            card["supportedInterfaces"].as_array().unwrap().iter().all(|interface| interface["url"] == *url)
        } else if talk.new {
            card["supportedInterfaces"][0]["url"] == *url
        } else {
            card["url"] == *url
        };
        assert!(stated, "{card}");
        let mut stream = world.stream(talk, "hi").await;
        ids.push((talk, stream.one().await.task_id()));
    }
    for (talk, id) in &ids {
        for (other, other_id) in &ids {
            let params = json!({ "id": other_id });
            if talk.path == other.path {
                assert_eq!(world.ok(*talk, Op::Get, params).await["id"], **other_id);
            } else {
                assert_eq!(world.code(*talk, Op::Get, params).await, -32001, "{id} {other_id}");
            }
        }
    }
}

#[tokio::test]
async fn b014_a_card_path_that_is_taken_is_an_error_with_both_names() {
    let build = |id: &str, path: &str| {
        let settings = Settings::bread(ProtocolVersion::V0_3).card_path("/.well-known/agent-card.json");
        let url = format!("http://agents.example{path}");
        Mount::new(id, Script::new().agent()).url(url).settings(settings).build::<Incoming>().unwrap()
    };
    let mounts = Mounts::new().mount(build("first", "/one")).unwrap();
    let error = mounts.mount(build("second", "/two")).unwrap_err();
    let words = error.to_string();
    for part in ["first", "second", "/.well-known/agent-card.json"] {
        assert!(words.contains(part), "{words}");
    }
    // It holds in every profile.
    for settings in [Settings::strict(), Settings::strict_1_0(), Settings::strict_0_3(), Settings::vibes()] {
        let build = |path: &str| {
            let url = format!("http://agents.example{path}");
            Mount::new("x", Script::new().agent()).url(url).settings(settings.clone()).build::<Incoming>().unwrap()
        };
        assert!(matches!(
            Mounts::new().mount(build("/one")).unwrap().mount(build("/two")),
            Err(ConfigError::PathTaken { .. })
        ));
    }
}

#[tokio::test]
async fn b015_a_single_mount_has_its_card_where_clients_look() {
    let script = Script::new();
    let mount = Mount::new("only", script.agent());
    let world = World::one(&script, mount.build().unwrap());
    let card = world.get("/.well-known/agent-card.json").await;
    assert_eq!((card.status.as_u16(), &card.json()["name"]), (200, &json!("only")));
}

#[tokio::test]
async fn b016_which_version_a_caller_targets_is_its_own_choice() {
    let world = World::six().await;
    for (version, method, params, kind) in [
        ("0.3", "message/send", STRICT_0_3.says("hi"), "/result/kind"),
        ("1.0", "SendMessage", BREAD_1_0.says("hi"), "/result/task/id"),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer = world.post("/strict", &[("A2A-Version", version)], body).await;
        assert!(answer.json().pointer(kind).is_some(), "{answer:?}");
    }
}
