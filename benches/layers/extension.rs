use std::{convert::Infallible, future::ready, sync::Arc};

use a2a_layers::{
    error::{Error, ErrorKind},
    extension::{ActivatedExtensions, ExtensionLayer},
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
    Case::new("none supported, none named", floor, || layer(ExtensionLayer::new([]), false)),
    Case::new("three supported, none named", || activated_floor(false), || layer(three(), false)),
    Case::new("three supported, two named", || activated_floor(true), || layer(three(), true)),
    Case::new("a required one not named", refused_floor, || {
        layer(ExtensionLayer::new([AgentExtension::required("https://example.com/ext/d")]), false)
    }),
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

fn floor() -> Work {
    work(|| now(inner(request(false))))
}

/// What is activated put into the request and named in the response, both of them ready.
fn activated_floor(named: bool) -> Work {
    let uris = ["https://example.com/ext/a", "https://example.com/ext/b"].map(Arc::from);
    let activated = if named { ActivatedExtensions::new(uris) } else { ActivatedExtensions::default() };
    work(move || {
        let mut request = request(named);
        request.extensions_mut().insert(activated.clone());
        now(inner(request)).map(|mut response| {
            if named {
                response.headers_mut().insert(HEADER, HeaderValue::from_static("https://example.com/ext/a"));
            }
            response
        })
    })
}

/// The same error.
fn refused_floor() -> Work {
    work(|| {
        let uri = "https://example.com/ext/d";
        let error = Error::new(ErrorKind::ExtensionSupportRequired)
            .with_detail(format!("name {uri} in the A2A-Extensions header"))
            .with_info("uri", uri)
            .with_info("requiredExtensions", uri);
        (request(false), error)
    })
}

fn layer(layer: ExtensionLayer, named: bool) -> Work {
    let mut service = layer.layer(service_fn(inner));
    work(move || now(service.call(request(named))))
}
