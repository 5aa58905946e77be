//! What one series differs in from another. Each factor is absent where it has no meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// What one series differs in from another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// Over 15 fields: it is an object of the record format, field by field.
pub struct Factors {
    /// What was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Digest, cipher or kernel, by name: `sha256`, `aes-256-gcm`, `f32-product-plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// What computed it: `x86_shani`, or a library with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// How bytes were read: `buffered`, `direct`, or `null`, which moves none; `memory` where they
    /// were there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Which of the processor's instructions it could use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isa: Option<Isa>,
    /// The processor as the crypto library saw it: words of 32 bits, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    /// Messages at once in each thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
    /// Threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// QoS level, by number: 9, 17, 21, 25 or 33.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos: Option<u8>,
    /// Busy threads of this program beside the work, where contention was measured; 0 for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_threads: Option<u32>,
    /// Name of the core type it ran on, if the system was told and did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_type: Option<String>,
    /// Bytes handed over at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_len_bytes: Option<u64>,
    /// Bytes of one operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_len_bytes: Option<u64>,
    /// Operations in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// In which order the bytes were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Where bytes came from, as far as was proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Which of the compared things it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The files that those of the samples were drawn from, where they stand for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn_from: Option<Files>,
}

/// Files of one kind, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// How many there are.
    pub files: u64,
    /// Their lengths together, in bytes.
    pub bytes: u64,
}

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Bytes already in memory to a digest.
    Hash,
    /// Storage to memory, nothing else.
    Read,
    /// Storage to a digest, as a check does it.
    ReadHash,
    /// To begin and to end a run, of next to nothing.
    Start,
    /// Memory to storage, with what the method says of flushing.
    Write,
    /// Reads and writes at once, seven reads to three writes.
    ReadWrite,
    /// Memory to memory: no reading through a cache is faster.
    Copy,
    /// Plain bytes to enciphered ones, in memory.
    Encrypt,
    /// The same backwards.
    Decrypt,
    /// A file to an enciphered file.
    EncryptFile,
    /// Making signatures.
    Sign,
    /// Verifying signatures.
    Verify,
    /// A loop in one core.
    Kernel,
}

/// Which of the processor's instructions could be used.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isa {
    /// All there are.
    Full,
    /// All but those for AES.
    NoAes,
    /// All but those for SHA.
    NoSha,
    /// Neither those for AES and SHA nor carry-less multiplication.
    Baseline,
}

/// In which order bytes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One after the other; of files, in the order of the folder.
    Sequential,
    /// In an order drawn from the seed.
    Random,
    /// Files in the order in which they were written.
    Written,
}

/// Where bytes came from, as far as was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// The page cache held none of them: the system said so.
    Cold,
    /// The page cache was bypassed, and the file system does such reads.
    Direct,
    /// The page cache held all of them.
    Warm,
    /// It could not be told.
    Unknown,
}

/// Which of the compared things it was.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The first named.
    A,
    /// The second named.
    B,
    /// The way to A's storage without what A adds: same path, no cipher.
    Control,
}
