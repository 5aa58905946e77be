//! Reads binary property lists, version 00.
//!
//! An object may be referred to many times, so a few bytes could stand for any number of values.
//! The number of values is therefore bounded by the number of bytes.
//!
//! Source: Apple CoreFoundation, `CFBinaryPList.c`, the layout in its opening comment.

use super::{DEPTH_MAX, Value, malformed};
use crate::error::Error;

/// Length of the trailer, which says where everything is.
const TRAILER_LEN: usize = 32;

/// The most bytes of text and data made for each byte of the document. It is more than one because
/// a key of many dictionaries is stored once.
const CONTENTS_PER_BYTE: usize = 64;

/// Reads a document.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, Error> {
    let trailer_at = bytes.len().checked_sub(TRAILER_LEN);
    let (Some(trailer_at), true) = (trailer_at, bytes.starts_with(b"bplist00")) else {
        return Err(malformed("not a binary plist of version 00", 0));
    };
    let error = |reason| malformed(reason, trailer_at);
    let trailer = &bytes[trailer_at..];
    let (offset_len, reference_len) = (usize::from(trailer[6]), usize::from(trailer[7]));
    let field = |at: usize| {
        let value = uint(&trailer[at..at + 8]).expect("eight bytes fit");
        usize::try_from(value).map_err(|_| error("a number that is too large"))
    };
    let (count, top, table_at) = (field(8)?, field(16)?, field(24)?);
    if !(1..=8).contains(&offset_len) || !(1..=8).contains(&reference_len) {
        return Err(error("lengths that cannot be"));
    }
    let table_len = count.checked_mul(offset_len).ok_or_else(|| error("too many objects"))?;
    let table_end = table_at.checked_add(table_len).filter(|end| *end <= trailer_at);
    let table_end = table_end.ok_or_else(|| error("the table of offsets is not in the file"))?;
    let mut reader = BinaryReader {
        objects: &bytes[..table_at],
        table: &bytes[table_at..table_end],
        offset_len,
        reference_len,
        values_left: bytes.len(),
        bytes_left: bytes.len().saturating_mul(CONTENTS_PER_BYTE),
    };
    reader.object(top, 0)
}

struct BinaryReader<'a> {
    objects: &'a [u8],
    table: &'a [u8],
    offset_len: usize,
    reference_len: usize,
    /// Each value except the first takes at least one byte, the reference to it.
    values_left: usize,
    /// The same bound for text and data.
    bytes_left: usize,
}

impl<'a> BinaryReader<'a> {
    fn object(&mut self, index: usize, depth: usize) -> Result<Value, Error> {
        let at = self.offset_of(index)?;
        let error = |reason| malformed(reason, at);
        if depth > DEPTH_MAX {
            return Err(error("nested too deep"));
        }
        self.values_left =
            self.values_left.checked_sub(1).ok_or_else(|| error("too many values"))?;
        let marker = *self.objects.get(at).ok_or_else(|| error("an object is not in the file"))?;
        let low = marker & 0xf;
        match marker >> 4 {
            0x0 if low == 8 || low == 9 => Ok(Value::Boolean(low == 9)),
            0x1 => {
                let bytes = self.bytes(at + 1, 1 << low.min(5))?;
                integer(bytes)
                    .map(Value::Integer)
                    .ok_or_else(|| error("a number that is too large"))
            }
            0x2 | 0x3 => {
                let bytes = self.bytes(at + 1, 1 << low.min(5))?;
                let number = real(bytes).ok_or_else(|| error("a number of unknown length"))?;
                Ok(match marker >> 4 {
                    0x2 => Value::Real(number),
                    _ => Value::Date(number.to_string()),
                })
            }
            0x4 => {
                let (start, len) = self.length(at, low)?;
                Ok(Value::Data(self.contents(start, len)?.to_vec()))
            }
            0x5 => {
                let (start, len) = self.length(at, low)?;
                let bytes = self.contents(start, len)?;
                // Apple calls these strings ASCII.
                let text = str::from_utf8(bytes).map_err(|_| error("text that is not ASCII"))?;
                Ok(Value::Text(text.to_owned()))
            }
            0x6 => {
                let (start, len) = self.length(at, low)?;
                let len = len.checked_mul(2).ok_or_else(|| error("too long"))?;
                let bytes = self.contents(start, len)?;
                let units =
                    bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
                let text: Result<String, _> = char::decode_utf16(units).collect();
                text.map(Value::Text).map_err(|_| error("text that is not UTF-16"))
            }
            0xa => self.array(at, low, depth),
            0xd => self.dictionary(at, low, depth),
            _ => Err(error("an object of unknown kind")),
        }
    }

    fn array(&mut self, at: usize, low: u8, depth: usize) -> Result<Value, Error> {
        let (start, count) = self.length(at, low)?;
        let references = self.references(start, count)?;
        let mut values = Vec::new();
        for reference in references.chunks_exact(self.reference_len) {
            values.push(self.object(index(reference), depth + 1)?);
        }
        Ok(Value::List(values))
    }

    fn dictionary(&mut self, at: usize, low: u8, depth: usize) -> Result<Value, Error> {
        let (start, count) = self.length(at, low)?;
        let doubled = count.checked_mul(2).ok_or_else(|| malformed("too long", at))?;
        let references = self.references(start, doubled)?;
        let (keys, values) = references.split_at(references.len() / 2);
        let mut entries = Vec::new();
        let pairs =
            keys.chunks_exact(self.reference_len).zip(values.chunks_exact(self.reference_len));
        for (key, value) in pairs {
            let Value::Text(key) = self.object(index(key), depth + 1)? else {
                return Err(malformed("a key that is no text", at));
            };
            entries.push((key, self.object(index(value), depth + 1)?));
        }
        Ok(Value::Map(entries))
    }

