//! From a verb and a path to an operation.

use std::borrow::Cow;

use http::Method;

use crate::{
    error::Error,
    operation::{OperationKind, ProtocolVersion},
    percent,
};

/// What a verb and a path mean, and what stands in the path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Route<'a> {
    pub(super) kind: OperationKind,
    pub(super) is_0_3: bool,
    pub(super) tenant: Option<Cow<'a, str>>,
    pub(super) task_id: Option<Cow<'a, str>>,
    pub(super) config_id: Option<Cow<'a, str>>,
}

/// Why there is no operation.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There is nothing at the path.
    Nothing,
    /// There is something, but not for this verb.
    Verb(Resource),
    /// The body is compressed.
    Encoded,
    /// Anything else.
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Send,
    Stream,
    Tasks,
    Task,
    Cancel,
    Subscribe,
    PushConfigs,
    PushConfig,
    ExtendedCard,
}

impl Resource {
    /// The verbs of an `Allow` header.
    pub(super) const fn allow(self) -> &'static str {
        match self {
            Self::Send | Self::Stream | Self::Cancel => "POST, OPTIONS",
            Self::Tasks | Self::Task | Self::ExtendedCard => "GET, HEAD, OPTIONS",
            // The proto says GET, the prose POST.
            Self::Subscribe => "GET, POST, OPTIONS",
            Self::PushConfigs => "GET, HEAD, POST, OPTIONS",
            Self::PushConfig => "GET, HEAD, DELETE, OPTIONS",
        }
    }

    fn operation(self, verb: &Method) -> Option<OperationKind> {
        let is = |wanted: Method| *verb == wanted;
        let reads = is(Method::GET) || is(Method::HEAD);
        Some(match self {
            Self::Send if is(Method::POST) => OperationKind::SendMessage,
            Self::Stream if is(Method::POST) => OperationKind::SendStreamingMessage,
            Self::Cancel if is(Method::POST) => OperationKind::CancelTask,
            Self::Subscribe if is(Method::GET) || is(Method::POST) => OperationKind::SubscribeToTask,
            Self::Tasks if reads => OperationKind::ListTasks,
            Self::Task if reads => OperationKind::GetTask,
            Self::PushConfigs if reads => OperationKind::ListPushConfigs,
            Self::PushConfigs if is(Method::POST) => OperationKind::CreatePushConfig,
            Self::PushConfig if reads => OperationKind::GetPushConfig,
            Self::PushConfig if is(Method::DELETE) => OperationKind::DeletePushConfig,
            Self::ExtendedCard if reads => OperationKind::GetExtendedAgentCard,
            _ => return None,
        })
    }
}

/// What stands below the base path, still encoded.
struct Found<'a> {
    resource: Resource,
    tenant: Option<&'a str>,
    task_id: Option<&'a str>,
    config_id: Option<&'a str>,
}

/// The most segments that a path can have: a tenant, and a webhook of a task.
const DEEPEST: usize = 5;

/// True if a path below the base path is one of version 0.3.
pub(super) fn is_0_3(path: &str) -> bool {
    path.split('/').next() == Some("v1")
}

/// Finds the operation of a path below the base path, which does not begin with a slash (spec 1.0 §11.3, spec 0.3
/// §3.5.6).
pub(super) fn find<'a>(verb: &Method, path: &'a str) -> Result<Route<'a>, Refusal> {
    let mut segments = [""; DEEPEST];
    let mut count = 0;
    for segment in path.split('/') {
        *segments.get_mut(count).ok_or(Refusal::Nothing)? = segment;
        count += 1;
    }
    let is_0_3 = is_0_3(path);
    let found = match &segments[..count] {
        ["v1", rest @ ..] => resource(rest, true),
        // What has a meaning without a tenant has no tenant: `/tasks/tasks` is a task.
        all @ [first, rest @ ..] => resource(all, false).or_else(|| {
            // Whoever tidies paths up takes dots for directions, so they are nobody's name.
            let found = resource(rest, false).filter(|_| !["", ".", ".."].contains(first))?;
            Some(Found { tenant: Some(first), ..found })
        }),
        [] => None,
    };
    let found = found.ok_or(Refusal::Nothing)?;
    let kind = found.resource.operation(verb).ok_or(Refusal::Verb(found.resource))?;
    Ok(Route {
        kind,
        is_0_3,
        tenant: decoded("tenant", found.tenant)?,
        task_id: decoded("id", found.task_id)?,
        config_id: decoded("configId", found.config_id)?,
    })
}

