//! Those who write.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection as _, PgConnection};
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use super::{
    batch::{Batched, Done, run},
    claims,
    place::{Backend, Place, RETRY, is_conflict, is_lost},
    read::Values,
    retain::retain,
    tell::{Change, Told, beat},
};
use crate::{
    error::BoxError,
    task::store::durable::{Answer, Asked, ClaimWrite, Commit, End, Renewal, Write, WriteError, Written},
};

/// How long it is looked for the outcome of a write at least, when all patience went into the write itself.
const LOOK: Duration = Duration::from_secs(2);
/// How long it is waited at most before it is looked for such an outcome once more. There is one at most for each
/// connection that was lost.
const DISOWN: Duration = Duration::from_secs(5);
/// How often it is looked whether a connection that was lost is gone at the server too.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// One that writes.
pub(super) struct Work {
    place: Arc<Place>,
    holder: i64,
    renewal: Renewal,
    told: Arc<Told>,
    link: Option<Link>,
    /// The tag of the next write: so many, from anywhere, that no two of them are alike.
    tag: i64,
}

/// A connection, and who it is at the server.
struct Link {
    connection: PgConnection,
    backend: Backend,
}

/// Why nothing was written, as far as one knows.
enum Failed {
    /// There may be something about one of the writes.
    Write(WriteError),
    /// It is about none of them.
    Whole(WriteError),
}

impl Failed {
    fn whole(error: impl Into<BoxError>) -> Self {
        Self::Whole(Arc::from(error.into()))
    }

    fn into_error(self) -> WriteError {
        match self {
            Self::Write(error) | Self::Whole(error) => error,
        }
    }
}

impl Work {
    pub(super) fn new(place: Arc<Place>, holder: i64, renewal: Renewal, told: Arc<Told>) -> Self {
        Self { place, holder, renewal, told, link: None, tag: Uuid::new_v4().as_u64_pair().0 as i64 }
    }

    async fn link(&mut self, deadline: Instant) -> Result<&mut Link, BoxError> {
        let link = match self.link.take() {
            Some(link) => link,
            None => Link::new(&self.place, deadline).await?,
        };
        Ok(self.link.insert(link))
    }

    /// Writes those of a kind, a task at most once in each statement.
    async fn write_all<W: Batched>(&mut self, mut writes: Vec<(W, Answer)>, deadline: Instant) {
        writes.sort_by(|(a, _), (b, _)| a.place().cmp(b.place()));
        while !writes.is_empty() {
            let (mut batch, mut answers, mut later) = (Vec::<W>::new(), Vec::new(), Vec::new());
            for (write, answer) in writes {
                if batch.last().is_some_and(|last| last.place() == write.place()) {
                    later.push((write, answer));
                } else {
                    batch.push(write);
                    answers.push(answer);
                }
            }
            self.write_batch(batch, answers, deadline).await;
            writes = later;
        }
    }

    async fn write_batch<W: Batched>(&mut self, batch: Vec<W>, answers: Vec<Answer>, deadline: Instant) {
        match self.written(&batch, deadline).await {
            Ok(done) => self.answer(&batch, answers, &done),
            // One that cannot be written is no reason not to write the others.
            Err(Failed::Write(_)) if batch.len() > 1 => {
                for (write, answer) in batch.iter().zip(answers) {
                    let one = std::slice::from_ref(write);
                    match self.written(one, deadline).await {
                        Ok(done) => self.answer(one, vec![answer], &done),
                        Err(failed) => answer.send(Err(failed.into_error())),
                    }
                }
            }
            Err(failed) => {
                let error = failed.into_error();
                answers.into_iter().for_each(|answer| answer.send(Err(Arc::clone(&error))));
            }
        }
    }

    fn answer<W: Batched>(&self, batch: &[W], answers: Vec<Answer>, done: &[Option<Done>]) {
        if self.told.has_others() {
            let changes = batch.iter().zip(done).filter_map(|(write, done)| {
                let ((id, revision), ended) = (write.change(), (*done)?.ended);
                Some(Change { id: Arc::clone(id), revision, ended })
            });
            self.told.tell(changes.collect());
        }
        for (answer, done) in answers.into_iter().zip(done) {
            answer.send(Ok(done.map_or(Written::Refused, |done| Written::Done(done.seq))));
        }
    }

