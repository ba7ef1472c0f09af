use std::{convert::Infallible, future::ready, sync::Arc};

use a2a_layers::{
    blob::{BlobLayer, BlobStore, MemoryBlobStore},
    error::{BoxError, Error},
    types::{InlineBytes, Message, Part},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::Request;
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{KIB, MIB, file_base64, message},
};

benches![
    Case::new("no file", no_file_floor, no_file),
    Case::new("1 KiB of base64 into memory", || floor(KIB), || inbound(KIB)),
    Case::new("1 MiB of base64 into memory", || floor(MIB), || inbound(MIB)),
    Case::new("no base64", refused_floor, refused),
];

fn store() -> MemoryBlobStore {
    // Room for a few files, so that old ones go as new ones come and memory stays flat.
    MemoryBlobStore::new("https://agent.example/blobs").max_bytes(4 * MIB)
}

fn agent(request: Request<Arc<Message>>) -> std::future::Ready<Result<&'static str, Infallible>> {
    drop(request);
    ready(Ok("ok"))
}

fn inline(text: &Bytes) -> Message {
    Message::user(Part::raw(InlineBytes::from_base64(text.clone()))).with_message_id("m")
}

/// The bytes decoded by the `base64` crate as it comes, and put into the store.
fn floor(bytes: usize) -> Work {
    use a2a_layers::{agent::IntoReply as _, blob::File};
    let (text, store) = (Bytes::from(file_base64(bytes)), store());
    work(move || {
        let mut request: Request<Arc<Message>> = Request::new(inline(&text).into());
        let bytes = STANDARD.decode(&text).unwrap();
        let url = now(store.put(File::new(bytes))).unwrap();
        Arc::make_mut(request.body_mut()).parts[0] = Part::url(url);
        now(agent(request)).map(<&str>::into_reply)
    })
}

fn inbound(bytes: usize) -> Work {
    let text = Bytes::from(file_base64(bytes));
    let mut service = BlobLayer::new(store()).layer(service_fn(agent));
    work(move || now(service.call(Request::new(inline(&text).into()))))
}

fn no_file_floor() -> Work {
    use a2a_layers::agent::IntoReply as _;
    work(|| now(agent(Request::new(message(100).into()))).map(<&str>::into_reply))
}

/// The same error, in the box that errors of services come in.
fn refused_floor() -> Work {
    work(|| {
        let error = Error::invalid_params(format!("message.parts[{}]", 0), "cannot be read by whoever it is meant for");
        (Request::new(Arc::new(inline(&Bytes::from_static(b"no base64")))), BoxError::from(error))
    })
}

fn no_file() -> Work {
    let mut service = BlobLayer::new(store()).layer(service_fn(agent));
    work(move || now(service.call(Request::new(message(100).into()))))
}

fn refused() -> Work {
    let text = Bytes::from_static(b"no base64");
    let mut service = BlobLayer::new(store()).layer(service_fn(agent));
    work(move || now(service.call(Request::new(inline(&text).into()))))
}
