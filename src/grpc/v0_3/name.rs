//! Names of things as 0.3 has them: paths.

use crate::{dialect::At, error::Error};

const TASKS: &str = "tasks/";
const CONFIGS: &str = "/pushNotificationConfigs";

pub(super) fn task(id: &str) -> String {
    format!("{TASKS}{id}")
}

pub(super) fn config(task_id: &str, id: &str) -> String {
    format!("{TASKS}{task_id}{CONFIGS}/{id}")
}

/// The id in `tasks/{id}`.
pub(super) fn read_task<'a>(name: &'a str, at: &At<'_>) -> Result<&'a str, Error> {
    name.strip_prefix(TASKS).filter(|id| is_id(id)).ok_or_else(|| at.invalid("must be tasks/{id}"))
}

/// The id in `tasks/{id}`; the configs that are below it may be named too.
pub(super) fn read_parent<'a>(name: &'a str, at: &At<'_>) -> Result<&'a str, Error> {
    read_task(name.strip_suffix(CONFIGS).unwrap_or(name), at)
}

/// Both ids in `tasks/{id}/pushNotificationConfigs/{config id}`.
pub(super) fn read_config<'a>(name: &'a str, at: &At<'_>) -> Result<(&'a str, &'a str), Error> {
    let ids = name.strip_prefix(TASKS).and_then(|rest| {
        let (task, rest) = rest.split_once('/')?;
        let config = rest.strip_prefix(&CONFIGS[1..])?.strip_prefix('/')?;
        (is_id(task) && is_id(config)).then_some((task, config))
    });
    ids.ok_or_else(|| at.invalid("must be tasks/{id}/pushNotificationConfigs/{config id}"))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && !text.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: At<'static> = At::new("name");

    #[test]
    fn names_come_back() {
        assert_eq!(read_task(&task("t 1"), &AT).unwrap(), "t 1");
        assert_eq!(read_parent("tasks/t/pushNotificationConfigs", &AT).unwrap(), "t");
        assert_eq!(read_parent("tasks/t", &AT).unwrap(), "t");
        assert_eq!(read_config(&config("t", "c"), &AT).unwrap(), ("t", "c"));
    }

    #[test]
    fn what_is_no_name_is_refused_with_its_form() {
        for name in ["", "t", "tasks", "tasks/", "task/t", "tasks/t/", "tasks/t/x", "/tasks/t"] {
            assert!(read_task(name, &AT).unwrap_err().message().contains("name must be tasks/{id}"), "{name}");
        }
        for name in [
            "tasks/t",
            "tasks/t/pushNotificationConfigs",
            "tasks/t/pushNotificationConfigs/",
            "tasks//pushNotificationConfigs/c",
            "tasks/t/pushNotificationConfigsx/c",
        ] {
            assert!(read_config(name, &AT).is_err(), "{name}");
        }
    }
}
