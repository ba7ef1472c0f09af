//! B127 to B134: transport, authentication, gaps.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use futures_util::future::Either;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use serde_json::json;
use tower::{Layer, Service, layer::layer_fn};

use crate::support::{ALL, BREAD, BREAD_0_3, BREAD_1_0, Op, Script, Talk, World, bread};

/// A host's own authentication, which knows nothing of agents.
#[derive(Clone)]
struct Gate<S> {
    inner: S,
    open: fn(&str) -> bool,
}

impl<S, B, R> Service<Request<B>> for Gate<S>
where
    S: Service<Request<B>, Response = Response<R>, Error = Infallible>,
    R: Default,
{
    type Response = Response<R>;
    type Error = Infallible;
    type Future = Either<S::Future, Ready<Result<Response<R>, Infallible>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if request.headers().contains_key("authorization") || (self.open)(request.uri().path()) {
            return Either::Left(self.inner.call(request));
        }
        let mut response = Response::new(R::default());
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        Either::Right(ready(Ok(response)))
    }
}

/// A mount behind a gate that lets these paths pass.
fn gated(talk: Talk, open: fn(&str) -> bool) -> World {
    let script = Script::new();
    let mount = bread(talk, &script).build::<Full<bytes::Bytes>>().unwrap();
    // The body of a refusal has to be made somehow; a boxed one can be.
    let boxed = tower::ServiceExt::map_response(mount, |response: Response<_>| {
        response.map(|body| -> UnsyncBoxBody<bytes::Bytes, Infallible> { BodyExt::boxed_unsync(body) })
    });
    World::here(script, layer_fn(move |inner| Gate { inner, open }).layer(boxed))
}

const CREDENTIALS: [(&str, &str); 1] = [("authorization", "Bearer x")];

async fn statuses(world: &World, talk: Talk, headers: &[(&str, &str)]) -> (u16, u16) {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": talk.method(Op::Send), "params": talk.says("hi") });
    let answer = world.post(talk.path, headers, body.to_string()).await;
    (world.fetch(talk.card, headers).await.status.as_u16(), answer.status.as_u16())
}

#[tokio::test]
async fn b127_b133_one_layer_outside_guards_card_and_endpoint_alike() {
    for talk in BREAD {
        let world = gated(talk, |_| false);
        assert_eq!(statuses(&world, talk, &[]).await, (401, 401));
        assert_eq!(world.script.seen().len(), 0);
        assert_eq!(statuses(&world, talk, &CREDENTIALS).await, (200, 200));
    }
}

#[tokio::test]
async fn b128_the_card_can_be_left_open() {
    for talk in BREAD {
        let world = gated(talk, |path| path.starts_with("/.well-known/"));
        assert_eq!(statuses(&world, talk, &[]).await, (200, 401));
    }
}

#[tokio::test]
async fn b131_inline_bytes_without_a_store_are_refused_and_not_dropped() {
    let world = World::six().await;
    for talk in BREAD {
        let params = talk.message(vec![talk.text("look at this"), talk.raw("aGk=")]);
        assert_eq!(world.code(talk, Op::Send, params).await, -32602);
        assert_eq!(world.script.seen().len(), 0, "the agent must not answer as if there was no file");
    }
}

#[tokio::test]
async fn b132_structured_output_is_streamed() {
    let world = World::six().await;
    for talk in ALL {
        let events = world.stream(talk, "data").await.rest().await;
        let update = events.iter().find(|event| event.kind == "artifact-update").expect("an update");
        assert_eq!(update.value["artifact"]["parts"][0]["data"], json!({ "answer": 42 }));
    }
}

#[tokio::test]
async fn b134_an_agent_that_pays_no_heed_to_a_cancel_completes() {
    let world = World::six().await;
    for talk in [BREAD_0_3, BREAD_1_0] {
        let mut stream = world.stream(talk, "stubborn").await;
        let id = stream.one().await.task_id();
        let canceled = world.ok(talk, Op::Cancel, json!({ "id": id })).await;
        assert_eq!(canceled["status"]["state"], talk.state("canceled"), "attempted, not guaranteed");
        world.script.step(1);
        let events = stream.rest().await;
        assert_eq!(events.last().unwrap().state().as_deref(), Some("completed"));
        assert_eq!(world.state(talk, &id).await, "completed");
    }
}
