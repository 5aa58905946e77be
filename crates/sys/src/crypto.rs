//! Functions of AWS-LC that its safe crate lacks: AES modes of disks and files, DSA, and the
//! processor instructions that the library uses.
//!
//! It is in this crate because it needs unsafe code, and is compiled only for measuring (feature
//! `crypto`). The project encrypts and signs nothing with it.

#![expect(unsafe_code, reason = "the library is written in C")]

mod words;

use std::ffi::{c_int, c_uint};
use std::io;
use std::ptr::{self, NonNull};

pub use words::{Bit, CapabilityWords, WORDS, capabilities};

/// A mode of AES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// XTS, as on disks: each unit is encrypted by itself, with two keys.
    Xts,
    /// Counter.
    Ctr,
    /// Cipher block chaining.
    Cbc,
}

/// Returns the library's name and version.
#[must_use]
pub fn library() -> String {
    let version = aws_lc_sys::AWSLC_VERSION_NUMBER_STRING;
    let version = version.strip_suffix(b"\0").unwrap_or(version);
    format!("AWS-LC {}", String::from_utf8_lossy(version))
}

/// Enciphers with AES under one key.
#[derive(Debug)]
pub struct Aes {
    context: NonNull<aws_lc_sys::EVP_CIPHER_CTX>,
    mode: Mode,
}

impl Aes {
    /// Prepares a key: 16 or 32 bytes, for XTS the 64 bytes of two keys.
    ///
    /// # Errors
    /// `Unsupported` for a length that the library has no cipher for, among them XTS with keys of
    /// 16 bytes. `Other` if it has no memory.
    pub fn new(mode: Mode, key: &[u8]) -> io::Result<Aes> {
        aws_lc_sys::init();
        let cipher = match (mode, key.len()) {
            // SAFETY: the function takes nothing and returns a pointer to a constant.
            (Mode::Xts, 64) => unsafe { aws_lc_sys::EVP_aes_256_xts() },
            // SAFETY: as above.
            (Mode::Ctr, 16) => unsafe { aws_lc_sys::EVP_aes_128_ctr() },
            // SAFETY: as above.
            (Mode::Ctr, 32) => unsafe { aws_lc_sys::EVP_aes_256_ctr() },
            // SAFETY: as above.
            (Mode::Cbc, 16) => unsafe { aws_lc_sys::EVP_aes_128_cbc() },
            // SAFETY: as above.
            (Mode::Cbc, 32) => unsafe { aws_lc_sys::EVP_aes_256_cbc() },
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        // SAFETY: the function takes nothing; what it returns is owned here and freed by `drop`.
        let context = unsafe { aws_lc_sys::EVP_CIPHER_CTX_new() };
        let context = NonNull::new(context).ok_or_else(|| failed("make a cipher"))?;
        let aes = Aes { context, mode };
        let (engine, iv) = (ptr::null_mut(), ptr::null());
        // SAFETY: the context lives, the cipher is a constant whose key length was matched above,
        // and no initialisation vector is allowed until `restart` gives one.
        let done = unsafe {
            aws_lc_sys::EVP_EncryptInit_ex(context.as_ptr(), cipher, engine, key.as_ptr(), iv)
        };
        check(done, "set a key")?;
        // SAFETY: the context lives.
        let done = unsafe { aws_lc_sys::EVP_CIPHER_CTX_set_padding(context.as_ptr(), 0) };
        check(done, "turn padding off")?;
        Ok(aes)
    }

    /// Starts again with an initialisation vector, a counter or a unit number.
    pub fn restart(&mut self, iv: &[u8; 16]) -> io::Result<()> {
        let context = self.context.as_ptr();
        let (cipher, engine, key) = (ptr::null(), ptr::null_mut(), ptr::null());
        // SAFETY: the context lives and has its cipher and key; all modes here take 16 bytes.
        let done =
            unsafe { aws_lc_sys::EVP_EncryptInit_ex(context, cipher, engine, key, iv.as_ptr()) };
        check(done, "set a vector")
    }

    /// Enciphers bytes that follow the last ones. In XTS they are one unit, at least 16 bytes
    /// long, and [`Aes::restart`] comes before each; in CBC they are whole blocks.
    ///
    /// # Panics
    /// If the two do not have the same length, if CBC gets part of a block, or beyond 1 GiB.
    pub fn encrypt(&mut self, plain: &[u8], enciphered: &mut [u8]) -> io::Result<()> {
        assert_eq!(plain.len(), enciphered.len(), "as many bytes come out as go in");
        assert!(plain.len() <= 1 << 30, "more than the library counts");
        assert!(self.mode != Mode::Cbc || plain.len().is_multiple_of(16), "part of a block");
        let len = plain.len() as c_int;
        let mut written: c_int = 0;
        let (context, to) = (self.context.as_ptr(), enciphered.as_mut_ptr());
        // SAFETY: the context lives; `plain` is read and `enciphered` written for `len` bytes,
        // which both have. Nothing is held back: XTS and CTR never do, CBC gets whole blocks.
        let done = unsafe {
            aws_lc_sys::EVP_EncryptUpdate(context, to, &raw mut written, plain.as_ptr(), len)
        };
        check(done, "encipher")?;
        if written == len { Ok(()) } else { Err(failed("encipher all")) }
    }
}

impl Drop for Aes {
    fn drop(&mut self) {
        // SAFETY: the context was made by `new` and is used by nobody after this.
        unsafe { aws_lc_sys::EVP_CIPHER_CTX_free(self.context.as_ptr()) }
    }
}

/// A key of DSA, which is obsolete. It is only measured.
#[derive(Debug)]
pub struct Dsa {
    key: NonNull<aws_lc_sys::DSA>,
    signature_len_max: usize,
}

impl Dsa {
    /// Makes a key of parameters p, q and g in DER.
    ///
    /// # Errors
    /// `Other` if they are none, or the library refuses them.
    pub fn generate(parameters: &[u8]) -> io::Result<Dsa> {
        aws_lc_sys::init();
        let mut from = parameters.as_ptr();
        let len = parameters.len().try_into().expect("parameters are a few hundred bytes");
        // SAFETY: `from` is readable for `len` bytes; what is returned is owned here.
        let key = unsafe { aws_lc_sys::d2i_DSAparams(ptr::null_mut(), &raw mut from, len) };
        let key = NonNull::new(key).ok_or_else(|| failed("read DSA parameters"))?;
        let mut dsa = Dsa { key, signature_len_max: 0 };
        // SAFETY: the key lives and has its parameters.
        check(unsafe { aws_lc_sys::DSA_generate_key(key.as_ptr()) }, "make a DSA key")?;
        // SAFETY: the key lives.
        let len = unsafe { aws_lc_sys::DSA_size(key.as_ptr()) };
        dsa.signature_len_max = usize::try_from(len).map_err(|_| failed("size a signature"))?;
        Ok(dsa)
    }

