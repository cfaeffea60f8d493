//! The rows of `docs/refusals.md` whose errors carry what they are about, so that no list of them can be made from the
//! types: one row a line, `code | means | what to do`.

pub(super) const CHECK: &str = "
store_damaged | the file is no database, or parts of it do not read; nothing was overwritten | put a backup in its place with no -wal and -shm but its own, or move it aside with its -wal and -shm files
store_newer | a later version of this program made the tables; nothing was changed | use that version, or another database
store_migration | the tables could not be brought up to date; the step was undone | correct the cause that the sentence names, and start again
store_file | the database file or its lock cannot be opened | see that the data directory exists and is yours, or name another with --data
store_altered | stored bytes no longer have the hash they are stored under | restore the database from a backup
store_taken | an id is taken by other content, which stays | try again
store_invalid | a value that cannot be stored | report it
store_arguments | a statement got the wrong number of arguments | report it
store_full | the disk of the database is full; nothing was written by halves | make room, and run the command again
store_disk | the system refused to read or write the database file; nothing was written by halves | see that the disk is whole and that files on it may grow (`ulimit -f`), and run the command again
store_unreachable | no database answers at the address | see that it answers; `countersign config` says which one is in force
store_engine | the database answered something else than was expected | read the sentence; `countersign doctor` looks again
keys_io | a key file cannot be read or written | see that the data directory is yours, or name another with --data
keys_held | another process keeps the keys locked | let it go on or end it, and try again
keys_too_open | others can read a private key | `chmod 600` the file, and make a new key if anyone may have read it
keys_damaged | a key file does not read | restore it from a backup, or move it away and run `countersign keys rotate`
look_ended | a look of `check --from` ended in a defect of ours | report it
";

pub(super) const BEGIN: &str = "
usage | a flag or an argument is wrong; exit code 2 | correct what the sentence names
settings_wrong | a setting does not read, or may not stand where it stands; exit code 2 | correct the place that the sentence names
variable_not_text | a variable of the environment is not UTF-8; exit code 2 | set it anew
amount_empty | an amount of a flag is empty; exit code 2 | write digits, such as 0.05 dollars or 50000 atomic units
amount_not_digits | an amount of a flag has other signs than digits; exit code 2 | write the digits 0 to 9 and for dollars one point: 0.05, not 0,05 or $0.05
amount_leading_zero | an amount of a flag begins with a zero; exit code 2 | leave the zero out: 50000, not 050000
amount_too_large | an amount of a flag is above 2^256-1, the most that a token can count; exit code 2 | write a smaller one, or leave the bound out
amount_too_fine | a dollar amount of a flag has more than 18 digits behind the point; exit code 2 | write fewer, such as 0.05
no_url | the list names no URL; exit code 2 | write one a line
no_such_key | no key with that keyId is in the data directory; exit code 2 | `countersign keys list` shows those that are
no_witness | no witness of the policy has an address to ask; exit code 2 | put the address behind its key
witnesses_without_log | the policy of --witnesses has no key of the log that is served, so no checkpoint can satisfy it; exit code 2 | put the `log` lines of `log/trust` into it
cannot_listen | the address cannot be listened on, often because another program has the port; exit code 2 | name another with --listen, for `lab` with --port; port 0 takes a free one
cannot_write | a file cannot be written; exit code 2 before anything was done, 4 after | name a place that is yours and has room
ca_unreadable | the file of --ca cannot be read; exit code 2 | name one that is there
ca_malformed | the file of --ca holds no usable certificate; exit code 2 | name a PEM file of certificate authorities
malformed_input | a file is not what it should be; exit code 3 | replace it
not_evaluated | something of this machine is in the way; exit code 4 | do what the sentence says
";

