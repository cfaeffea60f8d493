//! The ES6 number file: a hundred million doubles with the text that ECMAScript gives them, made by rule,
//! known by the published checksums of its beginnings.
//!
//! Source of rule, fixed doubles and checksums: testdata/README.md of
//! <https://github.com/cyberphone/json-canonicalization>.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::*;

/// Lines, bytes and SHA-256 of a beginning of the file.
const BEGINNINGS: [(usize, usize, &str); 5] = [
    (1_000, 37_967, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"),
    (10_000, 399_022, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"),
    (100_000, 4_031_728, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7"),
    (1_000_000, 40_357_417, "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16"),
    (10_000_000, 403_630_048, "b9f8a44a91d46813b21b9602e72f112613c91408db0b8341fb94603d9db135e0"),
];

/// The doubles of the file: fixed ones, two thousand around the smallest normal number, then whatever the
/// digests of digests are, beginning with 32 zero bytes.
fn words() -> impl Iterator<Item = u64> {
    let table = include_str!("../../../tests/data/es6-doubles.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let fixed: Vec<u64> = rows.map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
    let serial = (0..2_000).map(|step| 0x0010_0000_0000_0000 + step);
    let digests = std::iter::successors(Some([0; 32]), |block| Some(Sha256::digest(block).into())).skip(1);
    let stream = digests.flat_map(|block: [u8; 32]| {
        let (words, _) = block.as_chunks::<8>();
        [0, 1, 2, 3].map(|word| u64::from_le_bytes(words[word]))
    });
    let usable = |word: &u64| f64::from_bits(*word) != 0.0 && f64::from_bits(*word).is_finite();
    fixed.into_iter().chain(serial).chain(stream.filter(usable))
}

/// Makes the file from what we read and write, a thousand numbers a text.
fn compare(beginnings: &[(usize, usize, &str)]) {
    let (mut all, mut hash, mut size, mut lines) = (words(), Sha256::new(), 0, 0);
    let limits = Limits::default();
    for &(until, bytes, sha256) in beginnings {
        while lines < until {
            let words: Vec<u64> = all.by_ref().take(1_000).collect();
            let literals: Vec<_> = words.iter().map(|word| format!("{:e}", f64::from_bits(*word))).collect();
            let text = format!("[{}]", literals.join(","));
            let numbers = canonicalize(text.as_bytes(), Profile::Rfc8785, &limits).unwrap();
            let numbers = std::str::from_utf8(&numbers[1..numbers.len() - 1]).unwrap().split(',');
            let mut out = String::new();
            words.iter().zip(numbers).for_each(|(word, number)| writeln!(out, "{word:x},{number}").unwrap());
            hash.update(&out);
            (size, lines) = (size + out.len(), lines + words.len());
        }
        assert_eq!((size, hex::encode(hash.clone().finalize())), (bytes, sha256.to_owned()), "{until} lines");
    }
}

#[test]
fn a_million_numbers_have_the_published_checksums() {
    compare(&BEGINNINGS[..4]);
}

#[test]
#[ignore = "ten times as long; cargo test -p countersign-core ten_million -- --ignored"]
fn ten_million_numbers_have_the_published_checksum() {
    compare(&BEGINNINGS);
}
