//! Writes the charts of a results folder as SVG files: `charts RESULTS FOLDER`. The README's pictures are made with it.
use dyno_report::html;
use dyno_report::messages::Lang;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [results, folder] = &arguments[..] else { return Err("usage: charts RESULTS FOLDER".into()) };
    let model = dyno_analysis::load(Path::new(results))?;
    std::fs::create_dir_all(folder)?;
    for (name, svg) in html::stand_alone_charts(&model, Lang::En) {
        std::fs::write(Path::new(folder).join(format!("{name}.svg")), svg)?;
    }
    Ok(())
}