pub(super) const LOG: &str = "
log_missing | there is no log in the data directory | `countersign log init`, or name the right directory with --data
log_lost | the keys of a log are here, and the log is not | restore the newest copy of `log/` ([log.md](log.md))
log_keys_lost | a log was begun here, and its keys are gone | restore `keys/log.seeds` from a copy, with mode 0600
log_unproved | the cosigned checkpoint kept beside the log is of another history | as the operator, restore the newest copy of the data directory; an older one must never sign again
log_seeds | the log's key file is readable by others, or another log's | restore it from a copy, with mode 0600
log_seeds_damaged | the key file of the log or of the witness does not give the keys that it names, or that signed before | restore it from a copy; nothing was signed and nothing written over
log_key_algorithms | the keys are not one Ed25519 and one ML-DSA-44 key at least | restore `keys/log.seeds` from a copy
log_key_names | the keys are not named like the log | restore `keys/log.seeds` from a copy
log_exists | there is a log already | use it, or name another directory
log_held | another process has the log | try again; it may be starting or stopping
log_copied | the directory is a copy of a log | `countersign log adopt`, once the original can never run again
log_other | the directory, or the log that is watched, is of another name | name the right one
log_damaged | what was already answered does not read, or a tile is not what the tree has there | `countersign log fsck`; restore the newest copy of the data directory
log_record | a record of what was signed does not read | `countersign log fsck`; restore the newest copy of the data directory
log_other_keys | a record of what was signed is under this log's name, and other keys signed it | restore the `keys/log.seeds` that signed it, or name the right storage
log_behind | more was signed than is here: an older copy | restore the newest copy; an older one must never sign again
log_forked | another history was signed or seen for the same size | restore the newest copy; of somebody else's log: keep the evidence, and trust it no more
log_clock_behind | the last signature is more than 300 seconds ahead of the clock | set the clock right, or wait
log_tiles_lacking | the tile storage lacks what the log stored, and no write-ahead segment holds it | name the bucket that holds it with `--tiles`, or put the file back from a copy
log_io | a file of the log cannot be read or written | see that the data directory is yours
log_door | the socket for other commands cannot be opened | see that `log/` is yours and on a file system that has sockets; outside Linux its path must be short
log_unreachable | the holder of the log, or the log that is watched, does not answer | try again
log_ended | the log ended before it answered | run the command again
log_closed | the log has ended; nothing was appended | run the command again
log_outcome_unknown | the log ended while the entry was being written, which may or may not be in | run the command again
log_in_doubt | a write or a sync went wrong, so this process signs nothing more | look at the log's disk; the next start decides from what is on it
log_busy | the log has more entries than it can write now | try again
log_no_space | the log's disk is full; nothing was appended | make room
leaf_length | an entry is empty or longer than 65,535 bytes | report it
log_leaf_form | what is to be logged has not the form of a leaf; nothing was appended | end the process that holds the log, and start it again with this version
log_question | what a command asked the holder of the log does not read | end the process that holds the log, and start it again with this version
log_not_text | a document to be logged is not UTF-8 | report it
idempotency_conflict | the document is in the log already, under another salt | its receipt is the one that was given first: `countersign receipt export`
log_outside | the log does not reach that far | was the receipt made by another log?
tile_missing | a stored tile or bundle is gone | `countersign log fsck`
tile_damaged | a stored tile or bundle is not what the tree has there; nothing of it was given out | put the file it names back from a copy; `countersign log fsck` looks through all
tiles_unavailable | the tile storage cannot be reached or is full | make it reachable; nothing is lost meanwhile
tiles_no_bucket | the bucket does not exist, so the log was not begun | make it or correct its name, and run the command again
tiles_no_credentials | there are no credentials for the bucket, or it refuses them | set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
tiles_settings | the settings of the bucket contradict each other | correct the AWS_* variables
tiles_conflict | the tile storage holds other bytes under that name | find out who else writes there
log_receipt_other_log | the receipt to be renewed is another log's | run it on that log's data directory
log_receipt_other_entry | the log holds another entry there | `countersign verify` says whether the receipt holds
log_receipt_wrong | the log gave a receipt that does not verify | `countersign log fsck`
no_receipt_kept | the data directory has no receipt for that document | decisions that selected nothing are logged with `check --log-misses` only
key_not_logged | the log does not hold the key's last change yet | the next check that logs a decision writes it
";

