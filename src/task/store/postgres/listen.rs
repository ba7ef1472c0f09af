//! What other replicas do to the same tasks.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::{
    Executor as _, Row as _,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::{
    sync::Notify,
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use super::{
    Postgres,
    place::within,
    read::{Values, text},
    tell::News,
};
use crate::task::{
    StoreError,
    store::durable::{Backend as _, Durable, Inner, number, unavailable},
};

/// How many logs are asked for at once.
const AT_ONCE: usize = 1_000;
/// How long to wait before it is listened again, where that was not possible.
const RETRY: Duration = Duration::from_millis(500);
/// After so long without a word the connection may be dead, and is asked whether it is. As a rule this holder's own beats are
/// heard meanwhile, but not before its first request, nor with a lease that is longer.
const SILENCE: Duration = Duration::from_secs(30);

/// Listens and looks as long as there is the store.
pub(super) fn start(store: &Durable<Postgres>, poll: Duration) {
    let look = Arc::new(Notify::new());
    tokio::spawn(keep_looking(Arc::downgrade(store.inner()), poll, Arc::clone(&look)));
    tokio::spawn(keep_listening(Arc::downgrade(store.inner()), look));
}

async fn keep_listening(store: Weak<Inner<Postgres>>, look: Arc<Notify>) {
    let mut is_down = false;
    loop {
        let Some(place) = store.upgrade().map(|inner| Arc::clone(&inner.backend.place)) else { return };
        // A pool of its own, as the one connection that it has is never given back.
        let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(place.patience);
        let pool = pool.max_lifetime(None).idle_timeout(None).connect_lazy_with(place.options().clone());
        let listening = within(place.patience, async {
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.listen(place.channel()).await.map(|()| listener)
        });
        let error = match listening.await {
            Ok(listener) => {
                is_down = false;
                match hear(&store, listener, &look).await {
                    Some(error) => error,
                    None => return,
                }
            }
            Err(error) => error,
        };
        if !is_down {
            is_down = true;
            tracing::warn!(error = &error as &dyn std::error::Error, "does not hear what other replicas write");
        }
        sleep(RETRY).await;
    }
}

/// Hears until it hears nothing any more; `None` if there is no store any more either.
async fn hear(store: &Weak<Inner<Postgres>>, mut listener: PgListener, look: &Notify) -> Option<StoreError> {
    // Whatever was told before this moment was told to nobody.
    let mut has_missed = true;
    loop {
        let inner = store.upgrade()?;
        if std::mem::take(&mut has_missed) {
            inner.backend.told.heard_hello();
            look.notify_one();
        }
        let silence = SILENCE.max(inner.backend.place.patience);
        drop(inner);
        let heard = wait(store, silence, listener.try_recv()).await?;
        let inner = store.upgrade()?;
        match heard {
            Ok(Ok(Some(notification))) => {
                for news in notification.payload().lines().filter_map(News::read) {
                    heed(&inner, &news, look);
                }
            }
            // It was cut off, and listens again.
            Ok(Ok(None)) => has_missed = true,
            Ok(Err(error)) => return Some(unavailable(error)),
            Err(_) => {
                let place = Arc::clone(&inner.backend.place);
                drop(inner);
                if let Err(error) = within(place.patience, listener.execute("SELECT 1")).await {
                    return Some(error);
                }
            }
        }
    }
}

/// Waits for what is to be heard, but not longer than there is the store.
async fn wait<T>(
    store: &Weak<Inner<Postgres>>,
    silence: Duration,
    heard: impl Future<Output = T>,
) -> Option<Result<T, tokio::time::error::Elapsed>> {
    let mut heard = std::pin::pin!(timeout(silence, heard));
    let mut ticks = interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            heard = &mut heard => return Some(heard),
            _ = ticks.tick() => if store.strong_count() == 0 { return None },
        }
    }
}

fn heed(inner: &Inner<Postgres>, news: &News<'_>, look: &Notify) {
    let holder = inner.backend.holder;
    match *news {
        News::Grown { id, revision } => inner.topics.grown(id, Some(revision)),
        News::Hello(other) if other != holder => inner.backend.told.heard_hello(),
        News::Ended(of) if of == holder => look.notify_one(),
        News::Look => look.notify_one(),
        News::Hello(_) | News::Ended(_) => {}
    }
}

async fn keep_looking(store: Weak<Inner<Postgres>>, poll: Duration, asked: Arc<Notify>) {
    let mut ticks = interval(poll);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_down = false;
    loop {
        let is_asked = tokio::select! {
            _ = ticks.tick() => false,
            () = asked.notified() => true,
        };
        let Some(inner) = store.upgrade() else { return };
        // Alone there is nothing to look for, but what there was before the others were gone.
        if !is_asked && !inner.backend.told.has_others() {
            continue;
        }
        match look(&inner).await {
            Ok(()) => is_down = false,
            Err(error) if !is_down => {
                is_down = true;
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot see what other replicas write");
            }
            Err(_) => {}
        }
    }
}

async fn look(inner: &Inner<Postgres>) -> Result<(), StoreError> {
    // Whoever is alone need not tell anybody. From here on it hears of whoever comes.
    inner.backend.others().await?;
    for ids in inner.topics.ids().chunks(AT_ONCE) {
        let mut revisions: HashMap<&str, Option<u64>> = ids.iter().map(|id| (&**id, None)).collect();
        let sql = "SELECT coalesce(t.long_id, t.id), t.revision FROM unnest($1::bytea[]) AS g (id) \
             JOIN tasks t ON t.id = index_key(g.id)";
        let names: Vec<_> = ids.iter().map(|id| id.as_bytes()).collect();
        for row in &inner.backend.ask(sql, Values::default().with(names)).await? {
            let revision = row.try_get(1).map(number).map_err(unavailable)?;
            if let Some(known) = revisions.get_mut(text(row, 0).map_err(unavailable)?) {
                *known = Some(revision);
            }
        }
        for (id, revision) in revisions {
            inner.topics.grown(id, revision);
        }
    }
    if inner.hears_of_ends() {
        let sql = "SELECT coalesce(long_id, id) FROM tasks WHERE holder = $1 AND phase = 2";
        let rows = inner.backend.ask(sql, Values::default().with(inner.backend.holder)).await?;
        let ids = rows.iter().map(|row| text(row, 0).map(str::to_owned));
        inner.have_ended(ids.collect::<Result<_, _>>().map_err(unavailable)?).await;
    }
    Ok(())
}
