//! Tests of the charts with arbitrary data: every coordinate is a number inside the picture.

use super::curves::{Curve, CurveChart, CurvePanel, CurvePoint, Style};
use super::forest::{ForestChart, ForestGroup, ForestRow};
use super::frame::{NARROW, WIDTH};
use super::growth::{GrowthChart, GrowthCurve, GrowthPanel};
use super::heat_map::{HeatChart, HeatMapColumn};
use super::palette::Slot;
use super::percentiles::{Distribution, PercentileChart};
use super::svg::{Chart, Drawing, Labels};
use super::text::Quantity;
use super::timeline::{Moment, TimelineChart, TrialTimeline};
use super::topology::{ChartNode, TopologyChart};
use super::tracks::{Track, TrackInterval, TrackIntervals};
use proptest::prelude::*;

/// Markers extend this far from their position.
const MARK: f64 = 7.0;

/// Fails unless all coordinates of all elements are inside the view box, within the size of a
/// marker, in both widths.
fn assert_inside(draw: impl Fn(Drawing) -> Chart) {
    for width in [WIDTH, NARROW] {
        assert_all_inside(&draw(drawing(width)));
    }
}

fn drawing(width: f64) -> Drawing {
    Drawing::new(
        Labels { id: "c", title: "a < b & c", description: "what is drawn", percent: " %" },
        width,
    )
}

fn assert_all_inside(chart: &Chart) {
    let text = chart.inline("");
    assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    let document =
        roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    let view_box: Vec<f64> = numbers(root.attribute("viewBox").unwrap());
    let (width, height) = (view_box[2], view_box[3]);
    let check = |x: f64, y: f64, what: &str| {
        let is_inside = (-MARK..=width + MARK).contains(&x) && (-MARK..=height + MARK).contains(&y);
        assert!(is_inside, "{x} {y} is outside {width} x {height}: {what}");
    };
    for node in root.descendants().filter(roxmltree::Node::is_element) {
        if let Some(data) = node.attribute("d") {
            for (x, y) in path_points(data) {
                check(x, y, data);
            }
        }
        let number =
            |name: &str| node.attribute(name).map_or(0.0, |text| text.parse::<f64>().unwrap());
        let (x, y) = (number("x"), number("y"));
        check(x, y, node.tag_name().name());
        if node.has_tag_name("rect") {
            check(x + number("width"), y + number("height"), "rect");
        }
    }
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|number| number.parse().unwrap()).collect()
}

/// Every point of a path. Supports the commands that charts use.
fn path_points(data: &str) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = data;
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + 1);
        let steps = split_numbers(&rest[1..end]);
        match command {
            'M' => (x, y) = (steps[0], steps[1]),
            'm' | 'l' => {
                for pair in steps.chunks(2) {
                    (x, y) = (x + pair[0], y + pair[1]);
                    points.push((x, y));
                }
            }
            'h' => x += steps.iter().sum::<f64>(),
            'v' => y += steps.iter().sum::<f64>(),
            'a' => (x, y) = steps.chunks(7).fold((x, y), |(x, y), arc| (x + arc[5], y + arc[6])),
            'Z' => {}
            other => panic!("unknown command {other} in {data}"),
        }
        points.push((x, y));
        rest = &rest[end..];
    }
    points
}

/// `5-.3 1.2` is 5, -0.3 and 1.2.
fn split_numbers(text: &str) -> Vec<f64> {
    text.replace('-', " -").split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// Any number; realistic figures are more frequent than extreme ones.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..1e6f64, 2 => 1e-9..1e3f64, 1 => Just(0.0), 1 => proptest::num::f64::ANY]
}

fn point() -> impl Strategy<Value = CurvePoint> {
    let values = || proptest::collection::vec(value(), 0..4);
    let interval = proptest::option::of((value(), value()));
    (1u32..2000, proptest::option::of(value()), interval, values(), values()).prop_map(
        |(x, value, interval, repeats, unusable)| CurvePoint {
            x: f64::from(x),
            value,
            is_bound: x % 3 == 0,
            interval,
            repeats,
            stood: unusable.clone(),
            unusable,
            tooltip: "a < b".to_owned(),
        },
    )
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), ".{1,60}", Just("처리량 スレッド <&>".to_owned())]
}

fn panel() -> impl Strategy<Value = CurvePanel> {
    let points = proptest::collection::vec(point(), 0..6);
    let curve = (
        name(),
        0usize..12,
        proptest::sample::select(vec![Style::Measured, Style::Published, Style::Points]),
        points,
    )
        .prop_map(|(label, slot, style, points)| Curve {
            label,
            slot: Slot(slot),
            style,
            points,
        });
    (name(), proptest::collection::vec(curve, 0..9), any::<bool>()).prop_map(
        |(title, curves, has_own_axis)| CurvePanel {
            title,
            curves,
            has_own_axis,
            ..CurvePanel::default()
        },
    )
}

/// Length, throughput, and median with 99th percentile.
type Second = (f64, f64, Option<(f64, f64)>);

