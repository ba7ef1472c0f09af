use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::{AgentCardLayer, ResponseBody, ResponseFuture};

/// Serves an agent's card and passes everything else on. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct ServeAgentCard<S> {
    inner: S,
    config: AgentCardLayer,
}

impl<S> ServeAgentCard<S> {
    /// Serves the card that the layer holds, in front of this service.
    pub fn new(inner: S, config: AgentCardLayer) -> Self {
        Self { inner, config }
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for ServeAgentCard<S>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
{
    type Response = Response<ResponseBody<ResBody>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        match self.config.answer(&request) {
            Some(response) => ResponseFuture::card(response),
            None => ResponseFuture::inner(self.inner.call(request)),
        }
    }
}
