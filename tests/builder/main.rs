//! The stack spelled out with `ServiceBuilderExt`: every layer at work, and tower's own between them.

mod client;
mod saturated;
mod spawned;

use std::convert::Infallible;

use a2a_layers::{
    ServiceBuilderExt,
    agent::RequestExt,
    agent_card::{AgentCardBuilder, AgentCardService},
    blob::MemoryBlobStore,
    error::BoxError,
    part::{Form, Input},
    task::MemoryTaskStore,
    types::{AgentCard, AgentExtension, Part},
};
use client::{ask, call, get, message};
use http::{Request, StatusCode};
use serde_json::json;
use tower::ServiceBuilder;

const EXTENSION: &str = "https://ext.example/verbose";

fn card() -> Result<AgentCard, BoxError> {
    let card = AgentCardBuilder::new("all")
        .streaming(true)
        .input_modes(["text/plain", "image/png"])
        .extension(AgentExtension::new(EXTENSION))
        .json_rpc("http://agent.example/rpc");
    Ok(card.build()?)
}

/// Says what it has got; a file is answered with a file.
async fn agent(request: Request<Input>) -> Result<Part, Infallible> {
    let verbose = request.task_context().extensions().contains(EXTENSION);
    Ok(match request.body().form() {
        Form::File(file) => Part::raw(format!("seen at {}", file.uri)).with_filename("seen.txt"),
        _ if verbose => Part::text(format!("I have heard these words: {}", request.body().text())),
        _ => Part::text(format!("heard: {}", request.body().text())),
    })
}

#[tokio::test]
async fn every_method_adds_its_layer() -> Result<(), BoxError> {
    let card = card()?;
    let files = MemoryBlobStore::new("http://agent.example/files");
    let service = ServiceBuilder::new()
        .agent_card(AgentCardService::new(card.clone())?)
        .serve_blobs("/files", files.clone())
        .sse()
        .body()
        .json_rpc("/rpc")
        .version()
        .capability(&card)
        .extension(&card)
        .media_type(&card)
        .task(MemoryTaskStore::new())
        .blob(files.clone())
        .accepted_output()
        .part()
        .service_fn(agent);

    // agent_card, and json_rpc at its path alone.
    let answer = ask(&service, get("/.well-known/agent-card.json")).await;
    assert_eq!((answer.status, &answer.json()["name"]), (StatusCode::OK, &json!("all")));
    assert_eq!(ask(&service, get("/elsewhere")).await.status, StatusCode::NOT_FOUND);

    // body, json_rpc, version, task, part.
    let hello = || message(json!({ "text": "hello" }));
    let sent = ask(&service, call("SendMessage", hello())).await.result();
    assert_eq!(sent["task"]["artifacts"][0]["parts"][0]["text"], "heard: hello");
    let found = ask(&service, call("GetTask", json!({ "id": sent["task"]["id"] }))).await.result();
    assert_eq!(found["status"]["state"], "TASK_STATE_COMPLETED");

    // extension.
    let mut request = call("SendMessage", hello());
    request.headers_mut().insert("a2a-extensions", EXTENSION.parse()?);
    let answer = ask(&service, request).await;
    assert_eq!(answer.headers["a2a-extensions"], EXTENSION);
    assert_eq!(answer.result()["task"]["artifacts"][0]["parts"][0]["text"], "I have heard these words: hello");

    // sse.
    let answer = ask(&service, call("SendStreamingMessage", hello())).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert!(answer.text.starts_with(": connected\n"), "{}", answer.text);
    assert!(answer.text.contains("heard: hello") && answer.text.contains("TASK_STATE_COMPLETED"), "{}", answer.text);

    // blob, both ways, and serve_blobs.
    let picture = json!({ "raw": "iVBORw==", "filename": "a.png", "mediaType": "image/png" });
    let sent = ask(&service, call("SendMessage", message(picture))).await.result();
    let seen = &sent["task"]["artifacts"][0]["parts"][0];
    assert_eq!((seen["filename"].as_str(), files.len()), (Some("seen.txt"), 2));
    let file = ask(&service, get(seen["url"].as_str().unwrap())).await;
    assert!(file.text.starts_with("seen at http://agent.example/files/"), "{}", file.text);

    // capability.
    let error = ask(&service, call("GetExtendedAgentCard", json!({}))).await.error();
    assert_eq!(error["code"], -32004);
    assert!(error["message"].as_str().unwrap().ends_with("the agent has no extended card"), "{error}");

    // media_type.
    let sound = json!({ "url": "https://example.com/meow", "mediaType": "audio/mpeg" });
    let error = ask(&service, call("SendMessage", message(sound))).await.error();
    assert_eq!(error["code"], -32005);
    assert!(error["message"].as_str().unwrap().contains("audio/mpeg"), "{error}");

    // accepted_output.
    let mut picky = hello();
    picky["configuration"] = json!({ "acceptedOutputModes": ["image/*"] });
    let error = ask(&service, call("SendMessage", picky)).await.error();
    assert_eq!(error["code"], -32005);
    assert!(error["message"].as_str().unwrap().contains("image/*"), "{error}");
    Ok(())
}

#[cfg(feature = "rest")]
#[tokio::test]
async fn rest_stands_where_json_rpc_stood() -> Result<(), BoxError> {
    let service = ServiceBuilder::new()
        .sse()
        .body()
        .rest("/api")
        .version()
        .load_shed()
        .concurrency_limit(1)
        .timeout(std::time::Duration::from_secs(5))
        .task(MemoryTaskStore::new())
        .part()
        .service_fn(agent);
    let post = |path: &str| {
        let request = Request::post(path).header("a2a-version", "1.0");
        request.body(message(json!({ "text": "hello" })).to_string().into()).unwrap()
    };
    let answer = ask(&service, post("/api/message:send")).await;
    assert_eq!(answer.headers["content-type"], "application/a2a+json");
    assert_eq!(answer.json()["task"]["artifacts"][0]["parts"][0]["text"], "heard: hello");
    let answer = ask(&service, post("/api/message:stream")).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert!(
        answer.text.contains("data: {\"task\":") && answer.text.contains("TASK_STATE_COMPLETED"),
        "{}",
        answer.text
    );
    assert_eq!(ask(&service, get("/message:send")).await.status, StatusCode::NOT_FOUND);
    Ok(())
}
