use std::{convert::Infallible, future::ready, sync::Arc};

use a2a_layers::{
    error::{Error, ErrorKind},
    media_type::{AcceptedOutputLayer, MediaTypeLayer},
    operation::Operation,
    types::{Message, Part, Role},
};
use http::{Request, Response};
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{message, send, text},
};

benches![
    Case::new("text that states no type", || floor(plain), || layer(plain)),
    Case::new("ten files that state one", || floor(files), || layer(files)),
    Case::new("a type not taken", refused_floor, || layer(sound)),
    Case::new("the output of an agent", || output_floor(), || output()),
];

fn plain() -> Message {
    message(100)
}

fn files() -> Message {
    let file = || Part::url("https://example.com/a.png").with_media_type("image/png");
    Message::new(Role::User, (0..10).map(|_| file()).collect::<Vec<_>>())
}

fn sound() -> Message {
    Message::user(Part::url("https://example.com/a.mp3").with_media_type("audio/mpeg"))
}

fn inner(request: Request<Operation>) -> std::future::Ready<Result<Response<()>, Infallible>> {
    drop(request);
    ready(Ok(Response::new(())))
}

fn floor(message: fn() -> Message) -> Work {
    work(move || now(inner(send(message()))))
}

/// The same error.
fn refused_floor() -> Work {
    work(|| {
        let error = Error::new(ErrorKind::ContentTypeNotSupported)
            .with_detail(format!("message.parts[0] is {}, the agent takes {}", "audio/mpeg", "text/plain, image/*"))
            .with_info("mediaType", "audio/mpeg")
            .with_info("supportedMediaTypes", "text/plain, image/*");
        (send(sound()), error)
    })
}

fn layer(message: fn() -> Message) -> Work {
    let modes = ["application/json", "text/plain", "image/*"];
    let mut service = MediaTypeLayer::new(modes).layer(service_fn(inner));
    work(move || now(service.call(send(message()))))
}

fn agent(request: Request<Arc<Message>>) -> std::future::Ready<Result<String, Infallible>> {
    drop(request);
    ready(Ok(text(100)))
}

fn output_floor() -> Work {
    use a2a_layers::agent::IntoReply as _;
    work(|| now(agent(Request::new(plain().into()))).map(String::into_reply))
}

fn output() -> Work {
    let mut service = AcceptedOutputLayer::new().layer(service_fn(agent));
    work(move || now(service.call(Request::new(plain().into()))))
}
