//! V001 to V023, V061 to V066, V073 and V074: an adapter, its options, its card, its store.

use std::sync::{Arc, Mutex};

use a2a_layers::{
    error::BoxError,
    part::Input,
    server::{Mount, Settings},
    task::MemoryTaskStore,
    types::{AgentProvider, AgentSkill},
};
use futures_util::FutureExt;
use http::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tower::{Service, ServiceExt, service_fn};

use crate::support::{Ledger, Op, Script, VIBES, World, vibes};

fn id(task: &Value) -> Value {
    json!({ "id": task["id"] })
}

/// The card of a bare mount, and of one with all that can be set.
async fn bare_card() -> Value {
    let mount = Mount::new("assistant", Script::new().agent()).settings(Settings::vibes());
    World::one(&Script::new(), mount.build().unwrap()).card(VIBES).await
}

async fn full_card() -> Value {
    let mut skill = AgentSkill::new("search", "Search", "Searches the web", "web");
    skill.examples = vec!["Find a bakery".to_owned()];
    let mount = Mount::new("assistant", Script::new().agent())
        .settings(Settings::vibes())
        .description("An assistant")
        .url("https://agents.example/")
        .skill(skill)
        .describe(|card| {
            card.name("Ann")
                .version("2.1.0")
                .provider(AgentProvider::new("Example", "https://example.com"))
                .documentation_url("https://example.com/docs")
                .icon_url("https://example.com/icon.png")
        });
    World::one(&Script::new(), mount.build().unwrap()).card(VIBES).await
}

#[tokio::test]
async fn v001_v002_a_client_discovers_sends_streams_gets_and_cancels() {
    let world = World::six().await;
    assert_eq!(world.card(VIBES).await["name"], "scripted");
    let task = world.task(VIBES, "hi").await;
    assert_eq!(world.state(VIBES, task["id"].as_str().unwrap()).await, "completed");
    let mut stream = world.stream(VIBES, "wait").await;
    let running = json!({ "id": stream.until("working").await[0].task_id() });
    assert_eq!(world.ok(VIBES, Op::Cancel, running).await["status"]["state"], "canceled");
    assert_eq!(stream.rest().await.last().unwrap().state().as_deref(), Some("canceled"));
}

#[tokio::test]
async fn v003_the_store_is_written_on_the_way() {
    let (script, store) = (Script::new(), Ledger::default());
    let world = World::one(&script, vibes(&script).task_store(store.clone()).build().unwrap());
    world.task(VIBES, "hi").await;
    assert_eq!((store.tasks(), script.seen().len()), (1, 1));
    world.stream(VIBES, "chunks").await.rest().await;
    assert_eq!((store.tasks(), script.seen().len()), (2, 2));
    assert!(store.writes() >= 4);
}

#[tokio::test]
async fn v004_no_option_is_needed() {
    let script = Script::new();
    let world = World::one(&script, Mount::new("a", script.agent()).settings(Settings::vibes()).build().unwrap());
    assert_eq!(world.task(VIBES, "hi").await["status"]["state"], "completed");
}

#[tokio::test]
async fn v005_the_name() {
    assert_eq!(bare_card().await["name"], "assistant");
    assert_eq!(full_card().await["name"], "Ann");
}

#[tokio::test]
async fn v006_the_description() {
    // The protocol requires one, so the chain of B025 and B026 makes one up (C21).
    assert_eq!(bare_card().await["description"], "Agent \"assistant\"");
    assert_eq!(full_card().await["description"], "An assistant");
}

#[tokio::test]
async fn v007_the_url() {
    assert_eq!(bare_card().await["url"], "http://localhost:8000");
    assert_eq!(full_card().await["url"], "https://agents.example/");
}

#[tokio::test]
async fn v008_the_version() {
    assert_eq!(bare_card().await["version"], "1.0.0");
    assert_eq!(full_card().await["version"], "2.1.0");
}