fn quantity() -> impl Strategy<Value = Quantity> {
    proptest::sample::select(vec![
        Quantity::Number,
        Quantity::Time,
        Quantity::Percent,
        Quantity::Ratio,
    ])
}

#[test]
fn throughput_axis_is_logarithmic_when_a_panel_would_be_flat() {
    let panel = |value: f64| {
        let points = vec![CurvePoint { x: 1.0, value: Some(value), ..CurvePoint::default() }];
        let curve =
            Curve { label: "line".to_owned(), slot: Slot(0), style: Style::Measured, points };
        CurvePanel { title: "panel".to_owned(), curves: vec![curve], ..CurvePanel::default() }
    };
    let is_logarithmic = |values: &[f64]| {
        let text = || "axis".to_owned();
        let chart = CurveChart {
            x_title: text(),
            y_title: text(),
            y_title_logarithmic: text(),
            quantity: Quantity::Number,
            panels: values.iter().copied().map(panel).collect(),
            columns: None,
            is_measured: false,
            begins_at_zero: true,
        };
        chart.shared_span().spread == super::scale::ScaleKind::Logarithmic
    };
    assert!(is_logarithmic(&[2_000.0, 100.0]));
    assert!(!is_logarithmic(&[2_000.0, 400.0]));
    assert!(!is_logarithmic(&[2_000.0]));
}