pub(super) const WATCH: &str = "
fsck_head | `log/head` or `log-head` says that more was signed than the segments hold | restore the newest copy of the data directory
fsck_checkpoint | the public checkpoint is not one of this log | start the log: it replaces one that is damaged, where `log/head` is whole
fsck_checkpoint_root | the public checkpoint has a root that the entries do not give | restore the newest copy of the data directory
fsck_missing | a file that the checkpoint implies is not there | restore the newest copy of the data directory
fsck_lacking | the tile storage that was named lacks files that the log has stored; the reason says where each still is | as its hint says: copy them there, start the log, or name the bucket with `--tiles`
fsck_bundle | a bundle of entries does not read | restore the newest copy of the data directory
fsck_tile | a tile is not what the entries give | restore the newest copy of the data directory
fsck_root | the entries do not give the root of the segments | restore the newest copy of the data directory
fsck_source | a file could not be read, so nothing is said | make it readable, and try again
fsck_unreadable | a file could not be read, so nothing is said | make it readable, and try again
log_no_checkpoint | the log shows no checkpoint | ask its operator; a young log may have none yet
log_older | the log shows a smaller size than was verified before, signed earlier: an old answer | try again
log_shrunk | the log signed a smaller size after a larger one | keep the evidence, and trust the log no more
log_rewritten | the tiles do not give a root that was verified before: the past was rewritten | keep the evidence, and trust the log no more
log_split | the newest root continues another history than its witnesses cosigned | keep the evidence, and trust the log no more
log_other_tiles | the tiles give neither the old nor the new root: the files are wrong | tell its operator; look again
log_other_entries | the entries do not give the root that was signed | tell its operator; look again
log_tile | a tile is not what the entries give | tell its operator; look again
log_file_missing | a file that the checkpoint implies is not there | tell its operator; look again
log_file_too_long | a file of the log is longer than one can be | tell its operator; look again
log_packed | the log answers compressed, though nothing was asked for that is | tell its operator
log_bundle | a file of the log does not read | tell its operator; look again
leaf_form | an entry is no leaf of this log's form | tell its operator
leaf_twice | two entries have one commitment | tell its operator
state_checkpoint | the checkpoint in --state is not accepted any more | see that --trust is the policy it was made under
state_short | FILE.commitments ends before the checkpoint in --state | restore both from one copy, or begin with a new file
state_held | another look is going on with this --state | wait until it is over, or give each monitor its own
state_unusable | a file of --state cannot be read or written | see that it is yours
witness_io | a file of --state cannot be read or written | name a folder that is this witness's alone
witness_held | another process is this witness | end it, or name another folder with --state
witness_state_lost | the state of a log that this witness has cosigned is gone | put that file back, or give the witness up: another folder, another name
witness_unnamed | a new witness needs a name; exit code 2 | give it with --name
witness_other_name | the witness has another name already, which never changes; exit code 2 | leave --name out
witness_keys | its seeds give no keys | restore the folder from a copy
";

pub(super) const SIGNED: &str = "
signature_length | the signature is not 65 bytes | the seller has to sign by the extension's text
signature_v | its last byte is neither 27 nor 28 | the seller has to sign by the extension's text
signature_out_of_range | a half of it is out of range | the seller has to sign by the extension's text
signature_high_s | it is the second form of a signature, which EIP-2 forbids | the seller has to sign with the low one
signature_no_key | no key could have made it | take the offer as unsigned
";

pub(super) const SERVED: &str = "
index_malformed | the index is no number in shortest form | write it without leading zeros
log_not_cosigned | no witness has cosigned anything yet | ask for /log/checkpoint
not_a_tile | the path does not begin with tile/ | see C2SP tlog-tiles
tile_level | the level is neither entries nor 0 to 63 | see C2SP tlog-tiles
tile_index | the index is not in the shortest form of three-digit groups | see C2SP tlog-tiles
tile_width | the width of a partial tile is not 1 to 255 | see C2SP tlog-tiles
";
