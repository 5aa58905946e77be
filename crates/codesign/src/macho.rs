//! Reads the header and the load commands of a thin Mach-O file: where its segments and signature
//! are.
//!
//! Source: `loader.h` and `machine.h` of XNU.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use steadfast_sys::source::{ReadAt, read_range};

/// The longest load commands that are read. Real ones take tens of kilobytes.
const COMMANDS_LEN_MAX: u64 = 4 << 20;

const LC_SEGMENT: u32 = 0x1;
const LC_SEGMENT_64: u32 = 0x19;
const LC_CODE_SIGNATURE: u32 = 0x1d;
const LC_BUILD_VERSION: u32 = 0x32;

/// The older commands of that kind, each for one platform.
const VERSION_COMMANDS: &[(u32, u32)] = &[(0x24, 1), (0x25, 2), (0x2f, 3), (0x30, 4)];

const HEADER_LEN_32: u64 = 28;
const HEADER_LEN_64: u64 = 32;
const COMMAND_LEN_MIN: usize = 8;

/// Where the fields of a segment command and of its sections are.
struct SegmentForm {
    wide: bool,
    /// Of the segment: offset and length in the file, number of sections, the first of them.
    file_offset: usize,
    file_len: usize,
    section_count: usize,
    sections: usize,
    section_len: usize,
    /// Of a section: length, offset in the file, flags.
    len: usize,
    offset: usize,
    flags: usize,
}

const SEGMENT_32: SegmentForm = SegmentForm {
    wide: false,
    file_offset: 32,
    file_len: 36,
    section_count: 48,
    sections: 56,
    section_len: 68,
    len: 36,
    offset: 40,
    flags: 56,
};

const SEGMENT_64: SegmentForm = SegmentForm {
    wide: true,
    file_offset: 40,
    file_len: 48,
    section_count: 64,
    sections: 72,
    section_len: 80,
    len: 40,
    offset: 48,
    flags: 64,
};

/// Types of sections, in the lowest byte of their flags, that have no bytes in the file.
const ZERO_FILLED: [u32; 3] = [0x1, 0xc, 0x12];

/// A processor, as Mach-O names it by two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Architecture {
    /// The family.
    pub cpu_type: u32,
    /// The member of it; the upper 8 bits are flags.
    pub cpu_subtype: u32,
}

impl Architecture {
    /// Returns the member of the family, without the flags.
    pub(crate) fn member(self) -> u32 {
        self.cpu_subtype & 0x00ff_ffff
    }

    /// Returns the family and member of the processors that run the slice. Some members of the
    /// 64-bit families have two numbers.
    pub(crate) fn processor(self) -> (u32, u32) {
        let member = match (self.cpu_type, self.member()) {
            (0x0100_0007, 8) => 8,
            (0x0100_000c, 2) => 2,
            (0x0100_0007 | 0x0100_000c | 0x0200_000c, _) => 0,
            (_, member) => member,
        };
        (self.cpu_type, member)
    }
}

impl fmt::Display for Architecture {
    /// Writes the name that Apple's tools use, or the numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subtype = self.member();
        let name = match (self.cpu_type, subtype) {
            (7, _) => "i386",
            (0x0100_0007, 8) => "x86_64h",
            (0x0100_0007, _) => "x86_64",
            (12, 6) => "armv6",
            (12, 9) => "armv7",
            (12, 11) => "armv7s",
            (12, 12) => "armv7k",
            (12, _) => "arm",
            (0x0100_000c, 2) => "arm64e",
            (0x0100_000c, _) => "arm64",
            (0x0200_000c, _) => "arm64_32",
            (18, _) => "ppc",
            (0x0100_0012, _) => "ppc64",
            (cpu, _) => return write!(f, "cpu-{cpu}-{subtype}"),
        };
        f.pad(name)
    }
}

/// A section: a named part of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachSection {
    /// The name, such as `__text`.
    pub name: String,
    /// The segment it says it belongs to, such as `__TEXT`.
    pub segment: String,
    /// Its bytes in the slice; empty if it has none there.
    pub range: Range<u64>,
}

