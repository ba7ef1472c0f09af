use bytes::Bytes;
use http::{Response, request::Parts};

use crate::{error::Error, json_rpc};

/// How a binding says no while a body is still on its way.
///
/// [`Endpoint`](crate::json_rpc::Endpoint) is that of JSON-RPC, `Routes` that of `rest`. A function from an [`Error`] to a response is a gate that
/// lets every head pass.
pub trait Gate {
    /// Looks at a request before its body is read. The answer, if it is refused.
    fn refuse_head(&self, head: &Parts) -> Option<Response<Bytes>> {
        let _ = head;
        None
    }

    /// The answer to a body that is too large
    /// ([`PayloadTooLarge`](crate::error::ErrorKind::PayloadTooLarge)), too slow
    /// ([`RequestTimeout`](crate::error::ErrorKind::RequestTimeout)) or broken off
    /// ([`InvalidRequest`](crate::error::ErrorKind::InvalidRequest)) of the request with this head.
    fn refuse_body(&self, head: &Parts, error: &Error) -> Response<Bytes>;
}

impl<F> Gate for F
where
    F: Fn(&Error) -> Response<Bytes>,
{
    fn refuse_body(&self, _: &Parts, error: &Error) -> Response<Bytes> {
        self(error)
    }
}

/// The gate that is there by default: lets every head pass, and refuses bodies with a JSON-RPC error envelope.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct AnyHead;

impl Gate for AnyHead {
    fn refuse_body(&self, _: &Parts, error: &Error) -> Response<Bytes> {
        json_rpc::refuse_body(error)
    }
}
