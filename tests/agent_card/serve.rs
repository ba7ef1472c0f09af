use std::{convert::Infallible, sync::Arc, time::Duration};

use a2a_layers::{
    agent_card::{AgentCardLayer, AgentCardService, PublicUrl},
    types::{AgentCard, Timestamp},
};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, Full};
use serde_json::Value;
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
use tower_test::mock;

use crate::{ask, builder, card, get, no_body};

const PATH: &str = AgentCardLayer::PATH;
const OLD_PATH: &str = AgentCardLayer::LEGACY_PATH;

fn leaf() -> AgentCardService {
    AgentCardService::new(card()).unwrap()
}

async fn inner(request: Request<Empty<Bytes>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    Ok(Response::builder().status(StatusCode::ACCEPTED).header("x-inner", "1").body(path.into()).unwrap())
}

async fn through(layer: AgentCardLayer, request: http::request::Builder) -> Response<Bytes> {
    ask(ServiceBuilder::new().layer(layer).service(service_fn(inner)), request).await
}

fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
}

#[tokio::test]
async fn b017_v084_the_card_is_at_its_well_known_path() {
    let response = through(AgentCardLayer::new(leaf()), get(PATH).header("A2A-Version", "1.0")).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    assert_eq!(header(response.headers(), "content-length"), response.body().len().to_string());
    assert_eq!(json(&response)["name"], "echo");
    assert!(!response.headers().contains_key("deprecation"));
}

#[tokio::test]
async fn v015_c05_s17_f104_the_old_path_serves_it_too_and_says_that_it_is_old() {
    let response = through(AgentCardLayer::new(leaf()), get(OLD_PATH)).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["deprecation"], "@1753833600");
    assert_eq!(*response.body(), *through(AgentCardLayer::new(leaf()), get(PATH)).await.body());
}

#[tokio::test]
async fn b011_b018_paths_can_be_chosen_and_the_old_one_switched_off() {
    let layer = || AgentCardLayer::new(leaf()).path("/.well-known/agent-card-v1.json");
    assert_eq!(layer().paths().collect::<Vec<_>>(), ["/.well-known/agent-card-v1.json", OLD_PATH]);
    assert_eq!(through(layer(), get("/.well-known/agent-card-v1.json")).await.status(), StatusCode::OK);
    assert_eq!(through(layer(), get(PATH)).await.status(), StatusCode::ACCEPTED);
    let without = || layer().legacy_path(None);
    assert_eq!(without().paths().count(), 1);
    assert_eq!(through(without(), get(OLD_PATH)).await.status(), StatusCode::ACCEPTED);
    let moved = layer().legacy_path(Some("/card"));
    assert!(through(moved, get("/card")).await.headers().contains_key("deprecation"));
}

#[tokio::test]
async fn b012_b013_two_agents_have_two_cards() {
    let other = builder().name("other").build().unwrap();
    let other = AgentCardLayer::new(AgentCardService::new(other).unwrap()).path("/other.json").legacy_path(None);
    let stack = ServiceBuilder::new().layer(other).layer(AgentCardLayer::new(leaf())).service(service_fn(inner));
    assert_eq!(json(&ask(stack.clone(), get("/other.json")).await)["name"], "other");
    assert_eq!(json(&ask(stack, get(PATH)).await)["name"], "echo");
}

#[tokio::test]
async fn everything_else_is_passed_on_untouched() {
    for path in ["/", "/.well-known/agent-card.json/", "/.well-known/", "/a/.well-known/agent-card.json"] {
        let response = through(AgentCardLayer::new(leaf()), get(path).header("Origin", "https://ui.example")).await;
        assert_eq!((response.status(), &**response.body()), (StatusCode::ACCEPTED, path.as_bytes()));
        assert_eq!(response.headers().len(), 1, "{path}");
    }
}

