mod body;
mod future;
mod headers;
mod layer;
mod respond;
mod service;

#[cfg(feature = "object-store")]
pub(super) use self::headers::{content_disposition, filename_of};
pub use self::{
    body::ServeBlobsBody,
    future::{BlobFuture, ServeBlobsFuture},
    layer::ServeBlobsLayer,
    service::{BlobService, ServeBlobs},
};
