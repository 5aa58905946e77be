//! The ways of reading a file.

use steadfast::Origin;
use steadfast::read::Engine;
use steadfast::read::buffered::Buffered;
use steadfast::read::direct::Direct;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use crate::contents::CHUNK_LEN_BYTES;
use crate::record::{Cache, Factors, Order, Sample, Stage};
use crate::runner::{SeriesId, Session};

/// A way of reading.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through the page cache, after dropping the file from it.
    Cold,
    /// Past the page cache.
    Direct,
    /// From the page cache, after filling it.
    Warm,
}

impl Way {
    /// Returns the name, as on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(in crate::workload) fn engine(self) -> &'static dyn Engine {
        match self {
            Way::Cold | Way::Warm => &Buffered,
            Way::Direct => &Direct,
        }
    }

    /// Returns the origin of the bytes that this way has, until a sample contradicts it.
    pub(in crate::workload) fn cache(self) -> Cache {
        match self {
            Way::Cold => Cache::Cold,
            Way::Direct => Cache::Direct,
            Way::Warm => Cache::Warm,
        }
    }

    /// Returns the factors of a series of this way.
    pub(in crate::workload) fn factors(self, order: Order) -> Factors {
        Factors {
            stage: Some(Stage::Read),
            backend: Some(self.engine().name().to_owned()),
            threads: Some(1),
            buffer_len_bytes: Some(CHUNK_LEN_BYTES as u64),
            queue_depth: Some(1),
            order: Some(order),
            cache: Some(self.cache()),
            ..Factors::default()
        }
    }

    pub(in crate::workload) fn method(self) -> &'static str {
        match self {
            Way::Cold => {
                "put out of the page cache, which was asked what was left; then timed: opened, \
                 read to its end 1 MiB at a time by one thread, closed"
            }
            Way::Direct => {
                "timed: opened, read past the page cache to its end, 1 MiB at a time and one after \
                 the other, closed"
            }
            Way::Warm => {
                "read once untimed, the page cache asked what it holds; then timed: opened, read \
                 to its end 1 MiB at a time by one thread, closed"
            }
        }
    }
}

/// Corrects the origin of a series if a sample contradicts it.
pub(in crate::workload) fn note_origin(
    session: &mut Session<'_>,
    series: SeriesId,
    way: Way,
    origin: Option<Origin>,
    sample: &Sample,
) {
    let holds = match way {
        Way::Cold => sample.cached_bytes == Some(0),
        Way::Warm => sample.cached_bytes == Some(sample.amount),
        Way::Direct => origin == Some(Origin::Media),
    };
    if holds || session.series(series).factors.cache == Some(Cache::Unknown) {
        return;
    }
    session.series_mut(series).factors.cache = Some(Cache::Unknown);
    let label = session.series(series).label.clone();
    session.warn(match (way, sample.cached_bytes) {
        (Way::Direct, _) => {
            format!("{label}: the file system read through the page cache all the same")
        }
        (_, None) => format!("{label}: the system does not tell what is in memory already"),
        (Way::Cold, Some(_)) => format!("{label}: files could not be put out of the page cache"),
        (Way::Warm, Some(_)) => format!("{label}: the page cache did not hold whole files"),
    });
}
