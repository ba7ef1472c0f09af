use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::Either;
use http::{Request, Response, StatusCode};
use tower_service::Service;

use super::{A2aService, ConfigError, ResponseBody, ResponseFuture};

/// Several agents, or one agent in several ways, behind one port.
///
/// A request goes to the mount that has its path. Two mounts that claim the same path are an error when they are put
/// together, because only one of them could ever be reached:
///
/// - By default every mount has its card at the same well-known path. Give all but one another with
///   [`Mount::card_path`](super::Mount::card_path).
/// - Files that share a blob store are served by one mount. The others keep theirs in it without serving them:
///   `blob_store(store, None)`.
///
/// Tasks are apart: what one mount knows, the others do not, unless their
/// [task store](super::Mount::task_store) is a clone of the same.
///
/// ```
/// use a2a_layers::{error::BoxError, part::Input, server::{Mount, Mounts}};
/// use http::Request;
/// use tower::service_fn;
///
/// let agent = service_fn(async |request: Request<Input>| Ok::<_, BoxError>(request.body().text().to_owned()));
/// let first = Mount::new("first", agent).url("http://localhost:8000/first").build()?;
/// let second = Mount::new("second", agent)
///     .url("http://localhost:8000/second")
///     .card_path("/second/agent-card.json")
///     .build()?;
/// let mounts = Mounts::<axum::body::Body>::new().mount(first)?.mount(second)?;
/// # let _ = mounts;
/// # Ok::<_, a2a_layers::server::ConfigError>(())
/// ```
pub struct Mounts<B> {
    mounts: Arc<[A2aService<B>]>,
}

impl<B> Mounts<B> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self { mounts: Arc::new([]) }
    }

    /// With one more.
    ///
    /// # Errors
    /// [`ConfigError::PathTaken`] if another mount has one of its paths.
    pub fn mount(self, mount: A2aService<B>) -> Result<Self, ConfigError> {
        for first in &*self.mounts {
            let taken = mount.paths().iter().find(|path| first.paths().iter().any(|other| same(path, other)));
            if let Some(path) = taken {
                let (first, second) = (first.id().to_owned(), mount.id().to_owned());
                return Err(ConfigError::PathTaken { path: path.clone(), first, second });
            }
        }
        Ok(Self { mounts: self.mounts.iter().cloned().chain([mount]).collect() })
    }

    /// The mount that has this path: its own path, or, of those it lies below, the longest.
    fn find(&self, path: &str) -> Option<&A2aService<B>> {
        let claim = |mount: &&A2aService<B>| mount.paths().iter().filter_map(|own| claims(own, path)).max();
        self.mounts.iter().filter(|mount| claim(mount).is_some()).max_by_key(claim)
    }
}

fn same(left: &str, right: &str) -> bool {
    left.trim_end_matches('/') == right.trim_end_matches('/')
}

/// How much of a path is a mount's own.
fn claims(own: &str, path: &str) -> Option<usize> {
    let own = own.trim_end_matches('/');
    let rest = path.strip_prefix(own)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(own.len())
}

impl<B> Default for Mounts<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Clone for Mounts<B> {
    fn clone(&self) -> Self {
        Self { mounts: Arc::clone(&self.mounts) }
    }
}

impl<B> fmt::Debug for Mounts<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&*self.mounts).finish()
    }
}

impl<B> Service<Request<B>> for Mounts<B> {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Either<ResponseFuture, Ready<Result<Response<ResponseBody>, Infallible>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match self.find(request.uri().path()) {
            Some(mount) => Either::Left(mount.clone().call(request)),
            None => {
                let mut response = Response::new(ResponseBody::empty());
                *response.status_mut() = StatusCode::NOT_FOUND;
                Either::Right(ready(Ok(response)))
            }
        }
    }
}