    fn offset_of(&self, index: usize) -> Result<usize, Error> {
        let start = index.checked_mul(self.offset_len);
        let range = start.and_then(|start| Some(start..start.checked_add(self.offset_len)?));
        let bytes = range.and_then(|range| self.table.get(range));
        let offset = bytes.and_then(uint).and_then(|offset| usize::try_from(offset).ok());
        offset.ok_or_else(|| malformed("an object that is not in the table", index))
    }

    /// Returns where the contents of an object begin, and their length.
    fn length(&self, at: usize, low: u8) -> Result<(usize, usize), Error> {
        if low != 0xf {
            return Ok((at + 1, usize::from(low)));
        }
        let error = || malformed("a length that cannot be", at);
        let marker = *self.objects.get(at + 1).ok_or_else(error)?;
        if marker >> 4 != 1 {
            return Err(error());
        }
        let width = 1 << (marker & 0xf).min(5);
        let number = uint(self.bytes(at + 2, width)?).ok_or_else(error)?;
        Ok((at + 2 + width, usize::try_from(number).map_err(|_| error())?))
    }

    fn references(&self, start: usize, count: usize) -> Result<&'a [u8], Error> {
        let len = count.checked_mul(self.reference_len);
        self.bytes(start, len.ok_or_else(|| malformed("too long", start))?)
    }

    fn contents(&mut self, start: usize, len: usize) -> Result<&'a [u8], Error> {
        let bytes = self.bytes(start, len)?;
        let left = self.bytes_left.checked_sub(len);
        self.bytes_left = left.ok_or_else(|| malformed("too many values", start))?;
        Ok(bytes)
    }

    fn bytes(&self, start: usize, len: usize) -> Result<&'a [u8], Error> {
        let range = start.checked_add(len).map(|end| start..end);
        let bytes = range.and_then(|range| self.objects.get(range));
        bytes.ok_or_else(|| malformed("an object is not in the file", start))
    }
}

/// Reads a reference. One beyond the address space is beyond any table too.
fn index(reference: &[u8]) -> usize {
    uint(reference).and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX)
}

fn uint(bytes: &[u8]) -> Option<u64> {
    let (head, tail) = bytes.split_at(bytes.len().saturating_sub(8));
    let value = tail.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    head.iter().all(|byte| *byte == 0).then_some(value)
}

/// Numbers of eight bytes or more are signed; shorter ones are not.
fn integer(bytes: &[u8]) -> Option<i128> {
    match bytes.len() {
        16 => Some(i128::from_be_bytes(bytes.try_into().ok()?)),
        8 => Some(i128::from(i64::from_be_bytes(bytes.try_into().ok()?))),
        _ => uint(bytes).map(i128::from),
    }
}

fn real(bytes: &[u8]) -> Option<f64> {
    match bytes.len() {
        4 => Some(f64::from(f32::from_be_bytes(bytes.try_into().ok()?))),
        8 => Some(f64::from_be_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lays out objects as a document with one-byte offsets and references; the first is the top.
    fn document(objects: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"bplist00".to_vec();
        let mut offsets = Vec::new();
        for object in objects {
            offsets.push(u8::try_from(bytes.len()).unwrap());
            bytes.extend_from_slice(object);
        }
        let table_at = bytes.len() as u64;
        bytes.extend_from_slice(&offsets);
        bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 1, 1]);
        for field in [objects.len() as u64, 0, table_at] {
            bytes.extend_from_slice(&field.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn every_kind_of_value() {
        for (object, expected) in [
            (&[0x09][..], Value::Boolean(true)),
            (&[0x08], Value::Boolean(false)),
            (&[0x10, 200], Value::Integer(200)),
            (&[0x13, 255, 255, 255, 255, 255, 255, 255, 254], Value::Integer(-2)),
            (&[0x22, 0x41, 0xa0, 0, 0], Value::Real(20.0)),
            (&[0x42, 1, 2], Value::Data(vec![1, 2])),
            (&[0x4f, 0x10, 1, 7], Value::Data(vec![7])),
            (&[0x52, b'h', b'i'], Value::Text("hi".to_owned())),
            (&[0x61, 0, 0xe9], Value::Text("\u{e9}".to_owned())),
        ] {
            assert_eq!(parse(&document(&[object])).unwrap(), expected, "{object:?}");
        }
        let nested = document(&[&[0xd1, 1, 2], &[0x51, b'k'], &[0xa2, 3, 3], &[0x09]]);
        let truths = Value::List(vec![Value::Boolean(true), Value::Boolean(true)]);
        assert_eq!(parse(&nested).unwrap(), Value::Map(vec![("k".to_owned(), truths)]));
    }

    #[test]
    fn objects_within_themselves_end() {
        assert!(parse(&document(&[&[0xa1, 0]])).is_err());
        // Each level doubles: two to the 60th without a bound.
        let levels: Vec<[u8; 3]> = (1..60).map(|next| [0xa2, next, next]).collect();
        let mut objects: Vec<&[u8]> = levels.iter().map(|level| &level[..]).collect();
        objects.push(&[0x09]);
        assert!(parse(&document(&objects)).is_err());
    }

    #[test]
    fn cut_and_altered_documents_end_in_words() {
        let whole =
            document(&[&[0xd1, 1, 2], &[0x51, b'k'], &[0xa2, 3, 3], &[0x5f, 0x10, 1, b'x']]);
        assert!(parse(&whole).is_ok());
        for at in 0..whole.len() {
            assert!(parse(&whole[..at]).is_err());
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut altered = whole.clone();
                altered[at] = value;
                // Whatever comes of it: no panic, no endless work.
                let _ = parse(&altered);
            }
        }
    }
}
