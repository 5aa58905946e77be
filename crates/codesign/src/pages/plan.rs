//! Turns a choice of pages into ranges of bytes that hold whole pages of every directory.

use std::ops::Range;

use super::{PageChoice, Sealed};
use crate::directory::CodeDirectory;
use crate::error::{Error, ErrorKind};

/// Turns a choice into ranges of the part, in order and without overlap.
///
/// # Errors
/// `Usage` if the pages asked for do not exist.
pub(super) fn wanted(sealed: &Sealed<'_>, choice: &PageChoice) -> Result<Vec<Range<u64>>, Error> {
    let directory = sealed.signature.chosen_directory();
    let count = directory.page_count().min(directory.page_count_expected());
    let usage = |text: String| Error::new(ErrorKind::Usage, text);
    let pages = match choice {
        PageChoice::All => return Ok(everything(sealed).into_iter().collect()),
        PageChoice::Pages(pages) => {
            if pages.is_empty() || pages.end > count {
                let text = format!("pages {pages:?} were requested, but there are only {count}");
                return Err(usage(text));
            }
            vec![pages.clone()]
        }
        PageChoice::Offset(offset) => {
            let inside = offset.checked_sub(sealed.offset);
            let inside = inside.filter(|inside| *inside < directory.code_limit());
            inside
                .map(|inside| page_of(directory, inside))
                .map(|page| page..page + 1)
                .into_iter()
                .collect()
        }
        PageChoice::Sample(size) => sample(*size, count),
    };
    let ranges = pages.into_iter().map(|pages| {
        directory.page_range(pages.start).start..directory.page_range(pages.end - 1).end
    });
    Ok(widen(sealed, ranges))
}

/// Returns the range that any directory seals, within the part.
fn everything(sealed: &Sealed<'_>) -> Option<Range<u64>> {
    let limits = sealed.signature.directories().iter().map(CodeDirectory::code_limit);
    let limit = limits.max().unwrap_or(0).min(sealed.len_bytes);
    (limit != 0).then_some(0..limit)
}

fn page_of(directory: &CodeDirectory, offset: u64) -> u64 {
    directory.page_len().map_or(0, |page_len| offset / page_len)
}

/// Picks `size` pages, evenly spread, the first and the last included.
fn sample(size: u64, count: u64) -> Vec<Range<u64>> {
    let size = size.min(count);
    let place = |index: u64| match size {
        0 | 1 => 0,
        _ => (u128::from(index) * u128::from(count - 1) / u128::from(size - 1)) as u64,
    };
    (0..size).map(place).map(|page| page..page + 1).collect()
}

/// Widens ranges so that no page of any directory is cut, and joins those that then touch.
fn widen(sealed: &Sealed<'_>, ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let page_lens = sealed.signature.directories().iter().filter_map(CodeDirectory::page_len);
    let step = page_lens.max().unwrap_or(1);
    let whole = everything(sealed).map_or(0, |whole| whole.end);
    let whole_pages = ranges.map(|range| {
        (range.start / step * step).min(whole)..range.end.next_multiple_of(step).min(whole)
    });
    let mut ranges = whole_pages.collect();
    join(&mut ranges);
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// Sorts ranges and joins those that touch.
pub(super) fn join(ranges: &mut Vec<Range<u64>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    *ranges = joined;
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn a_sample_has_both_ends_and_no_page_twice() {
        for (size, count) in [(0, 10), (1, 10), (2, 10), (3, 10), (10, 10), (99, 10), (7, 1000)] {
            let pages: Vec<u64> = sample(size, count).iter().map(|range| range.start).collect();
            assert_eq!(pages.len() as u64, size.min(count));
            assert!(pages.windows(2).all(|pair| pair[0] < pair[1]), "{pages:?}");
            assert!(size < 2 || (pages[0] == 0 && *pages.last().unwrap() == count.min(1000) - 1));
        }
        assert!(sample(5, 0).is_empty());
    }
}
