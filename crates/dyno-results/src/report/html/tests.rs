//! The page as a whole, over made-up reports of many shapes.

use super::sample::Shape;
use super::render;
use crate::messages::Lang;

fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("rush", Shape::rush()),
        ("variants", Shape::variants()),
        ("quickstart", Shape::quickstart()),
        ("smallest", Shape::smallest()),
        ("failures", Shape { has_failures: true, ..Shape::rush() }),
        ("two-blocks", Shape { blocks: 2, ..Shape::rush() }),
        ("published-far", Shape { published: Some(0.02), ..Shape::rush() }),
        ("huge", Shape { scale: 1e6, ..Shape::quickstart() }),
        ("long-trials", Shape { seconds: 900, ..Shape::quickstart() }),
        (
            "long-names",
            Shape {
                title: "<script>alert(\"title\")</script> & a title that goes on for long enough to need a second line",
                systems: vec![
                    "MariaDB 10.11 with a thread pool of sixteen groups and 12 GB of buffer pool on NVMe",
                    "마리아디비 동시접속자 성능 테스트 결과서",
                    "<b>PostgreSQL</b> & スレッド 同時アクセス数",
                ],
                variants: vec!["in-place", "for-update"],
                ..Shape::rush()
            },
        ),
        ("nothing", Shape { systems: Vec::new(), ..Shape::rush() }),
    ]
}

/// Writes the pages into the folder named by `DYNO_SAMPLE_REPORTS`, to be looked at.
fn keep(name: &str, page: &str) {
    if let Some(folder) = std::env::var_os("DYNO_SAMPLE_REPORTS") {
        let path = std::path::Path::new(&folder).join(format!("{name}.html"));
        std::fs::write(path, page).unwrap();
    }
}

#[test]
fn pages_of_every_shape_are_whole() {
    for (name, shape) in shapes() {
        let page = render(&shape.model(), Lang::En);
        keep(name, &page);
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{name}");
        assert!(page.ends_with("</html>"), "{name}");
        for section in
            ["conclusions", "results", "comparisons", "audit", "validity", "details", "setting", "method"]
        {
            assert!(page.contains(&format!("<section id=\"{section}\">")), "{name} lacks {section}");
        }
    }
}