#[tokio::test]
async fn f104_a_caller_who_has_the_card_gets_304_without_a_body() {
    let first = ask(leaf(), get(PATH)).await;
    let etag = header(first.headers(), "etag");
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 10, "{etag}");
    for tags in [etag.to_owned(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
        let again = ask(leaf(), get(PATH).header("If-None-Match", &tags)).await;
        assert_eq!((again.status(), again.body().len()), (StatusCode::NOT_MODIFIED, 0), "{tags}");
        assert_eq!(header(again.headers(), "etag"), etag);
        assert_eq!(again.headers()["cache-control"], "public, max-age=300");
        assert!(again.headers().contains_key("vary") && !again.headers().contains_key("content-type"));
    }
    let two_lines = get(PATH).header("If-None-Match", "\"x\"").header("If-None-Match", etag);
    assert_eq!(ask(leaf(), two_lines).await.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(ask(leaf(), get(PATH).header("If-None-Match", "\"x\"")).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn each_form_and_each_card_has_a_tag_of_its_own() {
    let tag = async |card: AgentCard, version: &str| {
        let response = ask(AgentCardService::new(card).unwrap(), get("/").header("A2A-Version", version)).await;
        header(response.headers(), "etag").to_owned()
    };
    let mut tags = Vec::new();
    for version in ["", "0.3", "1.0"] {
        tags.push(tag(card(), version).await);
        assert_eq!(tag(card(), version).await, *tags.last().unwrap(), "replicas agree");
    }
    tags.push(tag(builder().version("9").build().unwrap(), "").await);
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4);
}

#[tokio::test]
async fn the_date_counts_for_those_who_name_no_tag() {
    let service = || leaf().last_modified(Timestamp::parse("2026-01-01T00:00:00.500Z").unwrap());
    let date = "Thu, 01 Jan 2026 00:00:00 GMT";
    assert_eq!(ask(service(), get("/")).await.headers()["last-modified"], date);
    let since = |date: &str| get("/").header("If-Modified-Since", date);
    assert_eq!(ask(service(), since(date)).await.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(ask(service(), since("Wed, 31 Dec 2025 23:59:59 GMT")).await.status(), StatusCode::OK);
    let both = since(date).header("If-None-Match", "\"x\"");
    assert_eq!(ask(service(), both).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn how_long_it_may_be_kept_can_be_set() {
    let kept = ask(leaf().max_age(Duration::from_millis(86_400_999)), get("/")).await;
    assert_eq!(kept.headers()["cache-control"], "public, max-age=86400");
}

#[tokio::test]
async fn the_form_is_that_of_the_version_asked_for() {
    let is_old = |card: &Value| card.get("url").is_some();
    let is_new = |card: &Value| card.get("supportedInterfaces").is_some();
    for (header, path, old, new) in [
        ("1.0", "/", false, true),
        ("1.0.7", "/?A2A-Version=0.3", false, true),
        ("0.3.0", "/", true, false),
        ("", "/?x=1&a2a-version=0.3", true, false),
        ("", "/?A2A-Version=1.0", false, true),
        ("", "/?A2A%2DVersion=1%2E0", false, true),
        ("", "/", true, true),
        ("0.2", "/", true, true),
        ("nonsense", "/", true, true),
    ] {
        let card = json(&ask(leaf(), get(path).header("A2A-Version", header)).await);
        assert_eq!((is_old(&card), is_new(&card)), (old, new), "{header:?} {path}");
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let head = ask(leaf(), Request::head("/")).await;
    let get = ask(leaf(), get("/")).await;
    assert_eq!((head.status(), head.body().len()), (StatusCode::OK, 0));
    for name in ["etag", "content-length", "content-type", "cache-control", "vary"] {
        assert_eq!(header(head.headers(), name), header(get.headers(), name));
    }
}

#[tokio::test]
async fn other_verbs_are_405_with_allow() {
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::TRACE] {
        let response = ask(leaf(), Request::builder().method(method).uri("/")).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "GET, HEAD, OPTIONS");
    }
}

#[tokio::test]
async fn f104_scripts_of_other_origins_may_read_it_and_the_origin_is_echoed() {
    let preflight = || {
        Request::options(PATH)
            .header("Origin", "https://ui.example")
            .header("Access-Control-Request-Method", "GET")
            .header("Access-Control-Request-Headers", "a2a-version")
    };
    let response = ask(leaf(), preflight()).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert_eq!(response.headers()["access-control-allow-origin"], "https://ui.example");
    assert!(header(response.headers(), "access-control-allow-headers").contains("A2A-Version"));
    assert!(header(response.headers(), "access-control-allow-methods").contains("GET"));

    let response = ask(leaf(), get(PATH).header("Origin", "https://ui.example")).await;
    assert_eq!(response.headers()["access-control-allow-origin"], "https://ui.example");
    assert_eq!(header(response.headers(), "access-control-expose-headers"), "ETag, Deprecation");
    assert!(!response.headers().contains_key("access-control-allow-credentials"));
    assert_eq!(response.headers()["vary"], "A2A-Version, Origin");

    let off = || leaf().cors(false);
    for request in [preflight(), get(PATH).header("Origin", "https://ui.example")] {
        let response = ask(off(), request).await;
        assert!(response.headers().keys().all(|name| !name.as_str().starts_with("access-control")));
        assert_eq!(response.headers()["vary"], "A2A-Version");
    }
    assert!(!ask(leaf(), get(PATH)).await.headers().contains_key("access-control-allow-origin"));
}

async fn first_url(service: AgentCardService, request: http::request::Builder) -> String {
    let card = json(&ask(service, request.header("A2A-Version", "1.0")).await);
    card["supportedInterfaces"][0]["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn f103_forwarded_headers_count_only_where_they_are_trusted() {
    let spoof = || {
        get("/")
            .header("Forwarded", "proto=http;host=evil.example")
            .header("X-Forwarded-Proto", "https")
            .header("X-Forwarded-Host", "proxy.example")
            .header("X-Forwarded-Prefix", "/team")
    };
    let base = "https://agents.example";
    assert_eq!(first_url(leaf(), spoof()).await, "https://agents.example/echo");
    let x_forwarded = || leaf().public_url(PublicUrl::from_x_forwarded(base)).unwrap();
    assert_eq!(first_url(x_forwarded(), spoof()).await, "https://proxy.example/team/echo");
    assert_eq!(first_url(x_forwarded(), get("/")).await, "https://agents.example/echo");
    let forwarded = || leaf().public_url(PublicUrl::from_forwarded(base)).unwrap();
    let real = get("/")
        .header("Forwarded", "host=evil.example;proto=http, for=1.2.3.4;Host=\"proxy.example:8443\";Proto=https");
    assert_eq!(first_url(forwarded(), real).await, "https://proxy.example:8443/echo");
    let own_host = get("/").header("Host", "own.example").header("X-Forwarded-Proto", "https");
    assert_eq!(first_url(x_forwarded(), own_host).await, "https://own.example/echo");
    let bad = get("/").header("X-Forwarded-Host", "a b").header("X-Forwarded-Proto", "https");
    assert_eq!(first_url(x_forwarded(), bad).await, "https://agents.example/echo");
}

#[test]
fn f103_a_base_that_no_address_begins_with_is_refused() {
    for base in ["https://agents.exam", "http://agents.example", "https://agents.example/other"] {
        let error = leaf().public_url(PublicUrl::from_x_forwarded(base)).unwrap_err();
        assert_eq!(error.field(), "supportedInterfaces", "{base}");
    }
    assert!(leaf().public_url(PublicUrl::fixed()).is_ok());
}

#[tokio::test]
async fn f103_a_card_of_another_host_has_another_tag_and_says_what_it_depends_on() {
    let service = || leaf().public_url(PublicUrl::from_x_forwarded("https://agents.example/")).unwrap();
    let request = || get("/").header("X-Forwarded-Host", "a.example").header("X-Forwarded-Proto", "https");
    let (plain, seen) = (ask(service(), get("/")).await, ask(service(), request()).await);
    assert_ne!(plain.headers()["etag"], seen.headers()["etag"]);
    assert!(header(seen.headers(), "vary").contains("X-Forwarded-Host"));
    let again = ask(service(), request().header("If-None-Match", &seen.headers()["etag"])).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn readiness_and_errors_are_those_of_the_inner_service() {
    let layer = AgentCardLayer::new(leaf());
    let (mut service, mut handle) = mock::spawn_layer::<Request<Empty<Bytes>>, Response<Full<Bytes>>, _>(layer);
    handle.allow(0);
    assert!(service.poll_ready().is_pending());
    handle.allow(2);
    assert!(service.poll_ready().is_ready());
    let answered = service.call(no_body(get(PATH))).await.unwrap();
    assert_eq!(answered.status(), StatusCode::OK, "the inner service is not called");
    assert!(service.poll_ready().is_ready());
    let passed = service.call(no_body(get("/rpc")));
    handle.next_request().await.unwrap().1.send_error("down");
    assert_eq!(passed.await.unwrap_err().to_string(), "down");
}

#[tokio::test]
async fn the_body_is_the_inner_one() {
    let service = ServiceBuilder::new().layer(AgentCardLayer::new(leaf())).service(service_fn(inner));
    let body = service.clone().oneshot(no_body(get("/rpc"))).await.unwrap().into_body();
    assert_eq!(http_body::Body::size_hint(&body).exact(), Some(4));
    assert_eq!(body.collect().await.unwrap().to_bytes(), "/rpc");
    let mut spawned = service;
    let answer = tokio::spawn(async move { spawned.ready().await.unwrap().call(no_body(get(PATH))).await });
    assert_eq!(answer.await.unwrap().unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_dialect_of_ones_own_writes_its_own_card() {
    use a2a_layers::{
        call::Call,
        dialect::Dialect,
        error::Error,
        operation::{Answer, Operation, OperationKind, ProtocolVersion, StreamEvent},
        types::{AgentInterface, Json},
    };

    struct Next;

    impl Dialect for Next {
        fn version(&self) -> ProtocolVersion {
            ProtocolVersion::new(2, 0)
        }
        fn operation(&self, _: &str) -> Option<OperationKind> {
            None
        }
        fn decode(&self, call: &Call) -> Result<Operation, Error> {
            Err(Error::invalid_params("method", call.method()))
        }
        fn encode(&self, _: &Answer, _: &mut Vec<u8>) -> Result<(), Error> {
            Ok(())
        }
        fn encode_event(&self, _: &StreamEvent, _: &mut Vec<u8>) -> Result<(), Error> {
            Ok(())
        }
        fn error_data(&self, _: &Error) -> Option<Json> {
            None
        }
        fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
            out.extend_from_slice(format!("{{\"called\":{:?}}}", card.name).as_bytes());
            Ok(())
        }
    }

    let next = AgentInterface::new("https://agents.example/next", "JSONRPC", "2.0");
    let card = builder().interface(next).build().unwrap();
    let service = AgentCardService::new(card).unwrap().dialect(Arc::new(Next)).unwrap();
    let asked = ask(service.clone(), get("/").header("A2A-Version", "2.0")).await;
    assert_eq!(*asked.body(), br#"{"called":"echo"}"#[..]);
    assert_eq!(json(&ask(service, get("/")).await)["name"], "echo");
    let not_offered = leaf().dialect(Arc::new(Next)).unwrap();
    assert_eq!(json(&ask(not_offered, get("/").header("A2A-Version", "2.0")).await)["name"], "echo");
}
