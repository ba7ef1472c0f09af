//! The agent of all these servers: it does what the message says.
//!
//! | message | what it says |
//! | --- | --- |
//! | a number | as many words as come of it, some at once and some after a pause; every fifth asks in the end |
//! | `say WORDS PAUSE` | so many words, with so many milliseconds before each |
//! | `ask WORDS PAUSE` | the same, and then it asks |
//! | `census` | the ids of the tasks that it is at work on, in this process |

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_layers::{
    agent::{Reply, RequestExt as _, Update},
    part::Input,
};
use futures_util::{StreamExt as _, stream};
use http::Request;

use super::Random;

static AT_WORK: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());

/// At work on a task, until it is dropped.
struct AtWork(Arc<str>);

impl AtWork {
    fn on(task: &Arc<str>) -> Self {
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(task));
        Self(Arc::clone(task))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

pub(crate) async fn reply(request: Request<Input>) -> Result<Reply, Infallible> {
    let at_work = AtWork::on(request.task_context().task_id());
    let words: Vec<_> = request.body().text().split(' ').collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(1);
    let (first, count, pause) = (number(0), number(1), number(2));
    Ok(match words[0] {
        "census" => {
            let ids = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Update::text(ids.into_iter().collect::<Vec<_>>().join(" ")).into()
        }
        kind @ ("say" | "ask") => speak(count, kind == "ask", move || pause, at_work),
        _ => {
            let mut random = Random::new(first);
            let pause = move || Some(random.below(8)).filter(|pause| *pause > 3).unwrap_or(0);
            speak(first % 60, first.is_multiple_of(5), pause, at_work)
        }
    })
}

fn speak(words: u64, asks: bool, mut pause: impl FnMut() -> u64 + Send + 'static, at_work: AtWork) -> Reply {
    let words = stream::iter(0..words).map(|word| Update::text(format!("{word} ")));
    let end = stream::iter(asks.then(|| Update::input_required("more?")));
    Reply::stream(words.chain(end).then(move |word| {
        let (pause, _) = (Duration::from_millis(pause()), &at_work);
        async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Ok::<_, Infallible>(word)
        }
    }))
}
