use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use tower_service::Service;

use super::{
    CardError, PublicUrl, check,
    conditional::{http_date, is_current},
    document::{Document, Forms},
};
use crate::{
    dialect::Dialect,
    types::{AgentCard, Timestamp},
};

/// How long a card may be kept: five minutes, so that a changed card is seen soon and an agent that is called often is
/// not asked for it each time.
const MAX_AGE: Duration = Duration::from_secs(300);

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
/// What a script of another origin may send along.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "A2A-Version, A2A-Extensions, X-A2A-Extensions, Authorization, Cache-Control, Content-Type, If-Modified-Since, \
     If-None-Match",
);
/// What a script of another origin may read, beyond what it always may.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static("ETag, Deprecation");
/// How long a browser may remember what a preflight said, in seconds: browsers keep it no longer than two hours anyway.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
/// When the old path was given up: the day that version 0.3.0 came out, as RFC 9745 writes it.
const DEPRECATION: HeaderValue = HeaderValue::from_static("@1753833600");

/// Answers every request with an agent's card, whatever its path; for a router of your own. Clones share the card.
///
/// See the [module docs](super) for what it answers.
#[derive(Clone, Debug)]
#[must_use]
pub struct AgentCardService(Arc<Config>);

#[derive(Clone)]
struct Config {
    card: AgentCard,
    dialects: Vec<Arc<dyn Dialect>>,
    forms: Forms,
    public_url: PublicUrl,
    cache_control: HeaderValue,
    last_modified: Timestamp,
    last_modified_header: Option<HeaderValue>,
    cors: bool,
    vary: HeaderValue,
}

impl AgentCardService {
    /// Serves this card, modified now.
    ///
    /// # Errors
    /// If the card breaks a rule that it must keep; see [`check`](super::check).
    pub fn new(card: AgentCard) -> Result<Self, CardError> {
        check(&card)?;
        let last_modified = Timestamp::now();
        let config = Config {
            forms: Forms::new(&card, &[])?,
            card,
            dialects: Vec::new(),
            public_url: PublicUrl::fixed(),
            cache_control: cache_control(MAX_AGE),
            last_modified,
            last_modified_header: http_date(last_modified),
            cors: true,
            vary: vary(true, &PublicUrl::fixed()),
        };
        Ok(Self(Arc::new(config)))
    }

    /// Clients and proxies may keep the card for so long. The default is five minutes; parts of seconds do not count.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.config().cache_control = cache_control(age);
        self
    }

    /// When the card was last changed. The default is the moment at which this service was made.
    pub fn last_modified(mut self, moment: Timestamp) -> Self {
        let config = self.config();
        config.last_modified = moment;
        config.last_modified_header = http_date(moment);
        self
    }

    /// Whether scripts of other origins may read the card. The default is yes: a card is public. Say no if a layer
    /// outside already decides this for all paths.
    pub fn cors(mut self, allowed: bool) -> Self {
        let config = self.config();
        config.cors = allowed;
        config.vary = vary(config.cors, &config.public_url);
        self
    }

    /// Where the card's addresses come from. The default is the card itself.
    ///
    /// # Errors
    /// If none of the card's addresses begins with the base that is to be replaced.
    pub fn public_url(mut self, public_url: PublicUrl) -> Result<Self, CardError> {
        let config = self.config();
        public_url.check(&config.card)?;
        config.vary = vary(config.cors, &public_url);
        config.public_url = public_url;
        Ok(self)
    }

    /// Offers the card in the form of this version too, if the card has an interface of it.
    ///
    /// # Errors
    /// If the dialect cannot write the card.
    pub fn dialect(mut self, dialect: Arc<dyn Dialect>) -> Result<Self, CardError> {
        let config = self.config();
        config.dialects.push(dialect);
        config.forms = Forms::new(&config.card, &config.dialects)?;
        Ok(self)
    }

    /// The card.
    #[must_use]
    pub fn card(&self) -> &AgentCard {
        &self.0.card
    }

    fn config(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.0)
    }

    pub(super) fn respond<B>(&self, request: &Request<B>, deprecated: bool) -> Response<Full<Bytes>> {
        let config = &*self.0;
        let mut response = match *request.method() {
            Method::GET => config.get(request, true),
            Method::HEAD => config.get(request, false),
            Method::OPTIONS => config.options(request.headers()),
            _ => {
                let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
                response.headers_mut().insert(header::ALLOW, METHODS);
                response
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::VARY, config.vary.clone());
        if deprecated {
            headers.insert("deprecation", DEPRECATION);
        }
        if let Some(origin) = request.headers().get(header::ORIGIN).filter(|_| config.cors) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
        response
    }
}

impl Config {
    fn get<B>(&self, request: &Request<B>, with_body: bool) -> Response<Full<Bytes>> {
        let (headers, uri) = (request.headers(), request.uri());
        let form = self.forms.pick(headers, uri);
        // A card for a forwarded host is written for each request: hosts are the callers' choice, and whoever remembers
        // them can be made to remember a great many.
        let seen = self.public_url.apply(&self.card, headers, uri).and_then(|card| form.encode(&card));
        let Document { body, etag } = seen.unwrap_or_else(|| form.document.clone());

        let current = is_current(headers, &etag, self.last_modified);
        let mut response = if current {
            empty(StatusCode::NOT_MODIFIED)
        } else {
            let length = HeaderValue::from(body.len());
            let mut response = Response::new(if with_body { Full::new(body) } else { Full::default() });
            response.headers_mut().insert(header::CONTENT_LENGTH, length);
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, etag);
        headers.insert(header::CACHE_CONTROL, self.cache_control.clone());
        if let Some(date) = &self.last_modified_header {
            headers.insert(header::LAST_MODIFIED, date.clone());
        }
        response
    }

    fn options(&self, request: &HeaderMap) -> Response<Full<Bytes>> {
        let mut response = empty(StatusCode::NO_CONTENT);
        let headers = response.headers_mut();
        headers.insert(header::ALLOW, METHODS);
        if self.cors && request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
        }
        response
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("card", &self.card.name)
            .field("forms", &self.forms)
            .field("public_url", &self.public_url)
            .finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for AgentCardService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.respond(&request, false)))
    }
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn cache_control(age: Duration) -> HeaderValue {
    // Digits are always a header value.
    HeaderValue::try_from(format!("public, max-age={}", age.as_secs())).unwrap_or(HeaderValue::from_static("no-cache"))
}

fn vary(cors: bool, public_url: &PublicUrl) -> HeaderValue {
    let names = format!("A2A-Version{}{}", if cors { ", Origin" } else { "" }, public_url.vary());
    // Names of headers are always a header value.
    HeaderValue::try_from(names).unwrap_or(HeaderValue::from_static("*"))
}
