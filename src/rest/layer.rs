use tower_layer::Layer;

use super::{Rest, Routes};

/// Serves calls as HTTP verbs and paths. See the [module documentation](super).
#[derive(Clone, Debug, Default)]
pub struct RestLayer {
    pub(super) routes: Routes,
}

impl RestLayer {
    /// Paths right below the root.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves the paths below this one. See [`Routes::base`].
    #[must_use]
    pub fn base(mut self, path: impl AsRef<str>) -> Self {
        self.routes = self.routes.base(path);
        self
    }

    /// Whether answers of version 1.0 say that they are `application/json`. See [`Routes::plain_json`].
    #[must_use]
    pub fn plain_json(mut self, plain: bool) -> Self {
        self.routes = self.routes.plain_json(plain);
        self
    }

    /// What this layer asks of a request's head, for [`BodyLayer::gate`](crate::body::BodyLayer::gate).
    #[must_use]
    pub fn routes(&self) -> Routes {
        self.routes.clone()
    }

    pub(crate) fn gate(&self) -> &Routes {
        &self.routes
    }
}

impl<S> Layer<S> for RestLayer {
    type Service = Rest<S>;

    fn layer(&self, inner: S) -> Rest<S> {
        Rest::new(inner, self.clone())
    }
}
