use std::collections::BTreeMap;

/// One way in which callers can authenticate (spec 1.0 §4.5).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SecurityScheme {
    /// What it is, for people.
    pub description: Option<String>,
    /// How it works.
    pub kind: SecuritySchemeKind,
}

/// How a [`SecurityScheme`] works.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SecuritySchemeKind {
    /// A key in the query, a header or a cookie.
    ApiKey {
        /// Where it is sent.
        location: ApiKeyLocation,
        /// The name of the parameter, header or cookie.
        name: String,
    },
    /// An HTTP authentication scheme.
    Http {
        /// Its name, such as `Bearer`.
        scheme: String,
        /// What a bearer token looks like, such as `JWT`.
        bearer_format: Option<String>,
    },
    /// OAuth 2.0.
    OAuth2 {
        /// The flows; 1.0 has exactly one.
        flows: Vec<OAuthFlow>,
        /// Where the authorization server describes itself.
        metadata_url: Option<String>,
    },
    /// OpenID Connect.
    OpenIdConnect {
        /// Where the provider describes itself.
        url: String,
    },
    /// A client certificate.
    MutualTls,
}

/// Where an API key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiKeyLocation {
    /// In the query.
    Query,
    /// In a header.
    Header,
    /// In a cookie.
    Cookie,
}

/// One flow of OAuth 2.0. Which URLs are set depends on the kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OAuthFlow {
    /// Which flow.
    pub kind: OAuthFlowKind,
    /// Where the user authorizes, or, in the device flow, the device.
    pub authorization_url: Option<String>,
    /// Where tokens are fetched.
    pub token_url: Option<String>,
    /// Where tokens are renewed.
    pub refresh_url: Option<String>,
    /// Each scope and what it allows.
    pub scopes: BTreeMap<String, String>,
    /// True if PKCE is required.
    pub pkce_required: bool,
}

/// The flows of OAuth 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OAuthFlowKind {
    /// Authorization code.
    AuthorizationCode,
    /// Client credentials.
    ClientCredentials,
    /// Implicit; deprecated.
    Implicit,
    /// Resource owner password; deprecated.
    Password,
    /// Device code; 1.0 alone.
    DeviceCode,
}

/// Schemes that must be met together, each with its scopes.
pub type SecurityRequirement = BTreeMap<String, Vec<String>>;

impl SecurityScheme {
    /// A scheme without a description.
    #[must_use]
    pub const fn new(kind: SecuritySchemeKind) -> Self {
        Self { description: None, kind }
    }
}

impl OAuthFlow {
    /// A flow without URLs and scopes.
    #[must_use]
    pub const fn new(kind: OAuthFlowKind) -> Self {
        Self {
            kind,
            authorization_url: None,
            token_url: None,
            refresh_url: None,
            scopes: BTreeMap::new(),
            pkce_required: false,
        }
    }
}
