//! Published test vectors. Every kernel must reproduce them before it is timed.

use crate::error::Error;
use crate::workload::hash::ANSWERS;

use super::primitives::{Aead, Blocks, Encipher};

/// Name, key, initialisation vector, additional data, plain text, encrypted text with its tag if
/// any.
type Vector = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

/// NIST SP 800-38A (2001), F.2.1, F.2.5, F.5.1, F.5.5, two blocks of each; IEEE 1619-2007, B,
/// vector 10, two blocks; D. McGrew and J. Viega, "The Galois/Counter Mode of operation", test
/// cases 3 and 15; RFC 8439, 2.8.2.
const VECTORS: [Vector; 8] = [
    ("aes-128-cbc", KEY_128, COUNTING, "", BLOCKS, CBC_128),
    ("aes-256-cbc", KEY_256, COUNTING, "", BLOCKS, CBC_256),
    ("aes-128-ctr", KEY_128, COUNTER, "", BLOCKS, CTR_128),
    ("aes-256-ctr", KEY_256, COUNTER, "", BLOCKS, CTR_256),
    ("aes-256-xts", KEY_XTS, "ff000000000000000000000000000000", "", PLAIN_XTS, XTS_256),
    ("aes-128-gcm", KEY_GCM, "cafebabefacedbaddecaf888", "", PLAIN_GCM, GCM_128),
    ("aes-256-gcm", KEY_GCM_256, "cafebabefacedbaddecaf888", "", PLAIN_GCM, GCM_256),
    ("chacha20-poly1305", KEY_CHACHA, NONCE_CHACHA, DATA_CHACHA, PLAIN_CHACHA, CHACHA),
];

const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const KEY_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
const COUNTING: &str = "000102030405060708090a0b0c0d0e0f";
const COUNTER: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
const BLOCKS: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
const CBC_128: &str = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2";
const CBC_256: &str = "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d";
const CTR_128: &str = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff";
const CTR_256: &str = "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5";
const KEY_XTS: &str = "\
    27182818284590452353602874713526624977572470936999595749669676273141592653589793238462643383\
    279502884197169399375105820974944592";
const PLAIN_XTS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const XTS_256: &str = "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b";
const KEY_GCM: &str = "feffe9928665731c6d6a8f9467308308";
const KEY_GCM_256: &str = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
const PLAIN_GCM: &str = "\
    d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6\
    b525b16aedf5aa0de657ba637b391aafd255";
const GCM_128: &str = "\
    42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84\
    aa051ba30b396a0aac973d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4";
const GCM_256: &str = "\
    522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b105682\
    8838c5f61e6393ba7a0abcc9f662898015adb094dac5d93471bdec1a502270e3cc6c";
const KEY_CHACHA: &str = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f";
const NONCE_CHACHA: &str = "070000004041424344454647";
const DATA_CHACHA: &str = "50515253c0c1c2c3c4c5c6c7";
const PLAIN_CHACHA: &str = "\
    4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a2049662049\
    20636f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c20\
    73756e73637265656e20776f756c642062652069742e";
const CHACHA: &str = "\
    d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92\
    728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b\
    4831d7bc3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691";

/// RFC 8032, 7.1, test 2: secret key, public key, message, signature.
pub(super) const ED25519: [&str; 4] = [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f1\
     1d8c387b2eaeb4302aeeb00d291612bb0c00",
];

/// Checks a cipher against its vector.
pub(super) fn check_cipher(name: &str) -> Result<(), Error> {
    let vector = VECTORS.iter().find(|vector| vector.0 == name);
    let (_, key, iv, data, plain, enciphered) = vector.ok_or_else(|| no_vector(name))?;
    let [key, iv, data, plain, enciphered] =
        [key, iv, data, plain, enciphered].map(|text| bytes(text));
    let mut answer = vec![0; enciphered.len()];
    if let Ok(nonce) = <[u8; 12]>::try_from(&*iv) {
        Aead::new(name, &key)?.seal(nonce, &data, &plain, &mut answer)?;
    } else {
        let iv = iv.try_into().expect("an initialisation vector has 12 or 16 bytes");
        let mut blocks = Blocks::new(name, &key, iv)?;
        // The unit of XTS is that of the vector, in the vector's first byte.
        let unit = if name.ends_with("xts") { 0xff } else { 0 };
        blocks.encipher(unit, &plain, &mut answer)?;
    }
    same(name, &answer, &enciphered)
}

/// Checks a digest against its vector.
pub(super) fn check_digest(name: &str, digest: impl Fn(&[u8]) -> Vec<u8>) -> Result<(), Error> {
    let answer = ANSWERS.iter().find(|row| row.0.name() == name);
    let (_, message, answer) = answer.ok_or_else(|| no_vector(name))?;
    same(name, &digest(message), &bytes(answer))
}

/// Compares a result with the published one.
pub(super) fn same(name: &str, answer: &[u8], published: &[u8]) -> Result<(), Error> {
    if answer == published {
        return Ok(());
    }
    Err(Error::wrong(format!("{name} gives another answer than the published one")))
}

fn no_vector(name: &str) -> Error {
    Error::wrong(format!("no published vector of {name}, so it is not measured"))
}

/// Reads hexadecimal digits and ignores the layout between them.
pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
