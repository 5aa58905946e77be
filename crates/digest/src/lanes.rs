//! Hashes many messages at once: fills lanes, advances them together, empties them.
//!
//! Takes messages with their next bytes, and advances their states. Must not know instructions,
//! files, threads, or what an algorithm does with its blocks. Kernels need equal numbers of blocks
//! in every lane, but messages have unequal lengths; this module does the book-keeping between the
//! two.

use std::cmp::Reverse;
use std::fmt;
use std::marker::PhantomData;

use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::error::{Error, ErrorKind};
use crate::hasher::{Absorbed, BlockHasher};
use crate::rules::{Md5Rules, Rules, Sha256Rules, Sha512Rules};

/// A backend, and how many messages of one algorithm it advances at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanesOf<A: Rules> {
    wide: Width,
    narrow: Width,
    /// With fewer active messages than this, `narrow` is used.
    wide_from: usize,
    algorithm: PhantomData<A>,
}

/// Lanes of SHA-256.
pub type Lanes = LanesOf<Sha256Rules>;

/// Lanes of SHA-512.
pub type Sha512Lanes = LanesOf<Sha512Rules>;

/// Lanes of MD5.
pub type Md5Lanes = LanesOf<Md5Rules>;

/// A kernel and its number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Width {
    backend: Backend,
    count: usize,
}

/// The next bytes of one message.
#[derive(Debug)]
pub struct Message<'a, A: Rules = Sha256Rules> {
    /// The state of the message so far.
    pub hasher: &'a mut BlockHasher<A>,
    /// Its next bytes; may be empty.
    pub data: &'a [u8],
    /// Whether the message ends here, so that it is padded too.
    pub last: bool,
}

impl<A: Rules> BlockHasher<A> {
    /// Starts a message on the backend that is best for one that advances alone.
    pub(crate) fn start() -> BlockHasher<A> {
        BlockHasher::new(LanesOf::<A>::widest().backend_alone())
    }
}

impl<A: Rules> LanesOf<A> {
    /// Returns lanes of a backend, as many as requested.
    ///
    /// # Errors
    /// If the backend has no kernel with that many lanes.
    pub fn new(backend: Backend, count: usize) -> Result<LanesOf<A>, Error> {
        let choices = A::lane_choices(backend);
        if !choices.contains(&count) {
            let message =
                format!("backend `{backend}` does not offer {count} lanes, only {choices:?}");
            return Err(Error::new(ErrorKind::LaneCount, message));
        }
        let width = Width { backend, count };
        Ok(LanesOf { wide: width, narrow: width, wide_from: 0, algorithm: PhantomData })
    }

    /// Returns the most lanes of a backend.
    pub fn best(backend: Backend) -> LanesOf<A> {
        let most = A::lane_choices(backend).last().expect("every backend has a kernel");
        LanesOf::new(backend, *most).expect("the maximum is offered")
    }

    /// Returns the most lanes that this processor supports.
    ///
    /// For SHA-512 and MD5 they are the fastest wherever they exist, because no processor with such
    /// lanes has comparable instructions for a single message; if there are too few messages for
    /// the lanes, they are hashed one after the other. For SHA-256 some processors have such
    /// instructions, and the fastest lanes must be measured.
    pub fn widest() -> LanesOf<A> {
        // Of equal numbers, the first is used, because `Backend::detected` lists the better backend
        // first.
        let (first, others) = (Backend::detect(), Backend::detected());
        let widest = others.map(LanesOf::best).fold(LanesOf::best(first), |best, other| {
            if other.count() > best.count() { other } else { best }
        });
        let backend = widest.backend();
        let one = LanesOf::new(backend, 1).expect("every backend has a kernel for one");
        widest.with_narrow(one, A::wide_from(backend))
    }

    /// Uses other lanes whenever fewer than `wide_from` messages are active.
    ///
    /// A kernel of many lanes takes as long for one message as for all. With measured rates of
    /// both, the other lanes are faster below `count * rate of narrow / rate of wide` messages.
    pub fn with_narrow(self, narrow: LanesOf<A>, wide_from: usize) -> LanesOf<A> {
        LanesOf { narrow: narrow.wide, wide_from, ..self }
    }

    /// Returns the backend that is used when all lanes are active.
    pub fn backend(self) -> Backend {
        self.wide.backend
    }

    /// Returns the backend that is used when a single message is active.
    pub fn backend_alone(self) -> Backend {
        if self.wide_from > 1 { self.narrow.backend } else { self.wide.backend }
    }

    /// Returns the algorithm of the messages.
    pub fn algorithm(self) -> Algorithm {
        A::ALGORITHM
    }

    /// Returns how many messages advance at once.
    pub fn count(self) -> usize {
        self.wide.count
    }

