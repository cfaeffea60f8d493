// What each code means, in a sentence for people. The codes are the stable part, and those of the Rust verifier.

export const REASONS = {
  // The receipt.
  receipt_unknown_member: "the receipt has a member that this version does not know",
  reveal_unknown_member: "the reveal has a member that this version does not know",
  commitment_mismatch: "the document is not the one that was committed to",
  leaf_hash_mismatch: "the revealed leaf is not the one that the receipt is for",
  origin_mismatch: "the receipt names another log than its checkpoint",
  no_document: "`keys` names a signer, and the receipt holds no document that one could have signed",
  // The proof.
  index_outside: "the index is not inside the tree",
  wrong_length: "the proof has the wrong number of hashes for this index and size",
  wrong_root: "the proof does not lead to the signed root",
  // The checkpoint.
  note_too_large: "the checkpoint is larger than 128 KiB",
  note_not_text: "the checkpoint holds control characters",
  note_no_signatures: "the checkpoint has no signatures",
  note_too_many_signatures: "the checkpoint has more than 64 signatures",
  note_signature_line: "a signature line of the checkpoint does not read",
  note_signature_malformed: "a known key's signature has not the form of its type",
  note_bad_signature: "a known key's signature does not hold",
  note_ambiguous_key: "two keys of the trust policy have one name and id",
  note_no_known_key: "no signature of the checkpoint is by a key of the trust policy",
  checkpoint_lines: "a checkpoint has at least three complete lines",
  checkpoint_origin: "the first line of the checkpoint is no name of a log",
  checkpoint_size: "the second line of the checkpoint is no size",
  checkpoint_root: "the third line of the checkpoint is no root",
  checkpoint_extension: "an extension line of the checkpoint is empty, or there are more than 16",
  // The trust policy.
  log_unknown: "the trust policy does not have the log of this checkpoint",
  log_not_signed: "no key of the log has signed the checkpoint",
  extensions_not_signed: "the checkpoint has extension lines, and no signature of the log covers them",
  pq_missing: "the ML-DSA-44 signature of the log is demanded; the checkpoint does not carry it, or the trust policy has no key for it",
  pq_not_checked: "it takes the log's ML-DSA-44 signature, which is there, and no `mlDsa44` was given to check it",
  quorum_missing: "too few of the trust policy's witnesses have cosigned the checkpoint",
  quorum_not_checked: "the quorum takes ML-DSA-44 cosignatures, which are there, and no `mlDsa44` was given to check them",
  // Its age.
  checkpoint_time_unknown: "neither the log nor a quorum of two witnesses states a time that was checked, so the age is unknown",
  checkpoint_in_future: "the checkpoint says that it was signed in the future",
  checkpoint_too_old: "the checkpoint was signed longer ago than `maxAgeSeconds` allows",
  // The document.
  member_missing: "the document inside lacks a member that every signed document has, or has it in another type",
  signature_invalid: "the document inside is not signed as it says",
  // Strict JSON.
  json_syntax: "this is no JSON",
  json_trailing: "there is text behind the value",
  json_utf8: "the text is not UTF-8",
  json_bom: "the text begins with a byte order mark",
  json_size: "the text is too large",
  json_depth: "it is nested too deep",
  json_members: "an object has too many members",
  json_string: "a string is too long",
  json_duplicate: "an object has two members of one name",
  json_surrogate: "a string holds half of a surrogate pair",
  json_unsafe_integer: "an integer is beyond 2^53-1",
  json_overflow: "a number is too large for a double",
};
