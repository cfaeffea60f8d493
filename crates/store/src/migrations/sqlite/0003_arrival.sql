-- Which of its subject's observations this one was to arrive, from 1 without gaps. Ids sort by a clock, which several
-- writers do not share, so until now a row could come to stand before rows that had been read already. The other
-- engine's file of the same number does the same.
ALTER TABLE observation ADD COLUMN arrival INTEGER NOT NULL DEFAULT 0;
UPDATE observation SET arrival = counted.arrival FROM (
    SELECT id, row_number() OVER (PARTITION BY subject_kind, subject_key ORDER BY id) AS arrival FROM observation
) AS counted WHERE counted.id = observation.id;
DROP INDEX observation_by_subject;
CREATE UNIQUE INDEX observation_by_arrival ON observation (subject_kind, subject_key, arrival);

-- What the observations of a subject add up to, as far as the one named: a cache. Nothing is lost with its rows, nor
-- with the whole table.
CREATE TABLE derived (
    subject_kind TEXT NOT NULL,
    subject_key BLOB NOT NULL,
    form INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    upto_id TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (subject_kind, subject_key)
) STRICT;
