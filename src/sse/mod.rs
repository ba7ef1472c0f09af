//! Server-sent events: writes a stream of frames as `text/event-stream`, and a document as it is.
//!
//! Everything in front of this layer sees an ordinary HTTP body. Leave it out to write streams in another way, or where
//! nothing streams.
//!
//! # What is written
//!
//! ```text
//! : connected
//!
//! id: 1
//! data: {"jsonrpc":"2.0","id":1,"result":{"task":{}}}
//!
//! : ping
//!
//! ```
//!
//! `: connected` at once, so that readers and proxies know that it has begun; each document on one `data:` line, with
//! its number as `id:` and its name, if it has one, as `event:`; `: ping`
//! after [15 seconds](SseLayer::heartbeat) without an event. The stream ends right after its last event. Line ends in a
//! document, also U+0085, U+2028 and U+2029, which some readers take for such, are made harmless without a change of
//! meaning. The response says `Cache-Control: no-cache`, and `X-Accel-Buffering: no` for proxies that hold answers back.
//!
//! An event is never split over two body frames. Events that are ready together share one, up to
//! [`SseLayer::FRAME_SIZE`]; [`one_event_per_frame`](SseLayer::one_event_per_frame) keeps them apart.
//!
//! Heartbeats need tokio's timer. A reader that does not read holds up nothing but its own stream, which is not polled.
//!
//! # Example
//!
//! ```
//! use std::convert::Infallible;
//!
//! use a2a_layers::{
//!     encoded::{Encoded, Frame},
//!     sse::SseLayer,
//! };
//! use futures_util::stream::{self, Stream};
//! use http::{Request, Response};
//! use http_body_util::BodyExt;
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! async fn count(_: Request<()>) -> Result<Response<Encoded<impl Stream<Item = Frame>>>, Infallible> {
//!     let numbers = stream::iter(1..3).map(|number| Frame::new(number.to_string()).with_id(Some(number)));
//!     Ok(Response::new(Encoded::Stream(numbers)))
//! }
//! # use futures_util::StreamExt as _;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let service = ServiceBuilder::new().layer(SseLayer::new()).service(service_fn(count));
//! let response = service.oneshot(Request::new(())).await.unwrap();
//! assert_eq!(response.headers()["content-type"], "text/event-stream");
//!
//! let text = response.into_body().collect().await.unwrap().to_bytes();
//! assert_eq!(text, ": connected\n\nid: 1\ndata: 1\n\nid: 2\ndata: 2\n\n");
//! # }
//! ```
//!
//! For a reader that knows nothing but `data:` lines, and takes each chunk for one:
//!
//! ```
//! use a2a_layers::sse::SseLayer;
//!
//! let bare = SseLayer::new().ids(false).comments(false).one_event_per_frame(true);
//! # let _ = bare;
//! ```

mod body;
mod event;
mod future;
mod layer;
mod service;

pub use self::{body::ResponseBody, future::ResponseFuture, layer::SseLayer, service::Sse};
