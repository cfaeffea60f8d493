-- When a domain was looked at, in milliseconds, as a JSON list from the oldest on. Only the last minute matters, and old
-- rows are removed.
CREATE TABLE turn (
    domain TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    looks TEXT COLLATE "C" NOT NULL,
    newest BIGINT NOT NULL
);
