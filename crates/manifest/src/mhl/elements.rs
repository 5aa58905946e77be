//! The elements of an XML document, one after the other, in constant memory.

use std::io::{self, BufRead, Read};

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::{DocumentPlace, Fault, FaultKind};

/// The longest markup or text, in bytes.
const EVENT_LEN_MAX: usize = 128 << 10;

/// The deepest nesting.
const DEPTH_MAX: usize = 64;

/// Names and values.
type XmlAttributes = Vec<(String, String)>;

/// The beginning or the end of an element. Names are without their namespace.
pub(super) enum XmlElement {
    Start { name: String },
    End { name: String, attributes: XmlAttributes, text: String },
}

/// Reads elements.
pub(super) struct XmlElements<R: BufRead> {
    reader: Reader<BoundedReader<R>>,
    buffer: Vec<u8>,
    /// Elements that are open: their names, attributes and text so far.
    open: Vec<(String, XmlAttributes, String)>,
    had_root: bool,
    ended: bool,
}

impl<R: BufRead> XmlElements<R> {
    pub(super) fn new(reader: R) -> XmlElements<R> {
        let mut reader = Reader::from_reader(BoundedReader { reader, left: EVENT_LEN_MAX });
        reader.config_mut().expand_empty_elements = true;
        let (buffer, open) = (Vec::new(), Vec::new());
        XmlElements { reader, buffer, open, had_root: false, ended: false }
    }

    /// Makes a fault at the present position.
    pub(super) fn fault(&self, kind: FaultKind, what: &'static str) -> Fault {
        let at = self.reader.buffer_position();
        Fault::new(DocumentPlace::Document, kind, format!("{what} (byte {at})"))
    }

    /// Skips the element that began last, with everything in it.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        let depth = self.open.len();
        while self.open.len() >= depth {
            self.step()?;
        }
        Ok(())
    }

    /// Returns the next beginning or end; `None` after the end of the root.
    pub(super) fn step(&mut self) -> Result<Option<XmlElement>, Fault> {
        if self.ended {
            return Ok(None);
        }
        let step = self.next_element();
        self.ended |= !matches!(step, Ok(Some(_)));
        step
    }

    fn next_element(&mut self) -> Result<Option<XmlElement>, Fault> {
        loop {
            self.buffer.clear();
            self.reader.get_mut().left = EVENT_LEN_MAX;
            let mut buffer = std::mem::take(&mut self.buffer);
            let event = self.reader.read_event_into(&mut buffer).map(Event::into_owned);
            self.buffer = buffer;
            match event.map_err(|error| self.unreadable(&error))? {
                Event::Start(start) => return self.begin(&start).map(Some),
                Event::End(_) => {
                    // The reader refuses an end that nothing began.
                    let Some((name, attributes, text)) = self.open.pop() else { continue };
                    return Ok(Some(XmlElement::End { name, attributes, text }));
                }
                Event::Text(text) => self.append(&text.xml10_content())?,
                Event::CData(text) => self.append(&text.xml10_content())?,
                Event::GeneralRef(reference) => {
                    let named = resolve_predefined_entity(&reference.xml10_content());
                    let text = match (reference.resolve_char_ref(), named) {
                        (Ok(Some(letter)), _) => letter.to_string(),
                        (_, Some(text)) => text.to_owned(),
                        _ => return Err(self.fault(FaultKind::Syntax, "an unknown entity")),
                    };
                    self.append(&text)?;
                }
                Event::DocType(_) => {
                    let what = "a document type declaration is not supported";
                    return Err(self.fault(FaultKind::Unsupported, what));
                }
                Event::Eof if self.open.is_empty() && self.had_root => return Ok(None),
                Event::Eof => return Err(self.fault(FaultKind::Check, "the document is cut")),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    fn begin(&mut self, start: &BytesStart<'_>) -> Result<XmlElement, Fault> {
        if self.open.len() >= DEPTH_MAX {
            return Err(self.fault(FaultKind::Limit, "too many elements in one another"));
        }
        let name = start.local_name().as_ref().to_owned();
        if self.open.is_empty() {
            let is_known = matches!(&*name, "hashlist" | "ascmhldirectory") && !self.had_root;
            if !is_known {
                return Err(self.fault(FaultKind::Syntax, "it is no hash list of MHL"));
            }
            self.had_root = true;
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let value = attribute.map_err(|_| "").and_then(|attribute| {
                let value = attribute.normalized_value(XmlVersion::default()).map_err(|_| "")?;
                Ok((attribute.key.local_name().as_ref().to_owned(), value.into_owned()))
            });
            let invalid = |_| self.fault(FaultKind::Syntax, "an attribute that is none");
            attributes.push(value.map_err(invalid)?);
        }
        // Text between elements is of no element.
        if let Some((_, _, text)) = self.open.last_mut() {
            text.clear();
        }
        self.open.push((name.clone(), attributes, String::new()));
        Ok(XmlElement::Start { name })
    }

    fn append(&mut self, more: &str) -> Result<(), Fault> {
        let Some((_, _, text)) = self.open.last_mut() else {
            return match more.trim_matches(|it: char| it.is_whitespace() || it == '\u{feff}') {
                "" => Ok(()),
                _ => Err(self.fault(FaultKind::Syntax, "text outside of the hash list")),
            };
        };
        if text.len() + more.len() > EVENT_LEN_MAX {
            return Err(self.fault(FaultKind::Limit, "a text that is too long"));
        }
        text.push_str(more);
        Ok(())
    }

    fn unreadable(&self, error: &quick_xml::Error) -> Fault {
        match error {
            quick_xml::Error::Io(error) => Fault::io(DocumentPlace::Document, error),
            error => {
                let at = self.reader.error_position();
                let what = format!("no valid XML (byte {at}): {error}");
                Fault::new(DocumentPlace::Document, FaultKind::Syntax, what)
            }
        }
    }
}

/// A reader that fails after so many bytes: an element would have to be held whole.
struct BoundedReader<R> {
    reader: R,
    left: usize,
}

impl<R: BufRead> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.fill_buf()?.len());
        let found = self.fill_buf()?;
        buffer[..len].copy_from_slice(&found[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for BoundedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let found = self.reader.fill_buf()?;
        if self.left == 0 && !found.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an element is too long"));
        }
        Ok(&found[..found.len().min(self.left)])
    }

    fn consume(&mut self, len: usize) {
        self.left -= len.min(self.left);
        self.reader.consume(len);
    }
}