fn resource<'a>(segments: &[&'a str], is_0_3: bool) -> Option<Found<'a>> {
    let found = |resource, task_id, config_id| Some(Found { resource, tenant: None, task_id, config_id });
    match *segments {
        ["message:send"] => found(Resource::Send, None, None),
        ["message:stream"] => found(Resource::Stream, None, None),
        ["tasks"] => found(Resource::Tasks, None, None),
        // Ids may have colons of their own, so only a known verb is split off, and only at the end.
        ["tasks", last] => {
            let verbs = [(":cancel", Resource::Cancel), (":subscribe", Resource::Subscribe)];
            let verb = verbs.iter().find_map(|(verb, resource)| Some((last.strip_suffix(verb)?, *resource)));
            let (id, resource) = verb.unwrap_or((last, Resource::Task));
            found(resource, Some(id), None).filter(|_| !id.is_empty())
        }
        ["tasks", id, "pushNotificationConfigs"] if !id.is_empty() => found(Resource::PushConfigs, Some(id), None),
        ["tasks", id, "pushNotificationConfigs", config_id] if !id.is_empty() && !config_id.is_empty() => {
            found(Resource::PushConfig, Some(id), Some(config_id))
        }
        ["extendedAgentCard"] if !is_0_3 => found(Resource::ExtendedCard, None, None),
        ["card"] if is_0_3 => found(Resource::ExtendedCard, None, None),
        _ => None,
    }
}

fn decoded<'a>(field: &str, text: Option<&'a str>) -> Result<Option<Cow<'a, str>>, Refusal> {
    let decode = |text| {
        percent::decode(text).ok_or_else(|| Error::invalid_params(field, "must be UTF-8, percent-encoded").into())
    };
    text.map(decode).transpose()
}

