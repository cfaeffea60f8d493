-- When a domain was looked at, in milliseconds, as a JSON list from the oldest on. Only the last minute matters, and old
-- rows are removed.
CREATE TABLE turn (
    domain TEXT NOT NULL PRIMARY KEY,
    looks TEXT NOT NULL,
    newest INTEGER NOT NULL
) STRICT;