    /// Writes these in one transaction, and says of each whether it was as expected.
    async fn written<W: Batched>(&mut self, batch: &[W], deadline: Instant) -> Result<Vec<Option<Done>>, Failed> {
        let mut tags = Vec::with_capacity(batch.len());
        for _ in batch {
            tags.push(self.tag);
            self.tag = self.tag.wrapping_add(1);
        }
        let written = W::write(batch, &tags, self.holder).map_err(|error| Failed::Write(Arc::new(error)));
        let (sql, values) = written?;
        loop {
            let link = self.link(deadline).await.map_err(Failed::whole)?;
            let writing = run(&mut link.connection, sql, values.clone(), batch.len());
            let error = match timeout_at(Place::end(deadline), writing).await {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(error)) => error,
                Err(_) => sqlx::Error::Protocol("the database has not answered in time".to_owned()),
            };
            if is_lost(&error) {
                tracing::debug!(%error, "a connection was lost at a write; looks what came of it");
                if let Some(done) = self.look(batch, &tags, deadline).await? {
                    return Ok(done);
                }
            } else if !is_conflict(&error) {
                return Err(match &error {
                    sqlx::Error::Database(_) | sqlx::Error::Encode(_) => Failed::Write(Arc::new(error)),
                    _ => Failed::whole(error),
                });
            }
            if Instant::now() >= deadline {
                return Err(Failed::whole(error));
            }
        }
    }

    /// What came of a write whose connection was lost: `None` if it was not done, and never will be.
    async fn look<W: Batched>(
        &mut self,
        batch: &[W],
        tags: &[i64],
        deadline: Instant,
    ) -> Result<Option<Vec<Option<Done>>>, Failed> {
        let Some(Link { backend, connection }) = self.link.take() else { return Ok(None) };
        drop(connection);
        let deadline = deadline.max(Instant::now() + LOOK);
        let values = W::values_to_look(batch, tags).map_err(Failed::whole)?;
        loop {
            let looking = async {
                let link = self.link(deadline).await?;
                link.end(backend).await?;
                Ok::<_, BoxError>(run(&mut link.connection, W::LOOK, values.clone(), batch.len()).await?)
            };
            let error = match timeout_at(deadline, looking).await {
                // Where nothing is found, all of it was refused, or nothing was done; either way it can be tried again.
                Ok(Ok(done)) => return Ok(done.iter().any(Option::is_some).then_some(done)),
                Ok(Err(error)) => error,
                Err(_) => "the database has not answered in time".into(),
            };
            self.link = None;
            if Instant::now() + RETRY >= deadline {
                let unknown = Unknown::Tasks { holder: self.holder, look: W::LOOK, values, writes: batch.len() };
                tokio::spawn(disown(Arc::clone(&self.place), vec![backend], unknown));
                return Err(Failed::whole(format!("it is not known whether a write took place: {error}")));
            }
            sleep(RETRY).await;
        }
    }

    /// What is not one of many: a statement that may as well be done twice, or a transaction of its own.
    async fn other(&mut self, write: &Write, deadline: Instant) -> Result<Written, BoxError> {
        let mut unknown = Vec::new();
        let written = self.try_other(write, deadline, &mut unknown).await;
        if let (Err(_), Write::Claim(ClaimWrite::Claim { owner, claim, tag, .. }), false) =
            (&written, write, unknown.is_empty())
        {
            let claim = Unknown::Claim { owner: owner.clone(), key: Arc::clone(&claim.key), tag: *tag };
            tokio::spawn(disown(Arc::clone(&self.place), unknown, claim));
        }
        written
    }

    /// Notes by whom it may have been written though nobody said so.
    async fn try_other(
        &mut self,
        write: &Write,
        deadline: Instant,
        unknown: &mut Vec<Backend>,
    ) -> Result<Written, BoxError> {
        loop {
            let begun = Instant::now();
            let (holder, place, told) = (self.holder, Arc::clone(&self.place), Arc::clone(&self.told));
            let link = self.link(deadline).await?;
            let backend = link.backend;
            let error = match timeout_at(Place::end(deadline), link.other(write, &place, holder, &told)).await {
                Ok(Ok(written)) => {
                    if matches!(write, Write::Beat) {
                        self.renewal.renewed(begun);
                    }
                    return Ok(written);
                }
                Ok(Err(error)) => error,
                Err(_) => "the database has not answered in time".into(),
            };
            // In whatever state it is.
            self.link = None;
            let cause = error.downcast_ref();
            if !cause.is_some_and(|error| matches!(error, sqlx::Error::Database(_)) && !is_lost(error)) {
                unknown.push(backend);
            }
            let may_pass = cause.is_some_and(|error| is_lost(error) || is_conflict(error));
            if !may_pass || Instant::now() + RETRY >= deadline {
                return Err(error);
            }
            sleep(RETRY).await;
        }
    }
}

