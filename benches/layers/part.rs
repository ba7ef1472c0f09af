use std::{convert::Infallible, future::ready, sync::Arc};

use a2a_layers::{
    error::{BoxError, Error},
    part::{Input, PartLayer},
    types::{Json, Message, Part, Role},
};
use http::Request;
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{KIB, message, text},
};

benches![
    Case::new("text of 100 B", || floor(|| message(100)), || layer(|| message(100))),
    Case::new("text of 64 KiB", || floor(|| message(64 * KIB)), || layer(|| message(64 * KIB))),
    Case::new("data", || floor(data), || layer(data)),
    Case::new("text, data and a file", || floor(mixed), || layer(mixed)),
    Case::new("inline bytes refused", refused_floor, || layer(inline)),
];

fn json() -> Json {
    static JSON: std::sync::LazyLock<Json> = std::sync::LazyLock::new(|| Json::parse(r#"{"a":[1,2,3]}"#).unwrap());
    JSON.clone()
}

fn data() -> Message {
    Message::user(json()).with_message_id("m")
}

fn mixed() -> Message {
    let parts = vec![Part::text(text(100)), Part::data(json()), Part::url("https://example.com/a.png")];
    Message::new(Role::User, parts)
}

fn inline() -> Message {
    Message::user(Part::raw(&b"bytes"[..])).with_message_id("m")
}

fn floor(message: fn() -> Message) -> Work {
    let inner = |request: Request<Arc<Message>>| ready(Ok::<_, Infallible>(request.body().parts.len()));
    work(move || now(inner(Request::new(message().into()))))
}

/// The same error, in the box that errors of services come in.
fn refused_floor() -> Work {
    work(|| {
        let error = Error::invalid_params(format!("message.parts[{}]", 0), "cannot be read by whoever it is meant for");
        (Request::new(Arc::new(inline())), BoxError::from(error))
    })
}

fn layer(message: fn() -> Message) -> Work {
    let inner = |request: Request<Input>| ready(Ok::<_, Infallible>(request.body().text().len()));
    let mut service = PartLayer::new().layer(service_fn(inner));
    work(move || now(service.call(Request::new(message().into()))))
}
