//! Systems under test: addresses and credentials, servers, and the network paths to them.

pub mod address;
pub(super) mod existing;
pub mod mask;
pub(super) mod network_path;
pub mod secret;
pub(super) mod server;
pub mod target;
pub mod version;
