//! Paths in a spec, which are relative to the folder of the spec, independent of the working
//! folder.

use crate::address::SYSTEM_AUTHORITIES;
use crate::network_path::Via;
use crate::plan::{ExistingSystem, PasswordSource, Plan, SystemSource};
use crate::target::{Endpoint, Tls};
use std::path::{Path, PathBuf};

/// A file relative to the folder of a spec.
pub(in crate::spec) fn beside(spec: &str, file: &Path) -> PathBuf {
    Path::new(spec).parent().unwrap_or(Path::new("")).join(file)
}

/// Prefixes every relative path of a plan with the folder of its spec.
pub(in crate::spec) fn resolve(plan: &mut Plan, spec: &str) {
    let resolve = |path: &mut PathBuf| *path = beside(spec, path);
    for storage in &mut plan.storages {
        resolve(&mut storage.data);
        storage.log.iter_mut().for_each(resolve);
    }
    for endpoint in &mut plan.endpoints {
        match &mut endpoint.via {
            Via::Address(Endpoint::Unix(path) | Endpoint::File(path)) => resolve(path),
            Via::Application(application) => resolve(&mut application.war),
            Via::Tcp | Via::Socket | Via::Address(_) | Via::Proxy(_) => {}
        }
    }
    for system in &mut plan.systems {
        match &mut system.source {
            SystemSource::Managed(server) => {
                server.bin_dir.iter_mut().chain(&mut server.scratch).for_each(resolve);
            }
            SystemSource::Existing(existing) => of_existing(existing).into_iter().for_each(resolve),
            SystemSource::Imported => {}
        }
    }
}

fn of_existing(existing: &mut ExistingSystem) -> Vec<&mut PathBuf> {
    let mut paths = Vec::new();
    if let Endpoint::Unix(path) | Endpoint::File(path) = &mut existing.endpoint {
        paths.push(path);
    }
    if let PasswordSource::File(path) = &mut existing.password {
        paths.push(path);
    }
    if let Tls::Verify { ca: Some(path) } | Tls::VerifyAuthority { ca: Some(path) } =
        &mut existing.tls
        && *path != Path::new(SYSTEM_AUTHORITIES)
    {
        paths.push(path);
    }
    if let Some(shown) = &mut existing.client_certificate {
        paths.extend([&mut shown.certificate, &mut shown.key]);
    }
    paths
}
