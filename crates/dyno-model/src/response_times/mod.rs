//! Response times: histograms, and the response times of all arrivals.

pub mod compact_histogram;
pub mod encoded;
pub mod latency;
pub mod response;