#[tokio::test]
async fn v009_the_skills() {
    assert_eq!(bare_card().await["skills"], json!([]));
    assert_eq!(full_card().await["skills"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn v010_the_provider() {
    assert!(bare_card().await.get("provider").is_none());
    assert_eq!(full_card().await["provider"], json!({ "organization": "Example", "url": "https://example.com" }));
}

/// What an agent needs, of a type of its own.
struct Deps {
    greeting: String,
}

/// An agent with dependencies, and where the addresses of those that it was given are noted.
fn with_deps(
    deps: Arc<Deps>,
) -> (
    impl Service<Request<Input>, Response = String, Error = BoxError, Future: Send> + Clone + Send + Sync + 'static,
    Arc<Mutex<Vec<usize>>>,
) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let agent = service_fn(move |request: Request<Input>| {
        noted.lock().unwrap().push(Arc::as_ptr(&deps) as usize);
        let answer = format!("{}, {}", deps.greeting, request.body().text());
        async move { Ok::<_, BoxError>(answer) }
    });
    (agent, seen)
}

#[tokio::test]
async fn v011_v074_every_run_is_given_the_same_dependencies_of_a_type_of_ones_own() {
    let deps = Arc::new(Deps { greeting: "hello".to_owned() });
    let (agent, seen) = with_deps(Arc::clone(&deps));
    let world = World::one(&Script::new(), Mount::new("a", agent).settings(Settings::vibes()).build().unwrap());
    for _ in 0..3 {
        let task = world.task(VIBES, "world").await;
        assert_eq!(task["artifacts"][0]["parts"][0]["text"], "hello, world");
    }
    assert_eq!(*seen.lock().unwrap(), [Arc::as_ptr(&deps) as usize; 3]);
}

#[tokio::test]
async fn v012_v064_the_store_can_be_replaced() {
    let (script, store) = (Script::new(), Ledger::default());
    let world = World::one(&script, vibes(&script).task_store(store.clone()).build().unwrap());
    let task = world.task(VIBES, "hi").await;
    assert_eq!(world.ok(VIBES, Op::Get, id(&task)).await, task);
    assert_eq!(store.tasks(), 1);
}

#[tokio::test]
async fn v013_a_server_can_be_given_the_service() {
    let script = Script::new();
    let world = World::sockets(script.clone(), vibes(&script).build::<Incoming>().unwrap()).await;
    assert_eq!(world.task(VIBES, "hi").await["status"]["state"], "completed");
}

#[tokio::test]
async fn v014_one_request_can_be_handed_over_by_hand() {
    let service = vibes(&Script::new()).build().unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "message/send", "params": VIBES.says("hi") }).to_string();
    let request = Request::post("/").header("content-type", "application/json");
    let request = request.body(http_body_util::Full::<bytes::Bytes>::from(body)).unwrap();
    // No server, not even a runtime of its own: the agent answers at once, and so does the service.
    let response = service.oneshot(request).now_or_never().expect("ready").unwrap();
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn v015_the_card_is_at_the_old_path() {
    let world = World::six().await;
    let answer = world.get("/.well-known/agent.json").await;
    assert_eq!((answer.status.as_u16(), &answer.json()["url"]), (200, &json!("http://agents.example/")));
}

#[tokio::test]
async fn v016_the_root_speaks_json_rpc() {
    let world = World::six().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": VIBES.says("hi") }).to_string();
    let answer = world.post("/", &[], body).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["result"]["kind"]), (200, &json!("task")));
}

#[tokio::test]
async fn v017_there_is_nothing_else() {
    let script = Script::new();
    let world = World::one(&script, vibes(&script).build().unwrap());
    for path in ["/other", "/.well-known/agent-card.json", "/.well-known", "/tasks"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
        assert_eq!(world.post(path, &[], "{}").await.status, 404, "{path}");
    }
    let answer = world.get("/").await;
    assert_eq!((answer.status.as_u16(), &answer.headers["allow"]), (405, &"POST".parse().unwrap()));
    assert_eq!(world.post("/.well-known/agent.json", &[], "{}").await.status, 405);
}

#[tokio::test]
async fn v018_the_example_of_a_card() {
    let mount = Mount::new("assistant", Script::new().agent())
        .settings(Settings::vibes())
        .description("A helpful assistant")
        .url("https://my-agent.example.com")
        .skill(AgentSkill::new("search", "Search", "Searches the web", "search"))
        .describe(|card| card.name("My Agent").provider(AgentProvider::new("Acme", "https://acme.example")));
    let card = World::one(&Script::new(), mount.build().unwrap()).card(VIBES).await;
    let expected = json!({
        "name": "My Agent",
        "description": "A helpful assistant",
        "url": "https://my-agent.example.com",
        "version": "1.0.0",
        "capabilities": { "streaming": true, "pushNotifications": false, "stateTransitionHistory": false },
        "provider": { "organization": "Acme", "url": "https://acme.example" },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
    });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(card[member], *value, "{member}");
    }
    for (member, value) in [("id", "search"), ("name", "Search"), ("description", "Searches the web")] {
        assert_eq!(card["skills"][0][member], value);
    }
}