impl Route<'_> {
    /// The version that the path is of; paths of no version are for all versions since 1.0.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        self.is_0_3.then_some(ProtocolVersion::V0_3)
    }

    /// What the versions that have this path call the operation.
    pub(super) fn method(&self) -> &'static str {
        if self.is_0_3 { crate::dialect::V0_3Rest::method(self.kind) } else { self.kind.name() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(verb: &str, path: &str) -> String {
        let verb = Method::from_bytes(verb.as_bytes()).unwrap();
        match find(&verb, path) {
            Ok(route) => {
                let fields = [&route.tenant, &route.task_id, &route.config_id];
                let fields = fields.map(|field| field.as_deref().unwrap_or("-"));
                let version = if route.is_0_3 { "0.3" } else { "1.0" };
                format!("{version} {:?} {}", route.kind, fields.join(" "))
            }
            Err(Refusal::Nothing) => "404".to_owned(),
            Err(Refusal::Verb(resource)) => format!("405 {}", resource.allow()),
            Err(Refusal::Error(error)) => format!("400 {}", error.violations()[0].field),
            Err(Refusal::Encoded) => unreachable!("bodies are nobody's business here"),
        }
    }

    #[test]
    fn every_path_of_both_versions() {
        for (verb, path, expected) in [
            ("POST", "message:send", "SendMessage - - -"),
            ("POST", "message:stream", "SendStreamingMessage - - -"),
            ("GET", "tasks", "ListTasks - - -"),
            ("GET", "tasks/t1", "GetTask - t1 -"),
            ("HEAD", "tasks/t1", "GetTask - t1 -"),
            ("POST", "tasks/t1:cancel", "CancelTask - t1 -"),
            ("GET", "tasks/t1:subscribe", "SubscribeToTask - t1 -"),
            ("POST", "tasks/t1:subscribe", "SubscribeToTask - t1 -"),
            ("POST", "tasks/t1/pushNotificationConfigs", "CreatePushConfig - t1 -"),
            ("GET", "tasks/t1/pushNotificationConfigs", "ListPushConfigs - t1 -"),
            ("GET", "tasks/t1/pushNotificationConfigs/c1", "GetPushConfig - t1 c1"),
            ("DELETE", "tasks/t1/pushNotificationConfigs/c1", "DeletePushConfig - t1 c1"),
        ] {
            assert_eq!(shown(verb, path), format!("1.0 {expected}"));
            assert_eq!(shown(verb, &format!("v1/{path}")), format!("0.3 {expected}"));
            let with_tenant = expected.replacen("- ", "acme ", 1);
            assert_eq!(shown(verb, &format!("acme/{path}")), format!("1.0 {with_tenant}"));
            for wrong in [format!("v1/acme/{path}"), format!("acme/v1/{path}"), format!("{path}/"), format!("/{path}")]
            {
                assert_eq!(shown(verb, &wrong), "404", "{wrong}");
            }
        }
        assert_eq!(shown("GET", "extendedAgentCard"), "1.0 GetExtendedAgentCard - - -");
        assert_eq!(shown("GET", "acme/extendedAgentCard"), "1.0 GetExtendedAgentCard acme - -");
        assert_eq!(shown("GET", "v1/card"), "0.3 GetExtendedAgentCard - - -");
        assert_eq!((shown("GET", "card"), shown("GET", "v1/extendedAgentCard")), ("404".into(), "404".into()));
    }

    #[test]
    fn f109_verbs_are_split_off_the_last_segment_and_ids_keep_their_colons() {
        for (verb, path, expected) in [
            ("GET", "tasks/urn:uuid:7", "1.0 GetTask - urn:uuid:7 -"),
            ("POST", "tasks/urn:uuid:7:cancel", "1.0 CancelTask - urn:uuid:7 -"),
            ("GET", "tasks/a:b:subscribe", "1.0 SubscribeToTask - a:b -"),
            ("GET", "tasks/t1:other", "1.0 GetTask - t1:other -"),
            ("GET", "tasks/t1%3Acancel", "1.0 GetTask - t1:cancel -"),
            ("POST", "tasks/t:cancel:subscribe", "1.0 SubscribeToTask - t:cancel -"),
            ("GET", "tasks/t1:cancel", "405 POST, OPTIONS"),
            ("DELETE", "tasks/t1:subscribe", "405 GET, POST, OPTIONS"),
            ("HEAD", "tasks/t1:subscribe", "405 GET, POST, OPTIONS"),
            ("POST", "tasks/:cancel", "404"),
            ("GET", "tasks/:subscribe", "404"),
            ("GET", "tasks/a:cancel/pushNotificationConfigs", "1.0 ListPushConfigs - a:cancel -"),
        ] {
            assert_eq!(shown(verb, path), expected, "{path}");
        }
    }

    #[test]
    fn f117_ids_are_decoded_once_and_mean_nothing_else() {
        for (path, expected) in [
            ("tasks/a%2Fb", "1.0 GetTask - a/b -"),
            ("tasks/%252e%252e", "1.0 GetTask - %2e%2e -"),
            ("tasks/..", "1.0 GetTask - .. -"),
            ("tasks/%2E%2E", "1.0 GetTask - .. -"),
            ("tasks/%00", "1.0 GetTask - \0 -"),
            ("tasks/a+b", "1.0 GetTask - a+b -"),
            ("tasks/%E6%BC%A2", "1.0 GetTask - 漢 -"),
            ("a%2Fb/tasks/t", "1.0 GetTask a/b t -"),
            ("tasks/%", "400 id"),
            ("tasks/%zz", "400 id"),
            ("tasks/%ff", "400 id"),
            ("%ff/tasks", "400 tenant"),
            ("tasks/t/pushNotificationConfigs/%2", "400 configId"),
            ("tasks/../tasks/t", "404"),
            ("tasks%2Ft", "404"),
        ] {
            assert_eq!(shown("GET", path), expected, "{path}");
        }
    }

    #[test]
    fn f116_what_has_a_meaning_without_a_tenant_has_none() {
        for (verb, path, expected) in [
            ("POST", "tasks/message:send", "405 GET, HEAD, OPTIONS"),
            ("GET", "tasks/tasks", "1.0 GetTask - tasks -"),
            ("GET", "tasks/tasks/t1", "1.0 GetTask tasks t1 -"),
            ("GET", "acme/tasks", "1.0 ListTasks acme - -"),
            ("GET", "/tasks", "404"),
            ("GET", "./tasks", "404"),
            ("GET", "../tasks", "404"),
            ("GET", "v1", "404"),
            ("GET", "v1/", "404"),
            ("GET", "", "404"),
            ("GET", "a/b/c/d/e/f", "404"),
            ("GET", "message:send", "405 POST, OPTIONS"),
            ("PUT", "tasks/t1/pushNotificationConfigs/c", "405 GET, HEAD, DELETE, OPTIONS"),
            ("PATCH", "tasks/t1/pushNotificationConfigs", "405 GET, HEAD, POST, OPTIONS"),
            ("POST", "tasks", "405 GET, HEAD, OPTIONS"),
        ] {
            assert_eq!(shown(verb, path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_is_routed_or_refused(path in "(v1|tasks|message:send|[a-z%:./]{0,6}|/){0,8}", verb in "GET|POST|DELETE|PUT") {
            shown(&verb, &path);
        }

        #[test]
        fn any_id_arrives_as_it_was(id in "\\PC{1,12}") {
            let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let path = format!("tasks/{encoded}:cancel");
            let route = find(&Method::POST, &path).unwrap();
            prop_assert_eq!(route.task_id.as_deref(), Some(&*id));
        }
    }
}