    /// Signs a digest.
    pub fn sign(&self, digest: &[u8]) -> io::Result<Vec<u8>> {
        let mut signature = vec![0; self.signature_len_max];
        let mut len: c_uint = 0;
        let (key, to) = (self.key.as_ptr(), signature.as_mut_ptr());
        // SAFETY: the key lives, `digest` is readable for its length, and `signature` has room for
        // the longest that the library said there is.
        let done = unsafe {
            aws_lc_sys::DSA_sign(0, digest.as_ptr(), digest.len(), to, &raw mut len, key)
        };
        check(done, "sign")?;
        signature.truncate(len as usize);
        Ok(signature)
    }

    /// Tells whether a signature is one of this key and digest.
    #[must_use]
    pub fn verify(&self, digest: &[u8], signature: &[u8]) -> bool {
        let (digest, digest_len) = (digest.as_ptr(), digest.len());
        let (signature, len, key) = (signature.as_ptr(), signature.len(), self.key.as_ptr());
        // SAFETY: the key lives, and both slices are readable for their lengths.
        let valid = unsafe { aws_lc_sys::DSA_verify(0, digest, digest_len, signature, len, key) };
        valid == 1
    }
}

impl Drop for Dsa {
    fn drop(&mut self) {
        // SAFETY: the key was made by `generate` and is used by nobody after this.
        unsafe { aws_lc_sys::DSA_free(self.key.as_ptr()) }
    }
}

fn check(done: c_int, doing: &str) -> io::Result<()> {
    if done == 1 { Ok(()) } else { Err(failed(doing)) }
}

fn failed(doing: &str) -> io::Error {
    io::Error::other(format!("the crypto library could not {doing}"))
}
