//! What the change time and the inode of a file say about the time since its last proof.
//!
//! Takes an open file and the record of its last proof; returns [`ChangeEvidence`]. Asked for only
//! if the contents of a file differ, so an intact file costs nothing here.

use steadfast_sys::file::{ChangeTimes, File, Status, Timestamp};

use crate::verdict::ChangeEvidence;

/// What is known of the last time at which the contents of a file were proved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LastProof {
    /// What the file system said of the file at that moment.
    Recorded {
        /// Its change time.
        ctime: Timestamp,
        /// Its inode.
        inode: u64,
        /// Its modification time, which a program may have set after the tag was made.
        mtime: Timestamp,
    },
    /// When its tag, or another record of it, was made.
    Tagged(Timestamp),
    /// An earlier run found that something wrote the file after that moment.
    WrittenSince {
        /// The modification time of that moment, if it is known.
        mtime: Option<Timestamp>,
    },
}

impl LastProof {
    /// Returns whether the file had this modification time at that moment, as far as is known.
    pub(crate) fn has_mtime(self, now: Timestamp) -> bool {
        match self {
            LastProof::Recorded { mtime, .. } => mtime == now,
            LastProof::WrittenSince { mtime } => mtime == Some(now),
            LastProof::Tagged(_) => false,
        }
    }
}

/// Returns what the change time of a file says about the time since its last proof: nothing if the
/// user has change times ignored.
pub(crate) fn evidence_of(
    file: &File,
    status: &Status,
    proof: Option<LastProof>,
    ignores_change_times: bool,
) -> ChangeEvidence {
    let Some(proof) = proof.filter(|_| !ignores_change_times) else {
        return ChangeEvidence::NotKnown;
    };
    let change_times = file.change_times();
    // Whole seconds are those of a coarse clock: two writes within one are not told apart.
    if change_times == ChangeTimes::Unknown || status.ctime.nanoseconds == 0 {
        return ChangeEvidence::NotKnown;
    }
    let evidence = match proof {
        LastProof::Recorded { ctime, inode, .. }
            if (ctime, inode) == (status.ctime, status.inode) =>
        {
            ChangeEvidence::AsRecorded
        }
        LastProof::Recorded { .. } | LastProof::WrittenSince { .. } => ChangeEvidence::Later,
        // Setting the attribute moved the change time to that second.
        LastProof::Tagged(at) if status.ctime.seconds <= at.seconds => ChangeEvidence::AsTagged,
        LastProof::Tagged(_) => ChangeEvidence::Later,
    };
    let is_later = evidence == ChangeEvidence::Later;
    if is_later || change_times == ChangeTimes::Prove { evidence } else { ChangeEvidence::NotKnown }
}
