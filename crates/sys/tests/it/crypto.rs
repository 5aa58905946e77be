//! The crypto library through its bindings: published vectors in, their answers out.

use steadfast_sys::crypto::{Aes, Dsa, Mode, WORDS, capabilities, library};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn enciphered(mode: Mode, key: &str, iv: &str, plain: &str) -> Vec<u8> {
    let mut aes = Aes::new(mode, &hex(key)).unwrap();
    aes.restart(&hex(iv).try_into().unwrap()).unwrap();
    let plain = hex(plain);
    let mut out = vec![0; plain.len()];
    aes.encrypt(&plain, &mut out).unwrap();
    out
}

/// NIST SP 800-38A, sections F.2.1 and F.5.1, first blocks.
#[test]
fn aes_gives_the_published_answers() {
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let plain = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
    let cbc = enciphered(Mode::Cbc, key, "000102030405060708090a0b0c0d0e0f", plain);
    assert_eq!(cbc, hex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"));
    let ctr = enciphered(Mode::Ctr, key, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", plain);
    assert_eq!(ctr, hex("874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"));
}

#[test]
fn a_key_without_a_cipher_is_refused() {
    let error = Aes::new(Mode::Xts, &[7; 32]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
}

#[test]
fn parameters_that_are_none_are_refused() {
    assert!(Dsa::generate(b"no parameters").is_err());
}

/// What the processor has and what the library sees may differ only by what a mask takes away, and
/// nobody masks this test.
#[test]
fn the_words_are_those_of_this_processor() {
    assert!(library().starts_with("AWS-LC "));
    let words = capabilities();
    let Ok(cpuinfo) = std::fs::read_to_string("/proc/cpuinfo") else { return };
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags") || line.starts_with("Feat"));
    let has = |flag: &str| flags.is_some_and(|line| line.split_whitespace().any(|w| w == flag));
    let sees = |(word, bit): (usize, u32)| words[word] >> bit & 1 == 1;
    if WORDS.variable == "OPENSSL_ia32cap" {
        let named = [("aes", WORDS.aes[0]), ("vaes", WORDS.aes[1]), ("sha_ni", WORDS.sha[0])];
        for (flag, bit) in named {
            assert_eq!(sees(bit), has(flag), "{flag}");
        }
    } else if WORDS.variable == "OPENSSL_armcap" {
        assert_eq!(sees(WORDS.aes[0]), has("aes"));
    }
}
