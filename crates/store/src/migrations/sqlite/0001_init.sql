-- Times are milliseconds since 1970-01-01T00:00:00Z. Hashes are lower-case hex SHA-256. Text that a stranger may
-- have chosen is stored as bytes. The other engine's file of the same number makes the same tables.

-- The bytes an observation rests on.
CREATE TABLE evidence (
    sha256 TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

-- Facts, only ever appended. The hash of the evidence may outlive the bytes, so it is not a foreign key.
CREATE TABLE observation (
    id TEXT NOT NULL PRIMARY KEY,
    subject_kind TEXT NOT NULL,
    subject_key BLOB NOT NULL,
    source TEXT NOT NULL,
    observed_at INTEGER NOT NULL,
    trust_class TEXT NOT NULL,
    run_id TEXT,
    outcome TEXT NOT NULL,
    latency_ms INTEGER,
    evidence_sha256 TEXT,
    facts TEXT NOT NULL
) STRICT;
CREATE INDEX observation_by_subject ON observation (subject_kind, subject_key, observed_at, id);

CREATE TABLE check_run (
    id TEXT NOT NULL PRIMARY KEY,
    subject BLOB NOT NULL,
    "trigger" TEXT NOT NULL,
    started INTEGER NOT NULL,
    finished INTEGER
) STRICT;

-- Signed documents, byte for byte.
CREATE TABLE document (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes BLOB NOT NULL,
    issued_at INTEGER NOT NULL
) STRICT;
CREATE INDEX document_by_sha256 ON document (sha256);

CREATE TABLE schedule (
    job TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_key BLOB NOT NULL,
    shard INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    PRIMARY KEY (job, subject_kind, subject_key)
) STRICT;
CREATE INDEX schedule_by_time ON schedule (job, next_at);

-- A released lease keeps its row, so that fences only rise.
CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency (
    scope TEXT NOT NULL,
    key_sha256 TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done')),
    document_id TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key_sha256),
    CHECK ((state = 'done') = (document_id IS NOT NULL))
) STRICT;
