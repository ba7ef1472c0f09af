use std::{convert::Infallible, future::ready};

use a2a_layers::{
    capability::CapabilityLayer,
    operation::{Answer, GetTask, Operation, OperationRequest, Outcome, SubscribeToTask},
};
use http::{Request, Response};
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Make, benches, now, work},
    data::{ID, message, operation, send},
};

benches![
    Case::new(
        "send",
        || work(|| now(inner(send(message(100))))),
        || {
            let mut service = CapabilityLayer::new().streaming(true).layer(service_fn(inner));
            work(move || now(service.call(send(message(100)))))
        }
    ),
    Case::new(
        "get",
        || work(|| now(inner(operation(OperationRequest::GetTask(GetTask::new(ID)))))),
        || {
            let mut service = CapabilityLayer::new().layer(service_fn(inner));
            work(move || now(service.call(operation(OperationRequest::GetTask(GetTask::new(ID))))))
        }
    ),
    Case::new("a stream refused", SUBSCRIBE, || {
        let mut service = CapabilityLayer::new().layer(service_fn(inner));
        work(move || now(service.call(subscribe())))
    }),
];

const SUBSCRIBE: Make = || work(|| now(inner(subscribe())));

fn subscribe() -> Request<Operation> {
    operation(OperationRequest::SubscribeToTask(SubscribeToTask::new(ID)))
}

fn inner(request: Request<Operation>) -> std::future::Ready<Result<Response<Outcome<()>>, Infallible>> {
    drop(request);
    ready(Ok(Response::new(Outcome::Answer(Answer::PushConfigDeleted))))
}
