//! `steadfast check s3://…`: requests digests from a store.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast_objects::{Connection, ObjectStore, RetryPolicy, check};

use super::{how, keys, known, print_compared};
use crate::args::ObjectsCheckArgs;
use crate::exit;

/// Requests in flight. A thread that waits for an answer needs no processor.
const WORKERS: usize = 16;

/// The region for stores without regions.
const REGION: &str = "us-east-1";

pub(super) fn run(args: &ObjectsCheckArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let keys = keys::find(args.profile.as_deref(), args.anonymous)?;
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let region = args.region.clone().or_else(|| variable("AWS_REGION"));
    let region = region.or_else(|| variable("AWS_DEFAULT_REGION")).or(keys.region);
    let endpoint = args.endpoint.clone().or_else(|| variable("AWS_ENDPOINT_URL_S3"));
    let authorities =
        args.ca_bundle.clone().or_else(|| variable("AWS_CA_BUNDLE").map(PathBuf::from));
    let authorities = authorities.or_else(|| keys.authorities.map(PathBuf::from));
    let authorities = authorities
        .map(|path| fs::read(&path).with_context(|| format!("cannot read `{}`", path.display())));
    let connection = Connection {
        endpoint: endpoint.or_else(|| variable("AWS_ENDPOINT_URL")).or(keys.endpoint),
        region: region.unwrap_or_else(|| REGION.to_owned()),
        credentials: keys.credentials,
        authorities: authorities.transpose()?,
        retries: RetryPolicy::default(),
        now: Options::default().now,
        stop: Arc::clone(&stop),
    };
    let store = ObjectStore::new(connection, args.address.clone())?;
    let known = known(&args.compared, &stop)?;
    let options = how(&args.compared, WORKERS, true, &stop);
    print_compared(&args.compared, &stop, |found| check(&store, &known, &options, found))
}
