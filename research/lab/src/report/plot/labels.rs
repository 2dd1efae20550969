//! Labels beside the ends of curves: as near to them as their heights allow.

/// Returns places for labels that want to be at these, in the same order: at least `height` apart, between
/// `top` and
/// `bottom`, moved together where they would overlap.
pub fn spread(wanted: &[f64], height: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].total_cmp(&wanted[other]));
    // Runs of labels that touch, each with its first place.
    let mut runs: Vec<(f64, Vec<usize>)> = Vec::new();
    for index in order {
        runs.push((wanted[index], vec![index]));
        while let [.., (above, upper), (below, _)] = &runs[..] {
            if *above + height * upper.len() as f64 <= *below {
                break;
            }
            let (_, lower) = runs.pop().unwrap_or_default();
            if let Some((start, members)) = runs.last_mut() {
                members.extend(lower);
                *start = start_of(members, wanted, height);
            }
        }
        if let Some((start, members)) = runs.last_mut() {
            let last = height * (members.len() - 1) as f64;
            *start = start.min(bottom - last).max(top);
        }
    }
    let mut places = vec![0.0; wanted.len()];
    for (start, members) in &runs {
        for (nth, &index) in members.iter().enumerate() {
            places[index] = start + height * nth as f64;
        }
    }
    places
}

/// Where a run begins whose labels are as near as possible to what they want.
fn start_of(members: &[usize], wanted: &[f64], height: f64) -> f64 {
    let each = members.iter().enumerate().map(|(nth, &index)| wanted[index] - height * nth as f64);
    each.sum::<f64>() / members.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_where_there_is_room_and_move_apart_where_not() {
        assert_eq!(spread(&[10.0, 50.0], 15.0, (0.0, 100.0)), [10.0, 50.0]);
        assert_eq!(spread(&[50.0, 50.0], 20.0, (0.0, 100.0)), [40.0, 60.0]);
        assert_eq!(spread(&[60.0, 50.0, 55.0], 20.0, (0.0, 100.0)), [75.0, 35.0, 55.0]);
        let crowded = spread(&[99.0; 6], 15.0, (0.0, 100.0));
        for pair in crowded.windows(2) {
            assert!(pair[1] - pair[0] >= 15.0, "{crowded:?}");
        }
        assert!(crowded[5] <= 100.0 + 1e-9 && crowded[0] >= 0.0);
    }
}
