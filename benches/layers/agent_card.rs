use std::{convert::Infallible, future::ready};

use a2a_layers::agent_card::{AgentCardBuilder, AgentCardLayer, AgentCardService};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::post,
};

benches![
    Case::new("GET", || floor(StatusCode::OK), || layer(|_| card())),
    Case::new("GET, unchanged (304)", || floor(StatusCode::NOT_MODIFIED), || layer(unchanged)),
    Case::new("another path", || work(|| now(inner(post(())))), || layer(|_| post(()))),
];

const VERSION: HeaderName = HeaderName::from_static("a2a-version");

fn card() -> Request<()> {
    let mut request = Request::new(());
    *request.uri_mut() = http::Uri::from_static("/.well-known/agent-card.json");
    request.headers_mut().insert(VERSION, HeaderValue::from_static("1.0"));
    request
}

fn unchanged(etag: &HeaderValue) -> Request<()> {
    let mut request = card();
    request.headers_mut().insert(header::IF_NONE_MATCH, etag.clone());
    request
}

fn inner(request: Request<()>) -> std::future::Ready<Result<Response<Full<Bytes>>, Infallible>> {
    drop(request);
    ready(Ok(Response::new(Full::default())))
}

/// A response with as many headers, all of them ready.
fn floor(status: StatusCode) -> Work {
    let document = Bytes::from(vec![b'x'; 1000]);
    let etag = HeaderValue::try_from(format!("\"{}\"", "0".repeat(32))).unwrap();
    work(move || {
        let request = if status == StatusCode::OK { card() } else { unchanged(&etag) };
        let mut response = Response::new(Full::new(document.clone()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let text = HeaderValue::from_static("text");
        if status == StatusCode::OK {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(document.len()));
            headers.insert(header::CONTENT_TYPE, text.clone());
        }
        headers.insert(header::ETAG, etag.clone());
        headers.insert(header::CACHE_CONTROL, text.clone());
        headers.insert(header::LAST_MODIFIED, text.clone());
        headers.insert(header::VARY, text);
        (request, response)
    })
}

fn layer(request: fn(&HeaderValue) -> Request<()>) -> Work {
    let card_itself = AgentCardBuilder::new("bench").json_rpc("https://agents.example/bench").build().unwrap();
    let mut service = AgentCardLayer::new(AgentCardService::new(card_itself).unwrap()).layer(service_fn(inner));
    let etag = now(service.call(card())).unwrap().headers()[header::ETAG].clone();
    work(move || now(service.call(request(&etag))))
}