#[tokio::test]
async fn v019_the_capabilities() {
    let expected = json!({ "streaming": true, "pushNotifications": false, "stateTransitionHistory": false });
    assert_eq!(bare_card().await["capabilities"], expected);
}

#[tokio::test]
async fn v020_the_types_of_the_members() {
    for card in [bare_card().await, full_card().await] {
        for text in ["name", "description", "url", "version"] {
            assert!(card[text].is_string(), "{text}: {card}");
        }
        assert!(card["capabilities"].is_object() && card["skills"].is_array(), "{card}");
        for list in ["defaultInputModes", "defaultOutputModes"] {
            assert!(card[list].as_array().unwrap().iter().all(Value::is_string), "{card}");
        }
        assert!(card.get("provider").is_none_or(|provider| provider["organization"].is_string()), "{card}");
    }
}

#[tokio::test]
async fn v021_links_are_there_if_they_are_set() {
    let (bare, full) = (bare_card().await, full_card().await);
    assert!(bare.get("documentationUrl").is_none() && bare.get("iconUrl").is_none(), "{bare}");
    assert_eq!(full["documentationUrl"], "https://example.com/docs");
    assert_eq!(full["iconUrl"], "https://example.com/icon.png");
}

#[tokio::test]
async fn v022_the_members_of_a_skill() {
    let expected = json!([{
        "id": "search", "name": "Search", "description": "Searches the web", "tags": ["web"], "examples": ["Find a bakery"],
    }]);
    assert_eq!(full_card().await["skills"], expected);
}

#[tokio::test]
async fn v023_the_modes_are_text_unless_they_are_set() {
    for card in [bare_card().await, full_card().await] {
        assert_eq!(
            (&card["defaultInputModes"], &card["defaultOutputModes"]),
            (&json!(["text/plain"]), &json!(["text/plain"]))
        );
    }
    let script = Script::new();
    let mount = vibes(&script).describe(|card| card.output_modes(["image/png"]));
    assert_eq!(
        World::one(&script, mount.build().unwrap()).card(VIBES).await["defaultOutputModes"],
        json!(["image/png"])
    );
}

#[tokio::test]
async fn v061_v063_the_store_is_in_memory_whether_one_says_so_or_not() {
    let script = Script::new();
    let silent = World::one(&script, vibes(&script).build().unwrap());
    let said = World::one(&script, vibes(&script).task_store(MemoryTaskStore::new()).build().unwrap());
    for world in [silent, said] {
        let task = world.task(VIBES, "hi").await;
        assert_eq!(world.ok(VIBES, Op::Get, id(&task)).await, task);
    }
}

#[tokio::test]
async fn v062_v065_tasks_outlive_the_server_in_a_store_that_does() {
    let script = Script::new();
    let memory = || World::one(&script, vibes(&script).build().unwrap());
    let task = memory().task(VIBES, "hi").await;
    assert_eq!(memory().code(VIBES, Op::Get, id(&task)).await, -32001, "memory forgets");
    let store = Ledger::default();
    let kept = || World::one(&script, vibes(&script).task_store(store.clone()).build().unwrap());
    let task = kept().task(VIBES, "hi").await;
    assert_eq!(kept().ok(VIBES, Op::Get, id(&task)).await, task);
}

#[tokio::test]
async fn v066_sends_and_streams_leave_tasks_that_can_be_got() {
    let world = World::six().await;
    let sent = world.task(VIBES, "hi").await["id"].as_str().unwrap().to_owned();
    let streamed = world.stream(VIBES, "hi").await.rest().await[0].task_id();
    for task in [sent, streamed] {
        assert_eq!(
            world.ok(VIBES, Op::Get, json!({ "id": task })).await["artifacts"][0]["parts"][0]["text"],
            "you said: hi"
        );
    }
}

#[tokio::test]
async fn v073_every_option_can_be_left_out_or_set() {
    let (bare, full) = (bare_card().await, full_card().await);
    for member in ["name", "description", "url", "version", "skills", "provider"] {
        assert_ne!(bare.get(member), full.get(member), "{member}");
    }
}
