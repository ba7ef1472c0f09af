//! gRPC on a mount's port.

#[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
use std::time::Duration;
use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
#[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
use tokio::time::timeout;
use tower_service::Service;

use super::not_grpc::is_grpc;
#[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
use crate::error::ErrorKind;
use crate::{
    error::{BoxError, Error},
    grpc::{self, Grpc},
    operation::{Operation, Outcome, ProtocolVersion},
    task::EventStream,
};

/// What carries out operations in a mount.
pub(super) trait Operations:
    Service<Request<Operation>, Response = Response<Outcome<EventStream>>, Error = Error, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Operations for S where
    S: Service<Request<Operation>, Response = Response<Outcome<EventStream>>, Error = Error, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// The services of a mount that are gRPC's, whatever their types.
pub(super) struct Side<B> {
    agent: Box<dyn Fn(Request<B>) -> grpc::ResponseFuture<EventStream> + Send + Sync>,
    paths: Vec<String>,
    others: Vec<Other<B>>,
    /// How long the others wait for what they are asked.
    #[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
    read_deadline: Option<Duration>,
}

/// A service of tonic's and the path that all of its methods lie below.
struct Other<B> {
    path: String,
    call: Box<dyn Fn(Request<B>) -> OtherFuture + Send + Sync>,
}

type OtherFuture = Pin<Box<dyn Future<Output = Result<Response<tonic::body::Body>, Infallible>> + Send>>;

impl<B> Side<B>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    pub(super) fn new(agent: Grpc<impl Operations>, versions: &[ProtocolVersion]) -> Self {
        let paths = versions.iter().map(|version| format!("/{}", grpc::service_name(*version))).collect();
        Self {
            // It waits for readiness in each call.
            agent: Box::new(move |request| agent.clone().call(request)),
            paths,
            others: Vec::new(),
            #[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
            read_deadline: None,
        }
    }

    /// How long what is beside the agent waits for a message. tonic has a limit of size, 4 MiB, and none of time.
    #[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
    pub(super) fn read_deadline(mut self, deadline: Option<Duration>) -> Self {
        self.read_deadline = deadline;
        self
    }

    /// Says of all that is here that it is serving.
    #[cfg(feature = "grpc-health")]
    pub(super) fn with_health(self) -> Self {
        use futures_util::FutureExt as _;
        use tonic_health::{
            ServingStatus,
            pb::health_server::HealthServer,
            server::{HealthReporter, HealthService},
        };

        let reporter = HealthReporter::new();
        for path in &self.paths {
            // Nobody else knows of it yet, so that there is nothing to wait for.
            let _ = reporter.set_service_status(&path[1..], ServingStatus::Serving).now_or_never();
        }
        self.with(HealthServer::new(HealthService::from_health_reporter(reporter)))
    }

    /// Shows the methods of the agent's packages, in both versions of the protocol.
    #[cfg(feature = "grpc-reflection")]
    pub(super) fn with_reflection(self) -> Self {
        use tonic_reflection::server::Builder;

        let builder = || {
            let all = Builder::configure().register_encoded_file_descriptor_set(grpc::proto::FILE_DESCRIPTOR_SET);
            self.paths.iter().fold(all, |all, path| all.with_service_name(&path[1..]))
        };
        // The descriptors are this crate's own, and a test reads them.
        match (builder().build_v1(), builder().build_v1alpha()) {
            (Ok(new), Ok(old)) => self.with(new).with(old),
            _ => self,
        }
    }

    #[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
    fn with<S>(mut self, service: S) -> Self
    where
        S: Service<Request<tonic::body::Body>, Response = Response<tonic::body::Body>, Error = Infallible>
            + tonic::server::NamedService
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
    {
        use bytes::Buf as _;
        use http_body_util::BodyExt as _;
        use tower::ServiceExt as _;

        let read_deadline = self.read_deadline;
        let call = move |request: Request<B>| -> OtherFuture {
            let request = request.map(|body| {
                let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
                tonic::body::Body::new(body.map_err(Into::<BoxError>::into))
            });
            let answer = service.clone().oneshot(request);
            // They answer at once, so that whatever takes long is the question. A stream goes on behind the answer.
            Box::pin(async move {
                match read_deadline {
                    Some(deadline) => timeout(deadline, answer).await.unwrap_or_else(|_| Ok(too_slow().into_http())),
                    None => answer.await,
                }
            })
        };
        self.others.push(Other { path: format!("/{}", S::NAME), call: Box::new(call) });
        self
    }
}

#[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
fn too_slow() -> tonic::Status {
    tonic::Status::deadline_exceeded(ErrorKind::RequestTimeout.message())
}

impl<B> Side<B> {
    /// The paths below which its methods are.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.paths.iter().chain(self.others.iter().map(|other| &other.path))
    }

    /// True if a request is gRPC's business.
    pub(super) fn takes(&self, request: &Request<B>) -> bool {
        is_grpc(request.headers())
    }

    pub(super) fn call<F>(&self, request: Request<B>) -> AnyFuture<F> {
        let service = request.uri().path().rsplit_once('/').map_or("", |(service, _)| service);
        match self.others.iter().find(|other| other.path == service) {
            Some(other) => AnyFuture::Other { future: (other.call)(request) },
            None => AnyFuture::Agent { future: (self.agent)(request) },
        }
    }
}

pin_project! {
    /// What answers a request: the layers of the other bindings, or gRPC's.
    #[project = AnyFutureProjection]
    pub(super) enum AnyFuture<F> {
        Http { #[pin] future: F },
        Agent { #[pin] future: grpc::ResponseFuture<EventStream> },
        Other { future: OtherFuture },
    }
}

impl<F, T> Future for AnyFuture<F>
where
    F: Future<Output = Result<Response<T>, Infallible>>,
{
    type Output = Result<Response<AnyBody<T>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            AnyFutureProjection::Http { future } => {
                future.poll(cx).map_ok(|response| response.map(|body| AnyBody::Http { body }))
            }
            AnyFutureProjection::Agent { future } => {
                future.poll(cx).map_ok(|response| response.map(|body| AnyBody::Agent { body: Box::pin(body) }))
            }
            AnyFutureProjection::Other { future } => {
                future.as_mut().poll(cx).map_ok(|response| response.map(|body| AnyBody::Other { body }))
            }
        }
    }
}

pin_project! {
    /// The body of that answer.
    #[project = AnyBodyProjection]
    pub(super) enum AnyBody<T> {
        Http { #[pin] body: T },
        // Several times as large as the others are: in a box it does not make all of them heavier to move.
        Agent { body: Pin<Box<grpc::ResponseBody<EventStream>>> },
        Other { #[pin] body: tonic::body::Body },
    }
}

impl<T> Body for AnyBody<T>
where
    T: Body<Data = Bytes, Error = Infallible>,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = match self.project() {
            AnyBodyProjection::Http { body } => return body.poll_frame(cx),
            AnyBodyProjection::Agent { body } => body.as_mut().poll_frame(cx),
            AnyBodyProjection::Other { body } => body.poll_frame(cx),
        };
        // Errors go into trailers; one that did not fit in there leaves a stream without a status, which says as much.
        frame.map(|frame| frame.and_then(Result::ok).map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Http { body } => body.is_end_stream(),
            Self::Agent { body } => body.is_end_stream(),
            Self::Other { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Http { body } => body.size_hint(),
            Self::Agent { body } => body.size_hint(),
            Self::Other { body } => body.size_hint(),
        }
    }
}
