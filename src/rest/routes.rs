use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, header, request::Parts};

use super::{
    answer::{Form, error_response, options, refuse_verb, respond},
    route::{self, Refusal, Route},
};
use crate::{
    binding::{is_json, is_plain, refuse_encoding, without_slash},
    body::Gate,
    error::{Error, ErrorKind},
};

/// The media type that 1.0 made for this binding (spec 1.0 §14.1).
const A2A_JSON: &str = "application/a2a+json";
const JSON: &str = "application/json";

/// What a request must look like from outside, before its body counts: path, verb, media type, encoding.
///
/// [`RestLayer::routes`](super::RestLayer::routes) hands it out, and [`BodyLayer`](crate::body::BodyLayer) takes it as
/// its [`Gate`], so that what is refused anyway is refused before its body is read.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Without a slash at its end.
    base: Arc<str>,
    plain_json: bool,
}

impl Routes {
    /// Paths right below the root.
    #[must_use]
    pub fn new() -> Self {
        Self { base: Arc::from(""), plain_json: false }
    }

    /// Serves the paths below this one, such as `/agents/echo/message:send` below `/agents/echo`. Default: `/`.
    ///
    /// What counts is the path as it arrives here, so a router that cuts off a prefix changes it.
    #[must_use]
    pub fn base(mut self, path: impl AsRef<str>) -> Self {
        self.base = Arc::from(without_slash(path.as_ref()));
        self
    }

    /// Whether answers of version 1.0 say that they are `application/json`, for clients that know no other. Default: no,
    /// they are `application/a2a+json` (spec 1.0 §11.1). Version 0.3 knows no other.
    #[must_use]
    pub fn plain_json(mut self, plain: bool) -> Self {
        self.plain_json = plain;
        self
    }

    fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&*self.base)?.strip_prefix('/')
    }

    /// How the answer to this request looks, whatever it says.
    fn form(&self, head: &Parts) -> Form {
        self.form_of(self.below(head.uri.path()).is_some_and(route::is_0_3))
    }

    pub(super) fn form_of(&self, is_0_3: bool) -> Form {
        let media_type = if is_0_3 || self.plain_json { JSON } else { A2A_JSON };
        Form { is_0_3, media_type }
    }

    /// What the request asks for.
    pub(super) fn admit<'a>(&self, head: &'a Parts) -> Result<Route<'a>, Refusal> {
        let path = self.below(head.uri.path()).ok_or(Refusal::Nothing)?;
        let route = route::find(&head.method, path)?;
        if head.method == Method::POST {
            admit_body(head)?;
        }
        Ok(route)
    }

    /// The answer to a request that is refused.
    pub(super) fn refuse(&self, head: &Parts, refusal: Refusal) -> Response<Bytes> {
        let form = self.form(head);
        match refusal {
            Refusal::Verb(resource) if head.method == Method::OPTIONS => options(resource),
            Refusal::Verb(resource) => refuse_verb(form, resource),
            Refusal::Encoded => refuse_encoding(|status, error| respond(form, error, status)),
            Refusal::Error(error) => error_response(form, &error),
            Refusal::Nothing => {
                let error = Error::new(ErrorKind::MethodNotFound).with_detail("there is nothing at this path");
                error_response(form, &error)
            }
        }
    }
}

/// A body is looked at where one is wanted. Nobody has to say what type the absent ones are of.
fn admit_body(head: &Parts) -> Result<(), Refusal> {
    if head.headers.get(header::CONTENT_LENGTH).is_some_and(|length| length == "0") {
        return Ok(());
    }
    if !head.headers.get(header::CONTENT_TYPE).is_none_or(is_json) {
        let detail = "send application/a2a+json or application/json";
        return Err(Error::new(ErrorKind::ContentTypeNotSupported).with_detail(detail).into());
    }
    if is_plain(&head.headers) { Ok(()) } else { Err(Refusal::Encoded) }
}

impl Default for Routes {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate for Routes {
    fn refuse_head(&self, head: &Parts) -> Option<Response<Bytes>> {
        self.admit(head).err().map(|refusal| self.refuse(head, refusal))
    }

    fn refuse_body(&self, head: &Parts, error: &Error) -> Response<Bytes> {
        error_response(self.form(head), error)
    }
}
