//! One call from its head to its answer.

use std::time::Duration;

use bytes::{Buf as _, Bytes};
use futures_core::Stream;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header, request::Parts};
use tokio::time::{Instant, timeout_at};
use tonic::Status;
use tower::ServiceExt as _;
use tower_service::Service;

use super::{
    ResponseBody,
    head::{check_version, is_grpc, timeout},
    language::Language,
    layer::Config,
    rpc::Rpc,
    status::{log, status},
};
use crate::{
    body,
    capability::Offered,
    dialect::check_data,
    error::{BoxError, Error, ErrorKind, find_error},
    operation::{Answer, GetTask, Operation, OperationRequest, Outcome, ProtocolVersion, StreamEvent},
};

/// In front of each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Why there is no answer.
pub(super) enum Refusal {
    /// The request is none of gRPC's.
    Http(StatusCode),
    Grpc(Status),
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        log(error);
        Self::Grpc(status(error))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// A call whose head is in order.
pub(super) struct Exchange {
    rpc: Rpc,
    /// When the caller gives up.
    deadline: Option<Instant>,
    limit: usize,
    read_deadline: Option<Duration>,
    strict_data: bool,
    base64_files: bool,
    offered: Option<Offered>,
}

impl Exchange {
    pub(super) fn begin(config: &Config, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Self, Refusal> {
        if !is_grpc(headers) {
            return Err(Refusal::Http(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        if method != Method::POST {
            return Err(Refusal::Http(StatusCode::METHOD_NOT_ALLOWED));
        }
        let rpc = Rpc::find(uri.path(), config.versions()).map_err(|unknown| {
            Error::new(ErrorKind::MethodNotFound).with_detail(format!("{unknown} as {}", uri.path()))
        })?;
        check_version(headers, rpc.version, config.versions())?;
        let deadline = timeout(headers)?.and_then(|timeout| Instant::now().checked_add(timeout));
        let Config { limit, read_deadline, strict_data, base64_files, offered, .. } = *config;
        Ok(Self { rpc, deadline, limit, read_deadline, strict_data, base64_files, offered })
    }

    /// Reads the message, has the operation carried out, and gives the answer.
    pub(super) async fn carry_out<S, B, T>(
        self,
        inner: S,
        request: Request<B>,
    ) -> Result<Response<ResponseBody<T>>, Refusal>
    where
        S: Service<Request<Operation>, Response = Response<Outcome<T>>> + Clone,
        S::Error: Into<BoxError>,
        T: Stream<Item = Result<StreamEvent, Error>> + Send + 'static,
        B: http_body::Body,
        B::Error: Into<BoxError>,
    {
        let (head, body) = request.into_parts();
        let language = Language::of(self.rpc.version, self.base64_files);
        let answer = async {
            let message = self.read(body).await?;
            let operation = language.decode(self.rpc.kind, message).map_err(|error| self.explain(error))?;
            if self.strict_data {
                check_data(operation.request())?;
            }
            self.ask(inner, head, operation).await
        };
        let response = match self.deadline {
            // Who gives up stops waiting; a run goes on all the same.
            Some(deadline) => timeout_at(deadline, answer).await.map_err(|_| Refusal::Grpc(late()))?,
            None => answer.await,
        };
        let (mut head, outcome) = response?.into_parts();
        let body = match outcome {
            Outcome::Answer(Answer::Task(view)) if self.rpc.kind.is_streaming() => {
                ResponseBody::message(language.event(&StreamEvent::Snapshot(view, 0))?)
            }
            Outcome::Answer(answer) => ResponseBody::message(language.answer(&answer)?),
            Outcome::Stream(stream) => ResponseBody::stream(stream, language, self.deadline),
        };
        head.headers.insert(header::CONTENT_TYPE, super::CONTENT_TYPE);
        Ok(Response::from_parts(head, body))
    }

    /// What the agent does not offer it does not offer, whatever the message lacks.
    #[cold]
    fn explain(&self, error: Error) -> Error {
        let offered = self.offered.filter(|_| error.kind() == ErrorKind::InvalidParams);
        offered.and_then(|offered| offered.refusal(self.rpc.kind)).unwrap_or(error)
    }

    async fn read<B>(&self, body: B) -> Result<Bytes, Error>
    where
        B: http_body::Body,
        B::Error: Into<BoxError>,
    {
        let mut body =
            body::read(body, self.limit.saturating_add(PREFIX), self.read_deadline).await.map_err(|error| {
                // The limit is one on messages, of which there is one here.
                if error.kind() == ErrorKind::PayloadTooLarge { too_large(self.limit) } else { error }
            })?;
        if body.len() < PREFIX {
            return Err(malformed("there must be a message"));
        }
        let (flag, length) = (body.get_u8(), body.get_u32() as usize);
        match flag {
            0 => {}
            1 => return Err(Error::new(ErrorKind::MethodNotFound).with_detail("compressed messages are not read")),
            _ => return Err(malformed("the message has a flag that there is not")),
        }
        if length > self.limit {
            return Err(too_large(self.limit));
        }
        if length != body.len() {
            return Err(malformed("there must be one whole message"));
        }
        Ok(body)
    }

    async fn ask<S, T>(&self, inner: S, head: Parts, operation: Operation) -> Result<Response<Outcome<T>>, Error>
    where
        S: Service<Request<Operation>, Response = Response<Outcome<T>>> + Clone,
        S::Error: Into<BoxError>,
    {
        let subscription = self.after_the_end(&inner, &head, &operation);
        match call(inner, Request::from_parts(head, operation)).await {
            Err(error) => match subscription {
                Some((inner, request)) if is_over(&error) => call(inner, request).await,
                _ => Err(error),
            },
            response => response,
        }
    }

    /// What to ask in place of a subscription to a task that is over: 0.3 answers it with the task (its proto, at
    /// `TaskSubscription`), where 1.0 has an error.
    fn after_the_end<S: Clone>(
        &self,
        inner: &S,
        head: &Parts,
        operation: &Operation,
    ) -> Option<(S, Request<Operation>)> {
        match operation.request() {
            OperationRequest::SubscribeToTask(subscribe) if self.rpc.version == ProtocolVersion::V0_3 => {
                let get = OperationRequest::GetTask(GetTask::new(subscribe.id.clone()));
                let get = Operation::new(operation.version(), operation.binding(), get);
                Some((inner.clone(), Request::from_parts(head.clone(), get)))
            }
            _ => None,
        }
    }
}

/// Calls a service that may not be ready, if it has been ready before at least.
async fn call<S, T>(inner: S, request: Request<Operation>) -> Result<Response<Outcome<T>>, Error>
where
    S: Service<Request<Operation>, Response = Response<Outcome<T>>>,
    S::Error: Into<BoxError>,
{
    inner.oneshot(request).await.map_err(|error| find_error(error.into()))
}

/// True if the task is what does not support the operation, and not the agent.
fn is_over(error: &Error) -> bool {
    error.kind() == ErrorKind::UnsupportedOperation && error.info().iter().any(|(name, _)| *name == "taskId")
}

fn too_large(limit: usize) -> Error {
    Error::new(ErrorKind::PayloadTooLarge).with_detail(format!("at most {limit} bytes are read"))
}

fn malformed(detail: &'static str) -> Error {
    Error::new(ErrorKind::InvalidRequest).with_detail(detail)
}

pub(super) fn late() -> Status {
    Status::deadline_exceeded("The caller's deadline has passed")
}