    /// Advances every message by its bytes, and ends those marked `last`.
    ///
    /// There may be any number of messages, of any lengths. If there are more than lanes, the slice
    /// is sorted, longest first, so that the lanes become empty together at the end. The kernels
    /// are those of this value's backend, whatever backend a message was started on.
    ///
    /// # Panics
    /// If a message was ended before.
    pub fn update(self, messages: &mut [Message<'_, A>]) {
        if messages.is_empty() {
            return;
        }
        if messages.len() > self.wide.count {
            messages.sort_unstable_by_key(|message| Reverse(message.data.len()));
        }
        let mut waiting = 0..messages.len();
        let mut lanes = [const { Lane::<A>::IDLE }; Backend::LANES_MAX];
        let mut states = [A::INITIAL_STATE; Backend::LANES_MAX];
        let mut active = 0;
        loop {
            while active < self.wide.count
                && let Some(index) = waiting.next()
            {
                let message = &mut messages[index];
                let mut lane = Lane::start(index, message);
                if lane.has_work(message.hasher) {
                    states[active] = message.hasher.state;
                    lanes[active] = lane;
                    active += 1;
                }
            }
            if active == 0 {
                return;
            }
            let step = self.advance(&mut states, &lanes[..active]);
            // In reverse order, so that the lane swapped into a free place was processed already.
            for place in (0..active).rev() {
                let hasher = &mut *messages[lanes[place].message].hasher;
                lanes[place].skip(step);
                if !lanes[place].has_work(hasher) {
                    hasher.state = states[place];
                    active -= 1;
                    lanes.swap(place, active);
                    states.swap(place, active);
                }
            }
        }
    }

    /// Runs all lanes up to the end of the shortest segment, and returns the number of blocks.
    fn advance(self, states: &mut [A::State; Backend::LANES_MAX], lanes: &[Lane<'_, A>]) -> usize {
        let step = lanes.iter().map(|lane| lane.segment().len()).min().expect("a lane is active");
        let width = if lanes.len() < self.wide_from { self.narrow } else { self.wide };
        let groups = states.chunks_mut(width.count).zip(lanes.chunks(width.count));
        for (states, lanes) in groups {
            width.advance(states, lanes, step);
        }
        step
    }
}

impl Width {
    /// Advances every lane by `step` blocks, in the narrowest kernel that holds them.
    fn advance<A: Rules>(self, states: &mut [A::State], lanes: &[Lane<'_, A>], step: usize) {
        let mut kernels = A::lane_choices(self.backend).iter().copied();
        let kernel = kernels.find(|kernel| *kernel >= lanes.len()).expect("a group fits a kernel");
        // Lanes beyond the active ones repeat the first one's blocks, into a state that is not
        // used.
        let mut blocks = [&lanes[0].segment()[..step]; Backend::LANES_MAX];
        for (blocks, lane) in blocks.iter_mut().zip(lanes) {
            *blocks = &lane.segment()[..step];
        }
        A::compress(self.backend, &mut states[..kernel], &blocks[..kernel]);
    }
}

impl<A: Rules> fmt::Display for LanesOf<A> {
    /// Writes `x86_shani x2`, or `x86_avx512 x16, x86_shani x2 below 10`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LanesOf { wide, narrow, wide_from, .. } = self;
        write!(f, "{} x{}", wide.backend, wide.count)?;
        if *wide_from > 0 {
            write!(f, ", {} x{} below {wide_from}", narrow.backend, narrow.count)?;
        }
        Ok(())
    }
}

/// One message in a lane.
struct Lane<'a, A: Rules> {
    /// Place of the message in the caller's slice.
    message: usize,
    /// Blocks outside the caller's bytes: the one that a piece completed, later the padding.
    scratch: [A::Block; 2],
    /// Finished blocks at the start of `scratch`.
    scratch_done: usize,
    /// Whole blocks in the caller's bytes, to be compressed after `scratch`.
    body: &'a [A::Block],
    owes_padding: bool,
}

impl<'a, A: Rules> Lane<'a, A> {
    const IDLE: Lane<'static, A> = Lane {
        message: 0,
        scratch: [A::ZERO_BLOCK; 2],
        scratch_done: 2,
        body: &[],
        owes_padding: false,
    };

    fn start(index: usize, message: &mut Message<'a, A>) -> Lane<'a, A> {
        let Absorbed { head, body } = message.hasher.absorb(message.data);
        let mut lane = Lane { message: index, body, owes_padding: message.last, ..Lane::IDLE };
        if let Some(head) = head {
            lane.scratch[1] = head;
            lane.scratch_done = 1;
        }
        lane
    }

    /// Returns the next adjacent blocks; none if there is nothing more to compress.
    fn segment(&self) -> &[A::Block] {
        if self.scratch_done < self.scratch.len() {
            &self.scratch[self.scratch_done..]
        } else {
            self.body
        }
    }

    /// Removes blocks from the front of the segment.
    fn skip(&mut self, count: usize) {
        if self.scratch_done < self.scratch.len() {
            self.scratch_done += count;
        } else {
            self.body = &self.body[count..];
        }
    }

    /// Adds the padding once all other blocks are done, and returns whether any block is left.
    fn has_work(&mut self, hasher: &mut BlockHasher<A>) -> bool {
        if self.segment().is_empty() && self.owes_padding {
            let (blocks, count) = hasher.pad();
            self.scratch = blocks;
            self.scratch_done = blocks.len() - count;
            self.owes_padding = false;
        }
        !self.segment().is_empty()
    }
}
