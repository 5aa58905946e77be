//! What the catalogues of the roots prove, cached for a moment.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use steadfast::Options;
use steadfast::catalogue::{Audit, Catalogue};
use steadfast_report::escape;

use crate::lock::lock;

/// Days after which a file is overdue for another check.
pub(crate) const OVERDUE_DAYS: u32 = 30;

/// How long an audit is cached, so that several tabs that load at once cause one audit.
const CACHE_LIFE: Duration = Duration::from_secs(2);

/// The audit of a root, or why there is none.
#[derive(Clone, Debug)]
pub(crate) enum RootAudit {
    /// The root has no catalogue.
    None,
    /// The root is only a part of a catalogued tree.
    Above,
    /// The catalogue cannot be read, for this reason.
    Unreadable(String),
    /// What the catalogue proves.
    Audit(Box<Audit>),
}

/// The latest audits by index of the root, with the moment of each.
#[derive(Default)]
pub(crate) struct RootAudits(Mutex<HashMap<usize, (Instant, Arc<RootAudit>)>>);

impl RootAudits {
    /// Returns the audit of a root. Waits for the disk.
    pub(crate) fn of(&self, root: usize, path: &Path) -> Arc<RootAudit> {
        let mut audits = lock(&self.0);
        if let Some((made, audit)) = audits.get(&root)
            && made.elapsed() < CACHE_LIFE
        {
            return Arc::clone(audit);
        }
        let audit = Arc::new(audit(path));
        audits.insert(root, (Instant::now(), Arc::clone(&audit)));
        audit
    }
}

fn audit(path: &Path) -> RootAudit {
    let Some(file) = Catalogue::find(path) else { return RootAudit::None };
    let audit =
        Catalogue::open_reader(&file).and_then(|catalogue| match catalogue.root() == path {
            true => catalogue.audit(&[OVERDUE_DAYS], (Options::default().now)()).map(Some),
            false => Ok(None),
        });
    match audit {
        Ok(Some(audit)) => RootAudit::Audit(Box::new(audit)),
        Ok(None) => RootAudit::Above,
        Err(error) => RootAudit::Unreadable(escape::text(&error.to_string())),
    }
}
