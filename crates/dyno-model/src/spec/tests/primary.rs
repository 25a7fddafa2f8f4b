//! Tests of the primary metric of a spec.

use super::*;
use crate::plan::ComparisonMetric;

#[test]
fn the_primary_metric_comes_first_and_is_refused_with_a_search() {
    let named =
        |name: &str| SETTINGS.replace("blocks = 1", &format!("blocks = 1\nprimary = \"{name}\""));
    let metrics = |text: &str| parse(input(text), &catalog()).unwrap().1.metrics();
    assert_eq!(metrics(SETTINGS), [ComparisonMetric::Throughput, ComparisonMetric::P95Ms]);
    assert_eq!(metrics(&named("p95-ms")), [ComparisonMetric::P95Ms, ComparisonMetric::Throughput]);
    assert_eq!(
        metrics(&named("p99-ms")),
        [ComparisonMetric::P99Ms, ComparisonMetric::Throughput, ComparisonMetric::P95Ms]
    );
    let start = GOOD.split("[load]").next().unwrap();
    let searched = "[load]\nclients = 64\nduration = \"10s\"\nfind = { while = \"p99 < 20ms\" }\n";
    let searched = format!("{start}{searched}[design]\nprimary = \"p99-ms\"\n");
    let refused = format!("{:?}", parse(input(&searched), &catalog()).unwrap_err());
    assert!(refused.contains("`design.primary` cannot be combined with `load.find`"), "{refused}");
    assert!(parse(input(&named("p42")), &catalog()).is_err());
}
