//! Decides where one shard ends and the next begins.
//!
//! In: the files and bytes of each device, and then the length of every file in order. Out: the
//! shard of each file. A shard has files of one device. Its cost is its bytes plus a number of
//! bytes for each file, for the time to open it. Knows no paths.

/// The default cost of a file besides its own bytes: what could be checked in its overhead.
pub const FILE_COST_BYTES: u64 = 64 << 10;

/// The files and bytes of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceLoad {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl DeviceLoad {
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
    /// The shard of the last file.
    at: Option<u128>,
}

impl Cutter {
    pub(crate) fn new(load: DeviceLoad, shards: u64, file_cost_bytes: u64) -> Cutter {
        let total = load.cost(file_cost_bytes).max(1);
        Cutter { total, shards: u128::from(shards.max(1)), file_cost_bytes, passed: 0, at: None }
    }

    /// Returns whether the next file begins a new shard. A file belongs to the shard that contains
    /// its middle, so no shard is empty, and each deviates by at most half a file at either end.
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

/// Distributes about so many shards among devices by their cost, at least one each.
pub(crate) fn share_out(loads: &[DeviceLoad], shards: u64, file_cost_bytes: u64) -> Vec<u64> {
    let costs: Vec<u128> = loads.iter().map(|load| load.cost(file_cost_bytes)).collect();
    let total = costs.iter().sum::<u128>().max(1);
    let wanted = u128::from(shards);
    let mut shares: Vec<u64> =
        costs.iter().map(|cost| u64::try_from(cost * wanted / total).unwrap_or(1).max(1)).collect();
    let mut left = shards.saturating_sub(shares.iter().sum());
    // The remaining shards go to the devices with the largest remainders.
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
        let mut load = DeviceLoad::default();
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
        let load = |files, bytes| DeviceLoad { files, bytes };
        let loads = [load(1, 100), load(1, 700), load(1, 200)];
        assert_eq!(share_out(&loads, 10, 0), [1, 7, 2]);
        assert_eq!(share_out(&loads, 1, 0), [1, 1, 1]);
        assert_eq!(share_out(&[load(1, 1), load(1, 1), load(1, 1)], 5, 0).iter().sum::<u64>(), 5);
        assert_eq!(share_out(&[load(3, 0)], 4, 0), [4]);
    }
}
