//! Tests of the drivers with null servers, scripted peers and real servers, and of the null servers
//! with real clients.

mod encrypted_peer;
mod interrupts;
mod mysql_captures;
mod mysql_servers;
mod names;
mod null_driver;
mod null_server;
mod postgres_null_server;
mod postgres_real;
mod sqlite_driver;
mod timeout;
