-- Who works on tasks: one row for each store that was opened. A lease is renewed by counting on; whoever gave it up, or is
-- taken for gone, counts as -1.
CREATE TABLE holders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    beat INTEGER NOT NULL
);

-- Where each task stands. The rows are short, because each append rewrites one.
CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    context TEXT NOT NULL,
    state INTEGER NOT NULL,
    -- 0 at work, 1 waiting for the caller, 2 over.
    phase INTEGER NOT NULL,
    -- Of the status, in milliseconds since the epoch.
    moment INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    -- Who works on it; of a task that is over, for whom somebody else has ended it, until that one knows.
    holder INTEGER
);
CREATE INDEX tasks_of_owner ON tasks (owner, moment, seq);
CREATE INDEX tasks_of_context ON tasks (owner, context, moment, seq);
CREATE INDEX tasks_in_state ON tasks (owner, state, moment, seq);
CREATE INDEX tasks_at_rest ON tasks (phase, moment, seq) WHERE phase > 0;
CREATE INDEX tasks_held ON tasks (holder, phase) WHERE holder IS NOT NULL;

-- What was appended, one row for each append: events `first` to `last`.
CREATE TABLE log (
    task INTEGER NOT NULL,
    last INTEGER NOT NULL,
    first INTEGER NOT NULL,
    events TEXT NOT NULL,
    PRIMARY KEY (task, last)
) WITHOUT ROWID;

-- Tasks as of some revision; what came later is folded from the log.
CREATE TABLE snapshots (
    task INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL
);

-- How many there are, so that nobody has to count.
CREATE TABLE counts (
    owner TEXT NOT NULL,
    state INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (owner, state)
) WITHOUT ROWID;
CREATE TABLE totals (
    phase INTEGER PRIMARY KEY,
    tasks INTEGER NOT NULL
);
INSERT INTO totals VALUES (0, 0), (1, 0), (2, 0);

CREATE TRIGGER task_made AFTER INSERT ON tasks BEGIN
    INSERT INTO counts VALUES (NEW.owner, NEW.state, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1;
    UPDATE totals SET tasks = tasks + 1 WHERE phase = NEW.phase;
END;
CREATE TRIGGER task_moved AFTER UPDATE OF state ON tasks WHEN OLD.state <> NEW.state BEGIN
    UPDATE counts SET tasks = tasks - 1 WHERE owner = OLD.owner AND state = OLD.state;
    DELETE FROM counts WHERE owner = OLD.owner AND state = OLD.state AND tasks = 0;
    INSERT INTO counts VALUES (NEW.owner, NEW.state, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1;
    UPDATE totals SET tasks = tasks - 1 WHERE phase = OLD.phase;
    UPDATE totals SET tasks = tasks + 1 WHERE phase = NEW.phase;
END;
CREATE TRIGGER task_gone AFTER DELETE ON tasks BEGIN
    DELETE FROM log WHERE task = OLD.seq;
    DELETE FROM snapshots WHERE task = OLD.seq;
    UPDATE counts SET tasks = tasks - 1 WHERE owner = OLD.owner AND state = OLD.state;
    DELETE FROM counts WHERE owner = OLD.owner AND state = OLD.state AND tasks = 0;
    UPDATE totals SET tasks = tasks - 1 WHERE phase = OLD.phase;
END;