#[test]
fn the_key_of_a_timeline_names_the_lines_that_are_there() {
    let point = |median, p99| Moment {
        length: 1.0,
        throughput: Some(9.0),
        median,
        p99,
        ..Moment::default()
    };
    let few = vec![point(Some(2.0), None); 3];
    let many = vec![point(None, None), point(Some(2.0), Some(4.0)), point(Some(2.0), None)];
    let named = |repeats: &[&Vec<Moment>]| {
        let text = |text: &str| text.to_owned();
        let timeline = |points: &&Vec<Moment>| TrialTimeline {
            points: (*points).clone(),
            ..TrialTimeline::default()
        };
        let chart = TimelineChart {
            x_title: text("s"),
            throughput_title: text("tx/s"),
            latency_title: text("ms"),
            median_label: text("the middle"),
            p99_label: text("the worst"),
            tracks: Vec::new(),
            repeats: repeats.iter().map(timeline).collect(),
        };
        let drawn = chart.draw(drawing(WIDTH)).inline("");
        ["the middle", "the worst"].map(|label| drawn.contains(label))
    };
    assert_eq!(named(&[&few]), [true, false]);
    assert_eq!(named(&[&few, &many]), [true, true], "of any repeat");
    assert_eq!(named(&[&vec![point(None, None)]]), [false, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn curves_stay_inside_the_picture(
        panels in proptest::collection::vec(panel(), 0..6), quantity in quantity(),
        is_measured in any::<bool>(), begins_at_zero in any::<bool>(),
    ) {
        let text = || "axis".to_owned();
        let chart = CurveChart {
            x_title: text(), y_title: text(), y_title_logarithmic: text(), quantity,
            panels, columns: None, is_measured, begins_at_zero,
        };
        assert_inside(|drawing| chart.draw(drawing));
    }

    #[test]
    fn charts_over_rows_stay_inside_the_picture(
        curves in proptest::collection::vec(
            (name(), proptest::collection::vec((value(), proptest::option::of(value()), proptest::option::of((value(), value()))), 0..12), any::<bool>()),
            0..9,
        ),
        rows in (value(), value()), quantity in quantity(), max in proptest::option::of(1.0..1e6f64), panels in 0usize..5,
    ) {
        let curves: Vec<GrowthCurve> = curves.into_iter().enumerate().map(|(i, (label, marks, is_published))| GrowthCurve {
            label, slot: Slot(i), is_published,
            repeats: vec![marks.iter().map(|mark| (mark.0, mark.1.unwrap_or(mark.0))).collect()],
            marks: marks.into_iter().map(|(x, value, interval)| CurvePoint {
                x, value, interval, tooltip: "a < b".to_owned(), ..CurvePoint::default()
            }).collect(),
        }).collect();
        let text = || "axis".to_owned();
        let panel = GrowthPanel { title: text(), quantity, max, curves };
        let chart = GrowthChart {
            x_title: text(), rows, panels: vec![panel; panels],
        };
        assert_inside(|drawing| chart.draw(drawing));
    }

    #[test]
    fn percentile_plots_stay_inside_the_picture(
        lines in proptest::collection::vec((name(), proptest::collection::vec((value(), value()), 0..20)), 0..9),
        height in 60.0..400.0f64,
    ) {
        let curves = lines.into_iter().enumerate().map(|(i, (label, points))| Distribution {
            label, slot: Slot(i), merged: points.clone(), repeats: vec![points],
        });
        let text = || "axis".to_owned();
        let chart = PercentileChart {
            x_title: text(), y_title: text(), height,
            curves: curves.collect(),
        };
        assert_inside(|drawing| chart.draw(drawing));
    }

    #[test]
    fn timelines_stay_inside_the_picture(
        trials in proptest::collection::vec(
            proptest::collection::vec((value(), value(), proptest::option::of((value(), value()))), 0..20), 0..12,
        ),
        stall in (value(), value()),
        interim_analyses in proptest::collection::vec((value(), value(), proptest::option::of(value())), 0..9),
        max in proptest::option::of(1.0..1e6f64),
    ) {
        let intervals = interim_analyses.iter().map(|(start, length, value)| TrackInterval {
            start: *start, length: *length, areas: vec![*value, Some(*start), *value], lines: vec![*value],
        });
        let below: TrackIntervals = intervals.collect();
        let timeline = |seconds: Vec<Second>| TrialTimeline {
            // Repeats may lack a panel.
            tracks: if seconds.is_empty() { Vec::new() } else { vec![below.clone(), TrackIntervals::default()] },
            title: "block 1".to_owned(),
            points: seconds.into_iter().enumerate().map(|(i, (length, throughput, times))| Moment {
                start: i as f64, length, is_warmup: i < 2, throughput: (i % 5 < 4).then_some(throughput),
                median: times.map(|times| times.0), p99: times.map(|times| times.1),
            }).collect(),
            stalls: vec![stall],
            faults: vec![stall.0],
            stages: vec![stall.1],
            offered: vec![stall, (stall.1, stall.0)],
        };
        let text = || "axis".to_owned();
        let chart = TimelineChart {
            x_title: text(), throughput_title: text(),
            latency_title: text(), median_label: text(), p99_label: text(),
            tracks: ["one", "other"].map(|name| Track {
                title: name.to_owned(), quantity: Quantity::Percent, max,
                areas: vec![name.to_owned(); 3], lines: vec![name.to_owned()],
            }).to_vec(),
            repeats: trials.into_iter().map(timeline).collect(),
        };
        assert_inside(|drawing| chart.draw(drawing));
    }

    #[test]
    fn heat_maps_stay_inside_the_picture(
        bands in proptest::collection::vec(value(), 0..12),
        columns in proptest::collection::vec((value(), value(), proptest::collection::vec(0u64..5000, 0..12)), 0..20),
    ) {
        let columns = columns.into_iter().map(|(start, length, counts)| HeatMapColumn {
            start, length, counts, tooltip: "a < b".to_owned(),
        });
        let text = || "axis".to_owned();
        let chart = HeatChart {
            x_title: text(), y_title: text(), key_title: text(),
            bands, columns: columns.collect(),
        };
        assert_inside(|drawing| chart.draw(drawing));
    }

    #[test]
    fn topologies_stay_inside_the_picture(
        columns in proptest::collection::vec(proptest::collection::vec((name(), name()), 0..4), 0..5),
        inside in (0usize..7, 0usize..7),
    ) {
        let node = |(name, note)| ChartNode { name, note };
        let columns: Vec<Vec<ChartNode>> =
            columns.into_iter().map(|column| column.into_iter().map(node).collect()).collect();
        let links = (0..columns.len()).map(|column| [(column, 0), (column + 1, 1)]).collect();
        let text = || "axis".to_owned();
        let chart = TopologyChart {
            machine: text(), inside: inside.0..inside.1, columns, links,
        };
        assert_inside(|drawing| chart.draw(drawing));
    }

    #[test]
    fn forest_plots_stay_inside_the_picture(
        rows in proptest::collection::vec(
            (name(), proptest::option::of(value()), proptest::option::of((value(), value()))), 0..20,
        ),
        margin in 0.0..0.5f64,
    ) {
        let rows = rows.into_iter().map(|(label, ratio, interval)| ForestRow {
            figures: label.clone(), verdict: label.clone(), label, ratio, interval, class: "better",
        });
        let text = || "axis".to_owned();
        let groups = vec![ForestGroup { title: text(), rows: rows.collect() }];
        let chart = ForestChart {
            x_title: text(), below_label: text(),
            above_label: text(), margin, groups,
        };
        assert_inside(|drawing| chart.draw(drawing));
    }
}

#[test]
fn a_box_far_below_is_reached_from_the_side() {
    let node = |name: &str| ChartNode { name: name.to_owned(), note: "note".to_owned() };
    let columns = vec![vec![node("dyno")], ["1", "2", "3"].map(node).to_vec()];
    let chart = TopologyChart {
        machine: String::new(),
        inside: 0..2,
        columns,
        links: (0..3).map(|row| [(0, 0), (1, row)]).collect(),
    };
    let text = chart.draw(drawing(WIDTH)).inline("");
    let document = roxmltree::Document::parse(&text).unwrap();
    let links = document.descendants().filter(|it| it.attribute("class") == Some("link"));
    let starts: Vec<(f64, f64)> =
        links.map(|it| path_points(it.attribute("d").unwrap())[0]).collect();
    assert_eq!(starts.len(), 3, "{text}");
    assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
}

#[test]
fn paths_are_read_back_as_they_were_written() {
    assert_eq!(
        path_points("M1 2h3v-.5l1.5-2 .5 1"),
        [(1.0, 2.0), (4.0, 2.0), (4.0, 1.5), (5.5, -0.5), (6.0, 0.5), (6.0, 0.5)]
    );
}
