//! Keeps file bytes out of messages and tasks: they go into a store, and a URL takes their place.
//!
//! A *blob* is the bytes of one file. The [`BlobLayer`] works on messages, in both directions:
//!
//! - **In:** the size of each inline file is checked before anything is decoded (10 MiB of bytes by default, see
//!   [`BlobLayer::max_bytes`]), then its base64. What is wrong is refused with `-32602`, naming the part, at the first
//!   poll of the response future, and nothing is stored. Otherwise the bytes are [put](BlobStore::put) into the store and
//!   the part becomes a URL; its name, media type and metadata stay.
//! - **Out:** files that the agent answers with, in parts, artifacts, messages and the words of a status, go the same
//!   way, in streams as well, and everything stays in its order. If the store fails, the reply fails there.
//!
//! Messages without inline files pass as they are: nothing is allocated, nothing awaited. A message that is given up
//! midway may leave files in the store that nobody refers to.
//!
//! Data that says it is a file, `{"kind":"file","uri":"…","mimeType":"…","name":"…"}`, is sent as one: that is how an
//! agent whose output is plain JSON names a file that it has put somewhere itself.
//! [`BlobLayer::file_outputs`] turns that off.
//!
//! # Stores
//!
//! [`MemoryBlobStore`] forgets the oldest files beyond its limit and everything when the process ends.
//! `ObjectBlobStore` (feature `object-store`) keeps them in a local directory, S3, GCS or Azure. Both make URLs
//! under an address that you give, where a [`BlobService`] can serve them; [`ServeBlobsLayer`] puts one in front of any
//! other HTTP service. The id in a URL is random, and who knows it may read the file.
//!
//! Files outlive their tasks. Where [`BlobLayer::keep_references`] has it noted which tasks refer to a file, a [`Collector`]
//! removes those that none refers to any more.
//!
//! # When to leave it out
//!
//! Without the layer, an agent that takes messages gets the bytes as they are, one behind the [`part`](crate::part)
//! layer gets none (inline bytes are refused), and files are answered inline. Where that must not happen, though there
//! is no store, [`BlobLayer::required`] fails such answers instead.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use a2a_layers::{
//!     blob::{BlobLayer, MemoryBlobStore},
//!     error::BoxError,
//!     types::{Message, Part, PartContent},
//! };
//! use http::Request;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let store = MemoryBlobStore::new("https://agent.example/blobs");
//! let agent = ServiceBuilder::new().layer(BlobLayer::new(store.clone())).service_fn(|req: Request<Arc<Message>>| async move {
//!     let file = &req.body().parts[0];
//!     assert!(matches!(&file.content, PartContent::Url(url) if url.starts_with("https://agent.example/blobs/")));
//!     assert_eq!(file.filename.as_deref(), Some("a.png"));
//!     Ok::<_, BoxError>("a nice picture")
//! });
//!
//! let picture = Part::raw(&b"\x89PNG"[..]).with_filename("a.png").with_media_type("image/png");
//! agent.oneshot(Request::new(Message::user(picture).into())).await?;
//! assert_eq!(store.len(), 1);
//! # Ok(())
//! # }
//! ```

mod collector;
mod file_output;
mod files;
mod future;
mod inbound;
mod layer;
mod outbound;
mod serve;
mod service;
mod store;

#[cfg(feature = "object-store")]
#[cfg_attr(docsrs, doc(cfg(feature = "object-store")))]
pub use self::store::ObjectBlobStore;
pub use self::{
    collector::{Collected, Collector},
    future::ResponseFuture,
    layer::BlobLayer,
    serve::{BlobFuture, BlobService, ServeBlobs, ServeBlobsBody, ServeBlobsFuture, ServeBlobsLayer},
    service::Blobs,
    store::{BlobId, BlobStore, File, MemoryBlobStore, NoBlobStore, Reference, Referrer},
};
