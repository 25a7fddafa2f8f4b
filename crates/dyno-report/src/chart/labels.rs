//! Placement of labels at the ends of lines, without overlaps.

/// Positions for labels that should be near `wanted`, at least `gap` apart and between `low` and
/// `high`, each moved as little as possible; in the order of `wanted`. If there is not enough room,
/// the labels are distributed evenly.
///
/// Labels that touch form a cluster at the mean of the positions that its members want (pool
/// adjacent violators).
pub(crate) fn spread_out(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let count = wanted.len();
    if count == 0 {
        return Vec::new();
    }
    let needed = gap * (count - 1) as f64;
    let gap =
        if needed > high - low { (high - low).max(0.0) / (count - 1).max(1) as f64 } else { gap };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));

    // After subtracting i * gap, "at least gap apart" becomes "non-decreasing", which clusters of
    // equal means satisfy.
    let mut clusters: Vec<(f64, usize)> = Vec::new();
    for (i, label) in order.iter().enumerate() {
        let wish = if wanted[*label].is_finite() { wanted[*label] } else { low };
        clusters.push((wish - i as f64 * gap, 1));
        while let [.., (before, before_count), (last, last_count)] = clusters[..] {
            if before <= last {
                break;
            }
            let joined = before_count + last_count;
            let mean = (before * before_count as f64 + last * last_count as f64) / joined as f64;
            clusters.truncate(clusters.len() - 2);
            clusters.push((mean, joined));
        }
    }
    let mut positions = vec![0.0; count];
    let mut i = 0;
    for (mean, members) in clusters {
        for _ in 0..members {
            let top = low.max(high - gap * (count - 1) as f64);
            positions[order[i]] = mean.clamp(low, top) + i as f64 * gap;
            i += 1;
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_with_room_stay_where_they_want_to_be() {
        assert_eq!(spread_out(&[50.0, 10.0, 90.0], 12.0, 0.0, 100.0), [50.0, 10.0, 90.0]);
    }

    #[test]
    fn labels_on_one_spot_are_spread_around_it() {
        assert_eq!(spread_out(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0), [40.0, 50.0, 60.0]);
        assert_eq!(spread_out(&[100.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }

    proptest! {
        #[test]
        fn labels_are_apart_and_inside(wanted in proptest::collection::vec(-50.0f64..150.0, 0..9)) {
            let positions = spread_out(&wanted, 12.0, 0.0, 100.0);
            let mut sorted = positions.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 11.999), "{sorted:?}");
            prop_assert!(sorted.iter().all(|position| (-0.001..=100.001).contains(position)), "{sorted:?}");
        }
    }
}
