-- Times are milliseconds since 1970-01-01T00:00:00Z. Hashes are lower-case hex SHA-256. Text that a stranger may
-- have chosen is stored as bytes. The other engine's file of the same number makes the same tables.

-- The bytes an observation rests on.
CREATE TABLE evidence (
    sha256 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL
);

-- Facts, only ever appended. The hash of the evidence may outlive the bytes, so it is not a foreign key.
CREATE TABLE observation (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject_key BYTEA NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    observed_at BIGINT NOT NULL,
    trust_class TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C",
    outcome TEXT COLLATE "C" NOT NULL,
    latency_ms BIGINT,
    evidence_sha256 TEXT COLLATE "C",
    facts TEXT COLLATE "C" NOT NULL
);
CREATE INDEX observation_by_subject ON observation (subject_kind, subject_key, observed_at, id);

CREATE TABLE check_run (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    subject BYTEA NOT NULL,
    "trigger" TEXT COLLATE "C" NOT NULL,
    started BIGINT NOT NULL,
    finished BIGINT
);

-- Signed documents, byte for byte.
CREATE TABLE document (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    bytes BYTEA NOT NULL,
    issued_at BIGINT NOT NULL
);
CREATE INDEX document_by_sha256 ON document (sha256);

CREATE TABLE schedule (
    job TEXT COLLATE "C" NOT NULL,
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject_key BYTEA NOT NULL,
    shard BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    PRIMARY KEY (job, subject_kind, subject_key)
);
CREATE INDEX schedule_by_time ON schedule (job, next_at);

-- A released lease keeps its row, so that fences only rise.
CREATE TABLE lease (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    holder TEXT COLLATE "C" NOT NULL,
    fence BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE idempotency (
    scope TEXT COLLATE "C" NOT NULL,
    key_sha256 TEXT COLLATE "C" NOT NULL,
    request_sha256 TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('started', 'done')),
    document_id TEXT COLLATE "C",
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (scope, key_sha256),
    CHECK ((state = 'done') = (document_id IS NOT NULL))
);