/// A segment: a part of the slice that is mapped as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachSegment {
    /// The name, such as `__TEXT`.
    pub name: String,
    /// Its bytes in the slice.
    pub range: Range<u64>,
    /// Its sections.
    pub sections: Vec<MachSection>,
}

/// The oldest system a slice was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildVersion {
    /// The platform: 1 macOS, 2 iOS, 3 tvOS, 4 watchOS, 6 Mac Catalyst, 7 iOS simulator…
    pub platform: u32,
    /// The oldest system, packed: 0x000b0000 is 11.0.0.
    pub minimum: u32,
}

/// What the load commands of a slice say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachO {
    /// The processor.
    pub architecture: Architecture,
    /// Whether numbers are big-endian, as PowerPC's are.
    pub big_endian: bool,
    /// Whether addresses have 64 bits.
    pub is_64: bool,
    /// The kind of file: 2 an executable, 6 a dynamic library, 8 a bundle…
    pub file_type: u32,
    /// The segments, in the order of the load commands.
    pub segments: Vec<MachSegment>,
    /// The bytes of the slice that the signature may use.
    pub signature: Option<Range<u64>>,
    /// The system it was built for.
    pub build: Option<BuildVersion>,
    /// Length of the header and the load commands.
    pub commands_len_bytes: u64,
}

impl MachO {
    /// Reads the header and the load commands.
    ///
    /// # Errors
    /// `NotCode` if the magic number is another; `Malformed` if a command contradicts itself;
    /// `System` if the bytes cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<MachO, Error> {
        let system = |error| Error::system("read the load commands", error);
        let short = || Error::malformed("the file ends within its header");
        let head = read_range(source, 0, source.len_bytes().min(HEADER_LEN_64)).map_err(system)?;
        let (is_64, big_endian) = form(&head)
            .ok_or_else(|| Error::new(ErrorKind::NotCode, "the file is no Mach-O file"))?;
        let fields = IntegerReader::new(&head, big_endian);
        let header_len = if is_64 { HEADER_LEN_64 } else { HEADER_LEN_32 };
        let count = fields.u32(16).ok_or_else(short)?;
        let commands_len = u64::from(fields.u32(20).ok_or_else(short)?);
        if header_len + commands_len > source.len_bytes() {
            return Err(Error::malformed("the file ends within its load commands"));
        }
        if commands_len > COMMANDS_LEN_MAX {
            let text = format!("load commands of {commands_len} bytes are not supported");
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let commands = read_range(source, header_len, commands_len).map_err(system)?;
        let mut macho = MachO {
            architecture: Architecture {
                cpu_type: fields.u32(4).ok_or_else(short)?,
                cpu_subtype: fields.u32(8).ok_or_else(short)?,
            },
            big_endian,
            is_64,
            file_type: fields.u32(12).ok_or_else(short)?,
            segments: Vec::new(),
            signature: None,
            build: None,
            commands_len_bytes: header_len + commands_len,
        };
        macho.read_commands(&commands, count)?;
        Ok(macho)
    }

    /// Returns whether the first bytes are those of a thin Mach-O file.
    pub(crate) fn is_magic(head: &[u8]) -> bool {
        form(head).is_some()
    }

    /// Reads the processor out of the first 12 bytes; `None` if they begin no Mach-O file.
    pub(crate) fn architecture_of(head: &[u8]) -> Option<Architecture> {
        let (_, big_endian) = form(head)?;
        let fields = IntegerReader::new(head, big_endian);
        Some(Architecture { cpu_type: fields.u32(4)?, cpu_subtype: fields.u32(8)? })
    }

    fn read_commands(&mut self, mut rest: &[u8], count: u32) -> Result<(), Error> {
        for index in 0..count {
            let broken = || Error::malformed(format!("load command {index} contradicts itself"));
            let fields = IntegerReader::new(rest, self.big_endian);
            let command = fields.u32(0).ok_or_else(broken)?;
            let len = fields.u32(4).ok_or_else(broken)? as usize;
            let (bytes, after) = rest.split_at_checked(len).ok_or_else(broken)?;
            if len < COMMAND_LEN_MIN {
                return Err(broken());
            }
            self.read_command(command, bytes).ok_or_else(broken)??;
            rest = after;
        }
        Ok(())
    }

