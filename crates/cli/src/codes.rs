//! What `verify` and the files that flags name can be refused with: one row a code, `code | means | what to do`.
//!
//! The terminal takes its hints from here and so does `docs/refusals.md`, because two lists soon advise two things.

/// Why `verify` says no, or says nothing.
pub(crate) const VERIFY: &str = "
no_trust_policy | nothing says which logs you accept | name the logs and witnesses you accept with --trust
no_receipt | a log is demanded, and the file is a bare document | ask for its receipt, or leave out --trust, --require-pq and --max-age: a bare document can meet none of them
no_document | a signer is demanded with --key or --key-receipt, and the file holds no document that one could have signed | ask for the receipt with its reveal, or leave out --key and --key-receipt
no_leaf | a .tlog-proof was given without the leaf it is about | --leaf takes the entry as it was logged, or the receipt or the answer of a decision
not_yet_valid | the document is dated in the future | look at the clock, or at the instant in --at
expired | the terms in the decision are no longer in time | check again
member_missing | a signed document lacks a member that all have, or has it in another type | name a receipt, a signed decision, an answer, a .tlog-proof or a log's checkpoint; if it is one, ask for the original
unknown_key | it is signed by a key that you did not name | name the signer's public key with --key
signature_invalid | the key did not sign these bytes | take nothing from it; ask for the original
outside_key_validity | the document is dated outside the time in which its key signed | take nothing from it
key_validity_unknown | --key-receipt was given, and none of them is of the key that signed the document | ask the signer for the receipt of that key, or leave out --key-receipt
key_statement_member | a statement of a key lacks a member, or has another | ask for the original
receipt_member | a member of the receipt is missing, or not what it should be | ask for the receipt again
receipt_unknown_member | the receipt has a member that this version does not know | use a newer version, or ask for the receipt again
receipt_contradicted | the answer says something else of its receipt than the receipt | take nothing from it
receipt_other_document | the receipt is not for the decision it stands beside | take nothing from it
reveal_member | a member of the reveal is missing, or not what it should be | ask for the receipt again
reveal_unknown_member | the reveal has a member that this version does not know | use a newer version, or ask for the receipt again
commitment_mismatch | the document is not the one that was committed to | take nothing from it
leaf_hash_mismatch | the leaf is not the one that the receipt is for | take nothing from it
origin_mismatch | the receipt names another log than its checkpoint | take nothing from it
index_outside | the index is not inside the tree | take nothing from it; of a .tlog-proof, see that --leaf names the entry it is of
sizes_outside | the two sizes have no consistency proof | take nothing from it
wrong_length | the proof has the wrong number of hashes | take nothing from it; of a .tlog-proof, see that --leaf names the entry it is of
wrong_root | the proof does not lead to the signed root | take nothing from it; of a .tlog-proof, see that --leaf names the entry it is of
checkpoint_too_old | it was signed longer ago than --max-age allows | a receipt: get a newer one with `countersign receipt upgrade`; a proof: ask for a newer proof of the same entry; a checkpoint: fetch the log's newest checkpoint (a log whose newest is that old has stopped signing)
checkpoint_in_future | it was signed in the future | look at this machine's clock, or at the instant in --at; if it is right, the signer's is wrong
checkpoint_time_unknown | an age is demanded, and no signature states a time | --trust must name a key of the log that signs a time (ML-DSA-44), or witnesses of two names; or leave out --max-age
log_unknown | the policy does not have this log | name a policy that has this log with --trust
log_not_signed | the log itself has not signed | take nothing from it
extensions_not_signed | no signature of the log covers the extension lines | take nothing from it
pq_missing | the log's post-quantum signature is missing, or the policy has no key for it | ask for one with it, name with --trust a policy that has the log's ML-DSA-44 key, or leave out --require-pq
quorum_missing | too few of the policy's witnesses have cosigned | witnesses cosign later: `countersign receipt upgrade` renews a receipt, and `/log/cosigned` shows the log's newest cosigned checkpoint
note_too_large | the checkpoint is too large | ask for the original
note_not_text | the checkpoint is not UTF-8, or holds control characters | ask for the original
note_no_signatures | the checkpoint has no signatures | ask for the original
note_too_many_signatures | the checkpoint has too many signatures | ask for the original
note_signature_line | a signature line does not read | ask for the original
note_ambiguous_key | two keys of the policy have one name and id | correct the policy
note_signature_malformed | a known key's signature has not the form of its type | take nothing from it
note_bad_signature | a known key's signature is wrong | take nothing from it
note_no_known_key | no signature is by a key of the policy | name the policy that has it with --trust
checkpoint_lines | a checkpoint has at least three complete lines | ask for the original
checkpoint_origin | the first line is no name of a log | ask for the original
checkpoint_size | the second line is no size | ask for the original
checkpoint_root | the third line is no root | ask for the original
checkpoint_extension | an extension line is empty, or there are too many | ask for the original
checkpoint_other_log | two checkpoints are of two logs | name those of one
checkpoint_empty_root | a log of size 0 has another root than the empty one | take nothing from it
proof_too_large | the .tlog-proof is too large | ask for the original
proof_not_text | the .tlog-proof is not UTF-8 | ask for the original
proof_header | the first line is not c2sp.org/tlog-proof@v1 | ask for the original
proof_extra | the extra line is not base64, or too long | ask for the original
proof_index | the index line is missing, or no number | ask for the original
proof_hash | a hash line is not 32 bytes in base64 | ask for the original
proof_too_many_hashes | there are more than 63 hashes | ask for the original
key_malformed | a key of the policy is not name+id+base64 | correct it
key_type_unsupported | a key of the policy has a type that is not supported | leave it out
key_bad | a key of the policy is no valid public key | correct it
key_wrong_id | the id of a key is not that of its name and key | correct it
json_syntax | the file is not JSON | name a receipt, a signed decision, an answer, a .tlog-proof or a log's checkpoint; if it is one, ask for the original
json_trailing | there are bytes behind the value | leave them out
json_utf8 | the file is not UTF-8 | name a receipt, a signed decision, an answer, a .tlog-proof or a log's checkpoint; if it is one, ask for the original
json_bom | the file begins with a byte order mark | save it without one
json_size | the file is too large | ask for the original
json_depth | it is nested too deep | ask for the original
json_members | an object has too many members | ask for the original
json_string | a string is too long | ask for the original
json_duplicate | an object has two members of one name | take nothing from it
json_surrogate | a string holds half of a surrogate pair | ask for the original
json_unsafe_integer | an integer is beyond 2^53-1 | ask for the original
json_overflow | a number is too large for a double | ask for the original
";

