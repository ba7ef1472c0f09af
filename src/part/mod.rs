//! Turns messages into what an agent reads: a text, a JSON value, a file, or an ordered list of them.
//!
//! The [`PartLayer`] makes one [`Input`] of a message's parts. Most agents only ask for [`Input::text`]; those that
//! want more match on [`Input::form`] or [read](Input::read) their own type. The message itself stays at hand.
//!
//! | parts of the message | [`Form`] | as JSON |
//! | --- | --- | --- |
//! | texts only | their lines, joined | `"hi"` |
//! | one of data | the data | `{"a":1}` |
//! | one file | its URL, media type and name | `{"uri":"https://…","mimeType":"image/png","name":"a.png"}` |
//! | anything else | all of them, in order | `[{"text":"hi"},{"data":{"a":1}},{"file":{"uri":"https://…"}}]` |
//!
//! A file's URL is handed on as it came and never fetched. Bytes that lie in the message itself are refused with
//! `-32602`, because an input has no place for them: put a [`blob`](crate::blob) layer in front, which stores them and
//! leaves their URL.
//!
//! Refusals are there at the first poll of the response future, before the agent is called.
//!
//! # When to leave it out
//!
//! If the agent wants the message itself, bytes included: an agent may as well be a
//! `Service<http::Request<Arc<Message>>>`.
//!
//! # Example
//!
//! ```
//! use a2a_layers::{
//!     error::{BoxError, Error},
//!     part::{Form, Input, PartLayer},
//!     types::{Message, Part, Role},
//! };
//! use http::Request;
//! use serde::Deserialize;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! #[derive(Deserialize)]
//! struct Order {
//!     dish: String,
//!     count: u32,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let waiter = ServiceBuilder::new().layer(PartLayer::new()).service_fn(|req: Request<Input>| async move {
//!     Ok::<_, Error>(match req.body().form() {
//!         Form::Data(_) => {
//!             let order: Order = req.body().read()?;
//!             format!("{} times {}", order.count, order.dish)
//!         }
//!         _ => format!("you said: {}", req.body().text()),
//!     })
//! });
//!
//! let words = Message::new(Role::User, vec![Part::text("a"), Part::text("b")]);
//! let answer = waiter.clone().oneshot(Request::new(words.into())).await?;
//! assert_eq!(answer, "you said: a\nb");
//!
//! let order = Message::user(serde_json::json!({"dish": "soup", "count": 2}));
//! let answer = waiter.clone().oneshot(Request::new(order.into())).await?;
//! assert_eq!(answer, "2 times soup");
//!
//! let wrong = Message::user(serde_json::json!({"dish": "soup", "count": "two"}));
//! let error = waiter.oneshot(Request::new(wrong.into())).await.unwrap_err().downcast::<Error>()?;
//! assert_eq!(error.code(), -32602);
//! assert_eq!(error.violations()[0].field, "message.parts[0].data.count");
//! # Ok(())
//! # }
//! ```

mod form;
mod future;
mod input;
mod layer;
mod read;
mod service;

pub use self::{
    form::{FileRef, Form},
    future::ResponseFuture,
    input::Input,
    layer::PartLayer,
    service::Parts,
};
