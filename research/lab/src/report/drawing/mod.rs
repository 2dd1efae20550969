//! Drawings of the five structures, as code: cells, arrows and words on a sheet as wide as a small
//! telephone.

mod cssl;
mod olfit;
mod pb_tree;
mod pi;
mod sheet;
mod spiderman;

/// The drawing of a paper's structure.
pub fn of(paper: &str) -> String {
    match paper {
        "pb-tree" => pb_tree::drawing(),
        "olfit" => olfit::drawing(),
        "cssl" => cssl::drawing(),
        "pi" => pi::drawing(),
        _ => spiderman::drawing(),
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use super::sheet::WIDTH;

    #[test]
    fn every_paper_has_a_drawing_of_its_own_that_is_described_and_fits_the_sheet() {
        let drawings: Vec<String> = ["pb-tree", "olfit", "cssl", "pi", "spiderman"].map(of).into();
        for (nth, drawing) in drawings.iter().enumerate() {
            assert!(drawing.contains("aria-label=\"") && !drawings[..nth].contains(drawing));
            let rights = drawing.split("<rect ").skip(1).map(|rect| {
                let number = |name: &str| -> f64 {
                    let rest = rect.split(&format!(" {name}=\"")).nth(1).unwrap();
                    rest.split('"').next().unwrap().parse().unwrap()
                };
                number("x") + number("width")
            });
            for right in rights {
                assert!(right <= WIDTH, "{right}");
            }
        }
    }
}
