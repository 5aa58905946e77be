//! Where one shard ends and the next begins.
//!
//! In: how many files and bytes each device has, then every file's bytes in order. Out: the shard
//! of each file. A shard is of one device; its cost is its bytes and a number of bytes for each
//! file, which stands for the time that opening one takes. Knows no paths.

/// Bytes that could be checked in the time that a file takes besides its bytes, unless the planner
/// says otherwise.
pub const FILE_COST_BYTES: u64 = 64 << 10;

/// What is on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Load {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Returns the cost in bytes.
    pub(crate) fn cost(&self, file_cost_bytes: u64) -> u128 {
        u128::from(self.bytes) + u128::from(self.files) * u128::from(file_cost_bytes)
    }
}

/// Cuts one device.
#[derive(Debug)]
pub(crate) struct Cutter {
    total: u128,
    shards: u128,
    file_cost_bytes: u64,
    passed: u128,
    /// The share of the device that the last file fell in.
    at: Option<u128>,
}

impl Cutter {
    pub(crate) fn new(load: Load, shards: u64, file_cost_bytes: u64) -> Cutter {
        let total = load.cost(file_cost_bytes).max(1);
        Cutter { total, shards: u128::from(shards.max(1)), file_cost_bytes, passed: 0, at: None }
    }

    /// Says whether the next file begins a new shard. A file belongs where its middle falls, so
    /// no shard is empty, and none is further from its share than by half a file at either end.
    pub(crate) fn begins(&mut self, bytes: u64) -> bool {
        let cost = u128::from(bytes) + u128::from(self.file_cost_bytes);
        let middle = self.passed + cost / 2;
        self.passed += cost;
        let at = (middle * self.shards / self.total).min(self.shards - 1);
        let begins = self.at != Some(at);
        self.at = Some(at);
        begins
    }
}

/// Shares out about so many shards among devices by their cost, at least one to each.
pub(crate) fn share_out(loads: &[Load], shards: u64, file_cost_bytes: u64) -> Vec<u64> {
    let costs: Vec<u128> = loads.iter().map(|load| load.cost(file_cost_bytes)).collect();
    let total = costs.iter().sum::<u128>().max(1);
    let wanted = u128::from(shards);
    let mut shares: Vec<u64> =
        costs.iter().map(|cost| u64::try_from(cost * wanted / total).unwrap_or(1).max(1)).collect();
    let mut left = shards.saturating_sub(shares.iter().sum());
    // What rounding down left goes to those it took most from.
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(costs[at] * wanted % total));
    for at in order.into_iter().cycle() {
        if left == 0 {
            break;
        }
        shares[at] += 1;
        left -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of each shard that files are cut into.
    fn cut(files: &[u64], shards: u64, file_cost_bytes: u64) -> Vec<u64> {
        let mut load = Load::default();
        files.iter().for_each(|&bytes| load.add(bytes));
        let mut cutter = Cutter::new(load, shards, file_cost_bytes);
        let mut costs: Vec<u64> = Vec::new();
        for &bytes in files {
            if cutter.begins(bytes) {
                costs.push(0);
            }
            *costs.last_mut().unwrap() += bytes + file_cost_bytes;
        }
        costs
    }

    #[test]
    fn shards_cost_alike() {
        let files: Vec<u64> = (0..10_000).map(|number| number * 7_919 % 1_000).collect();
        let costs = cut(&files, 16, 500);
        assert_eq!(costs.len(), 16);
        let mean = costs.iter().sum::<u64>() / 16;
        assert!(costs.iter().all(|cost| cost.abs_diff(mean) <= 1_500), "{costs:?}");
    }

    #[test]
    fn many_small_files_weigh_as_much_as_a_large_one() {
        let mut files = vec![0; 1_000];
        files.push(1_000_000);
        let costs = cut(&files, 2, 1_000);
        assert_eq!(costs, [1_000_000, 1_001_000]);
    }

    #[test]
    fn no_shard_is_empty() {
        assert_eq!(cut(&[5, 1_000, 5], 10, 0).len(), 3);
        assert_eq!(cut(&[0, 0, 0], 2, 0), [0]);
        assert_eq!(cut(&[1, 1, 1], 100, 1).len(), 3);
        assert_eq!(cut(&[u64::MAX / 2, 1], 2, FILE_COST_BYTES).len(), 2);
    }

    #[test]
    fn devices_get_their_share_and_at_least_one() {
        let load = |files, bytes| Load { files, bytes };
        let loads = [load(1, 100), load(1, 700), load(1, 200)];
        assert_eq!(share_out(&loads, 10, 0), [1, 7, 2]);
        assert_eq!(share_out(&loads, 1, 0), [1, 1, 1]);
        assert_eq!(share_out(&[load(1, 1), load(1, 1), load(1, 1)], 5, 0).iter().sum::<u64>(), 5);
        assert_eq!(share_out(&[load(3, 0)], 4, 0), [4]);
    }
}
