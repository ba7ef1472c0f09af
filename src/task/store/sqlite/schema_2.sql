-- Messages that were sent, so that one that comes again is known. A claim is good once its task is at a later revision.
CREATE TABLE claims (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    -- The task's id. It may not be there yet.
    task TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- Who has claimed it.
    holder INTEGER NOT NULL,
    -- When, and until when at most, in milliseconds since the epoch.
    moment INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX claims_of_task ON claims (task);
CREATE INDEX claims_held ON claims (holder);
CREATE INDEX claims_over ON claims (until);

CREATE TRIGGER claims_of_task_gone AFTER DELETE ON tasks BEGIN
    DELETE FROM claims WHERE task = OLD.id;
END;
CREATE TRIGGER claims_of_holder_gone AFTER UPDATE OF beat ON holders WHEN NEW.beat < 0 AND OLD.beat >= 0 BEGIN
    DELETE FROM claims WHERE holder = NEW.id
        AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = claims.task AND tasks.revision > claims.revision);
END;
