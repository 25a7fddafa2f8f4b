//! sysbench's command line and output on dyno's engine.
