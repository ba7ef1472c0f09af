use tower_layer::Layer;

use super::{BlobService, ServeBlobs};

/// Serves the files of a store below one path, and passes all other requests on to the inner HTTP service, so that the
/// URLs work on the same port as everything else. [`BlobService`] says how files are served.
///
/// ```
/// use a2a_layers::blob::{BlobStore, File, MemoryBlobStore, ServeBlobsLayer};
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::{BodyExt, Full};
/// use tower::{ServiceBuilder, ServiceExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), a2a_layers::error::BoxError> {
/// let store = MemoryBlobStore::new("/blobs");
/// let url = store.put(File::new("hi")).await?;
/// let site = ServiceBuilder::new()
///     .layer(ServeBlobsLayer::new("/blobs", store))
///     .service_fn(|_: Request<()>| async { Ok::<_, std::io::Error>(Response::new(Full::new(Bytes::from("home")))) });
///
/// let file = site.clone().oneshot(Request::get(url).body(())?).await?;
/// assert_eq!(file.into_body().collect().await?.to_bytes(), "hi");
/// let home = site.oneshot(Request::get("/").body(())?).await?;
/// assert_eq!(home.into_body().collect().await?.to_bytes(), "home");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ServeBlobsLayer<St> {
    blobs: BlobService<St>,
}

impl<St> ServeBlobsLayer<St> {
    /// Serves the files of this store below this path, such as `/blobs`. Below `/` nothing is left for the inner
    /// service.
    pub fn new(prefix: &str, store: St) -> Self {
        Self { blobs: BlobService::new(store).prefix(prefix) }
    }
}

impl<S, St: Clone> Layer<S> for ServeBlobsLayer<St> {
    type Service = ServeBlobs<S, St>;

    fn layer(&self, inner: S) -> Self::Service {
        ServeBlobs::with_blobs(inner, self.blobs.clone())
    }
}
