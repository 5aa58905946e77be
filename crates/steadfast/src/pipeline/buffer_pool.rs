//! Buffers of one length, made when they are first needed and then reused.

use steadfast_sys::file::AlignedBuffer;

/// A limited number of buffers of one length.
pub(super) struct BufferPool {
    free: Vec<AlignedBuffer>,
    /// Buffers made so far, free or in use.
    made: usize,
    made_max: usize,
    buffer_len: usize,
}

impl BufferPool {
    /// Makes a pool of up to `made_max` buffers of `buffer_len` bytes.
    pub(super) fn new(made_max: usize, buffer_len: usize) -> BufferPool {
        BufferPool { free: Vec::new(), made: 0, made_max, buffer_len }
    }

    /// Returns whether every buffer is in use.
    pub(super) fn is_empty(&self) -> bool {
        self.free.is_empty() && self.made >= self.made_max
    }

    /// Takes a buffer, the one that was returned last.
    ///
    /// # Panics
    /// If the pool is empty.
    pub(super) fn take(&mut self) -> AlignedBuffer {
        assert!(!self.is_empty(), "every buffer is handed out");
        self.free.pop().unwrap_or_else(|| {
            self.made += 1;
            AlignedBuffer::new(self.buffer_len)
        })
    }

    /// Returns a buffer to the pool, which drops it if it has too many.
    pub(super) fn put(&mut self, buffer: AlignedBuffer) {
        if buffer.len() == self.buffer_len && self.made <= self.made_max {
            self.free.push(buffer);
        } else {
            self.made -= 1;
        }
    }

    /// Changes the number of buffers and their length. Buffers in use stay as they are.
    pub(super) fn resize(&mut self, made_max: usize, buffer_len: usize) {
        (self.made_max, self.buffer_len) = (made_max, buffer_len);
        for buffer in std::mem::take(&mut self.free) {
            self.put(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_made_when_needed_and_no_more_than_allowed() {
        let mut pool = BufferPool::new(2, 10);
        assert_eq!(pool.made, 0);
        let first = pool.take();
        let second = pool.take();
        assert!(pool.is_empty());
        let place = first.as_ptr();
        pool.put(first);
        assert_eq!((pool.take().as_ptr(), pool.made), (place, 2));
        drop(second);
    }

    #[test]
    fn a_resized_pool_lets_go_of_what_no_longer_fits() {
        let mut pool = BufferPool::new(3, 10);
        let buffers = [pool.take(), pool.take(), pool.take()];
        let [one, two, three] = buffers;
        pool.put(one);
        pool.resize(1, 20);
        assert_eq!(pool.made, 2, "the free one is of another length");
        pool.put(two);
        assert!(pool.is_empty());
        pool.put(three);
        assert_eq!(pool.made, 0);
        assert_eq!(pool.take().len(), 20);
        pool.resize(2, 20);
        assert_eq!((pool.take().len(), pool.is_empty()), (20, true));
    }
}