impl Link {
    async fn new(place: &Place, deadline: Instant) -> Result<Self, BoxError> {
        let (connection, backend) = place.connect(deadline).await?;
        Ok(Self { connection, backend })
    }

    /// Ends what may still be at work behind a connection that was lost, and waits until it is gone.
    async fn end(&mut self, Backend { pid, started }: Backend) -> Result<(), BoxError> {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity($1) \
             WHERE (extract(epoch FROM backend_start) * 1000000)::bigint = $2";
        while !sqlx::query(sql).bind(pid).bind(started).fetch_all(&mut self.connection).await?.is_empty() {
            sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    async fn other(&mut self, write: &Write, place: &Place, holder: i64, told: &Told) -> Result<Written, BoxError> {
        let connection = &mut self.connection;
        match write {
            Write::Beat => beat(connection, place, holder).await?,
            Write::Release => {
                let query = sqlx::query("UPDATE holders SET beat = -1 WHERE id = $1");
                query.bind(holder).execute(connection).await?;
            }
            Write::Bury { holder, beat } => {
                let query = sqlx::query("UPDATE holders SET beat = -1 WHERE id = $1 AND beat = $2");
                query.bind(holder).bind(beat).execute(connection).await?;
            }
            Write::Heard(ids) => {
                let query = sqlx::query(
                    "UPDATE tasks t SET holder = NULL FROM unnest($2::bytea[]) AS g (id) \
                     WHERE t.id = index_key(g.id) AND t.phase = 2 AND t.holder = $1",
                );
                let ids: Vec<_> = ids.iter().map(String::as_bytes).collect();
                query.bind(holder).bind(ids).execute(connection).await?;
            }
            Write::Retain(keep) => return Ok(Written::Gone(retain(connection, &place.schema, *keep).await?)),
            Write::End(end) => {
                let done = run_end(connection, end, holder).await?;
                if let Some((revision, ended)) = done.filter(|_| told.has_others()) {
                    told.tell(vec![Change { id: Arc::clone(&end.id), revision, ended }]);
                }
                return Ok(done.map_or(Written::Refused, |(revision, _)| Written::Done(revision)));
            }
            Write::Claim(write) => return Ok(claims::write(connection, holder, write).await?),
            // Those are written many at once.
            Write::Create(_) | Write::Append(_) => return Ok(Written::Refused),
        }
        Ok(Written::Done(0))
    }
}

/// What was perhaps written.
enum Unknown {
    Tasks {
        holder: i64,
        /// How to find it.
        look: &'static str,
        values: Values,
        writes: usize,
    },
    Claim {
        owner: String,
        key: Arc<str>,
        tag: i64,
    },
}

/// Goes on looking for a write whose outcome was not known in time, until it is. If it took place after all, nobody here
/// works on its tasks, as whoever asked for it was told that it failed. They are given to a holder that is gone, and so are
/// lost like those of a process that died; and a claim is given up.
async fn disown(place: Arc<Place>, backends: Vec<Backend>, unknown: Unknown) {
    let mut wait = RETRY;
    loop {
        let give_up = Instant::now() + place.patience;
        match timeout_at(Place::end(give_up), disown_once(&place, give_up, &backends, &unknown)).await {
            Ok(Ok(())) => return,
            failed => tracing::debug!(?failed, "it is still not known whether a write took place"),
        }
        sleep(wait).await;
        wait = (wait * 2).min(DISOWN);
    }
}

async fn disown_once(
    place: &Place,
    deadline: Instant,
    backends: &[Backend],
    unknown: &Unknown,
) -> Result<(), BoxError> {
    const SQL: &str = "\
        WITH gone AS (INSERT INTO holders (beat) VALUES (-1) RETURNING id) \
        UPDATE tasks t SET holder = gone.id FROM gone WHERE t.seq = ANY($1) AND t.phase = 0 AND t.holder = $2";
    let mut link = Link::new(place, deadline).await?;
    for backend in backends {
        link.end(*backend).await?;
    }
    match unknown {
        Unknown::Tasks { holder, look, values, writes } => {
            let done = run(&mut link.connection, look, values.clone(), *writes).await?;
            let seqs: Vec<_> = done.into_iter().flatten().map(|done| done.seq).collect();
            if !seqs.is_empty() {
                sqlx::query(SQL).bind(seqs).bind(holder).execute(&mut link.connection).await?;
            }
        }
        Unknown::Claim { owner, key, tag } => claims::disown(&mut link.connection, owner, key, *tag).await?,
    }
    Ok(())
}

/// The revision that a task then has, and the holder that it was taken from; `None` if it is over already. Done twice, it
/// finds that the second time, and so does whoever asks why.
async fn run_end(
    connection: &mut PgConnection,
    end: &End,
    holder: i64,
) -> Result<Option<(i64, Option<i64>)>, sqlx::Error> {
    const SQL: &str = "\
        WITH before AS MATERIALIZED (SELECT seq, state, phase, holder FROM tasks WHERE seq = $1 FOR UPDATE \
        ), ended AS ( \
            UPDATE tasks t SET revision = t.revision + 1, state = $2, phase = $3, moment = $4, \
                holder = CASE WHEN b.holder <> $5 THEN b.holder END \
            FROM before b WHERE t.seq = b.seq AND b.phase < 2 \
            RETURNING t.seq, t.revision, t.owner, t.state, b.state AS state_before, t.holder \
        ), logged AS ( \
            INSERT INTO log (task, last, first, tag, events) SELECT seq, revision, revision, 0, $6 FROM ended \
        ), counted AS ( \
            INSERT INTO count_changes (owner, state, tasks) \
            SELECT owner, state, 1 FROM ended UNION ALL SELECT owner, state_before, -1 FROM ended \
        ) SELECT revision, holder FROM ended";
    let End { seq, events, standing, .. } = end;
    let query = sqlx::query_as(SQL).bind(seq).bind(standing.state as i16).bind(standing.phase as i16);
    let query = query.bind(standing.moment).bind(holder).bind(events.as_bytes());
    query.fetch_optional(connection).await
}

impl Commit for Work {
    /// Few enough for the statement to be quick, and beyond it each costs as much again.
    const AT_ONCE: usize = 128;

    async fn commit(&mut self, asked: &mut Vec<Asked>) {
        let patience = self.place.patience;
        // All that gathers while the database is away is not tried one after the other.
        let (mut creates, mut appends, mut others, mut last) = (Vec::new(), Vec::new(), Vec::new(), None);
        for Asked { write, at, answer } in asked.drain(..) {
            if at.elapsed() > patience {
                answer.send(Err(Arc::from(BoxError::from("the database has not answered in time"))));
                continue;
            }
            last = last.max(Some(at));
            match write {
                Write::Create(create) => creates.push((create, answer)),
                Write::Append(append) => appends.push((append, answer)),
                other => others.push((other, answer)),
            }
        }
        let Some(deadline) = last.map(|last| last + patience) else { return };
        // Before it holds anything.
        let claims = others.iter().any(|(write, _)| matches!(write, Write::Claim(_)));
        if self.renewal.is_late()
            && (claims || !(creates.is_empty() && appends.is_empty()))
            && let Err(error) = self.other(&Write::Beat, deadline).await
        {
            let error: WriteError = Arc::from(error);
            let answers = creates.into_iter().map(|(_, answer)| answer);
            let answers = answers.chain(appends.into_iter().map(|(_, answer)| answer));
            answers.for_each(|answer| answer.send(Err(Arc::clone(&error))));
            others.into_iter().for_each(|(_, answer)| answer.send(Err(Arc::clone(&error))));
            return;
        }
        self.write_all(creates, deadline).await;
        self.write_all(appends, deadline).await;
        for (write, answer) in others {
            answer.send(self.other(&write, deadline).await.map_err(Arc::from));
        }
    }

    async fn close(self) {
        if let Some(link) = self.link {
            let _ = link.connection.close().await;
        }
    }
}