/// What the command line names and cannot be used. A flag that names such a file is wrong, whatever the file to be judged
/// is.
pub(crate) const NAMED: &str = "
cannot_read | the file to be judged, or the list of --from, cannot be read or is too large; exit code 3 | see that it is there and that this user may read it
list_not_text | a line of the list of --from is not UTF-8, so nothing was asked; exit code 3 | save the list as UTF-8, one URL a line
trust_unreadable | the trust policy cannot be read; exit code 2 | `countersign log status` names the trust policy of your own log; ask another log's operator for theirs
trust_malformed | the file is no trust policy (C2SP tlog-policy); exit code 2 | `countersign log status` names the trust policy of your own log; ask another log's operator for theirs
not_a_receipt | a receipt is to be renewed, and the file is another one; exit code 3 | `countersign receipt export` writes the receipt of a decision or an answer that was made here
leaf_unreadable | the file of --leaf cannot be read; exit code 2 | --leaf takes the entry as it was logged, or the receipt or the answer of a decision
leaf_malformed | the file of --leaf is not what a leaf is made of; exit code 2 | --leaf takes the entry as it was logged, or the receipt or the answer of a decision
key_receipt_unreadable | the file of --key-receipt cannot be read; exit code 2 | --key-receipt takes the receipt of a signing key: `countersign receipt export --key`
key_receipt_malformed | the file of --key-receipt is no receipt; exit code 2 | --key-receipt takes the receipt of a signing key: `countersign receipt export --key`
not_a_key_receipt | the file of --key-receipt is the receipt of something else; exit code 2 | --key-receipt takes the receipt of a signing key: `countersign receipt export --key`
key_public_malformed | the text of --key is no Ed25519 public key in base64; exit code 2 | its owner's `countersign keys list --json` has it as `publicKey`
";

/// What to do about a refusal of this code.
pub(crate) fn hint(code: &str) -> Option<&'static str> {
    let row = |line: &'static str| line.strip_prefix(code)?.strip_prefix(" | ")?.split(" | ").nth(1);
    VERIFY.lines().chain(NAMED.lines()).find_map(row)
}