    /// Reads one command; `None` if its fields or sections do not fit it.
    fn read_command(&mut self, command: u32, bytes: &[u8]) -> Option<Result<(), Error>> {
        let fields = IntegerReader::new(bytes, self.big_endian);
        match command {
            LC_SEGMENT => self.segments.push(read_segment(bytes, fields, &SEGMENT_32)?),
            LC_SEGMENT_64 => self.segments.push(read_segment(bytes, fields, &SEGMENT_64)?),
            LC_CODE_SIGNATURE => {
                let (start, len) = (u64::from(fields.u32(8)?), u64::from(fields.u32(12)?));
                if self.signature.replace(start..start + len).is_some() {
                    return Some(Err(Error::malformed("two load commands name a signature")));
                }
            }
            LC_BUILD_VERSION => {
                let (platform, minimum) = (fields.u32(8)?, fields.u32(12)?);
                self.build.get_or_insert(BuildVersion { platform, minimum });
            }
            _ => {
                let old = VERSION_COMMANDS.iter().find(|(known, _)| *known == command);
                if let Some((_, platform)) = old {
                    let minimum = fields.u32(8)?;
                    self.build.get_or_insert(BuildVersion { platform: *platform, minimum });
                }
            }
        }
        Some(Ok(()))
    }

    /// Returns a section by the names of its segment and its own.
    pub fn section(&self, segment: &str, name: &str) -> Option<&MachSection> {
        let mut sections = self.segments.iter().flat_map(|segment| &segment.sections);
        sections.find(|section| section.segment == segment && section.name == name)
    }

    /// Returns the segment and section of a byte, such as `__TEXT,__text`, or the segment alone.
    pub fn locate(&self, offset: u64) -> Option<String> {
        let holds = |segment: &&MachSegment| segment.range.contains(&offset);
        let segment = self.segments.iter().find(holds)?;
        let section = segment.sections.iter().find(|section| section.range.contains(&offset));
        Some(match section {
            Some(section) => format!("{},{}", segment.name, section.name),
            None => segment.name.clone(),
        })
    }
}

/// Tells from the first bytes whether addresses have 64 bits and numbers are big-endian.
fn form(head: &[u8]) -> Option<(bool, bool)> {
    Some(match IntegerReader::big(head).u32(0)? {
        0xfeed_face => (false, true),
        0xfeed_facf => (true, true),
        0xcefa_edfe => (false, false),
        0xcffa_edfe => (true, false),
        _ => return None,
    })
}

fn read_segment(
    bytes: &[u8],
    fields: IntegerReader<'_>,
    form: &SegmentForm,
) -> Option<MachSegment> {
    let number = |fields: IntegerReader<'_>, at| {
        if form.wide { fields.u64(at) } else { fields.u32(at).map(u64::from) }
    };
    let name = name(bytes, 8)?;
    let start = number(fields, form.file_offset)?;
    let range = start..start.saturating_add(number(fields, form.file_len)?);
    let count = fields.u32(form.section_count)? as usize;
    let table = bytes.get(form.sections..)?;
    let table = table.get(..count.checked_mul(form.section_len)?)?;
    let mut sections = Vec::with_capacity(count);
    for section in table.chunks_exact(form.section_len) {
        let own = fields.of(section);
        let zero_filled = ZERO_FILLED.contains(&(own.u32(form.flags)? & 0xff));
        let start = u64::from(own.u32(form.offset)?);
        let len = if zero_filled { 0 } else { number(own, form.len)? };
        let range = start..start.saturating_add(len);
        let (name, segment) = (self::name(section, 0)?, self::name(section, 16)?);
        sections.push(MachSection { name, segment, range });
    }
    Some(MachSegment { name, range, sections })
}

/// Reads a name of up to 16 bytes.
fn name(bytes: &[u8], at: usize) -> Option<String> {
    let field = bytes.get(at..at + 16)?;
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    Some(String::from_utf8_lossy(&field[..end]).into_owned())
}
