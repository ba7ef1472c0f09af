use std::{convert::Infallible, future::ready};

use a2a_layers::{
    extension::ExtensionLayer,
    operation::{GetTask, Operation, OperationRequest},
    types::AgentExtension,
};
use http::{HeaderName, HeaderValue, Request, Response};
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{ID, operation},
};

benches![
    Case::new("none supported, none named", || floor(false), || layer(ExtensionLayer::new([]), false)),
    Case::new("three supported, none named", || floor(false), || layer(three(), false)),
    Case::new("three supported, two named", || floor(true), || layer(three(), true)),
    Case::new(
        "a required one not named",
        || floor(false),
        || { layer(ExtensionLayer::new([AgentExtension::required("https://example.com/ext/d")]), false) }
    ),
];

const HEADER: HeaderName = HeaderName::from_static("a2a-extensions");

fn three() -> ExtensionLayer {
    let uris = ["https://example.com/ext/a", "https://example.com/ext/b", "https://example.com/ext/c"];
    ExtensionLayer::new(uris.map(AgentExtension::new))
}

fn request(named: bool) -> Request<Operation> {
    let mut request = operation(OperationRequest::GetTask(GetTask::new(ID)));
    if named {
        let uris = HeaderValue::from_static("https://example.com/ext/a, https://example.com/ext/b");
        request.headers_mut().insert(HEADER, uris);
    }
    request
}

fn inner(request: Request<Operation>) -> std::future::Ready<Result<Response<()>, Infallible>> {
    drop(request);
    ready(Ok(Response::new(())))
}

fn floor(named: bool) -> Work {
    work(move || now(inner(request(named))))
}

fn layer(layer: ExtensionLayer, named: bool) -> Work {
    let mut service = layer.layer(service_fn(inner));
    work(move || now(service.call(request(named))))
}
