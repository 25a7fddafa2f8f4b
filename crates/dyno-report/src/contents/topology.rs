//! The network topology of a run, as a diagram and as text.

use crate::chart::frame::Drawn;
use crate::chart::svg::Labels;
use crate::chart::topology::{ChartNode, TopologyChart};
use crate::messages::{Lang, fill, headings, list, names};
use dyno_analysis::model::{
    NodeRole, PathVia, ReportModel, Topology, TopologyNode, TopologyPath, TopologySystem,
};

/// Whether a node appears behind the others in the diagram, rather than before them.
fn is_behind(role: NodeRole) -> bool {
    matches!(role, NodeRole::Data | NodeRole::Management | NodeRole::Replica)
}

/// `SQL node 1`.
fn node(node: TopologyNode, lang: Lang) -> String {
    let name = match node.role {
        NodeRole::Server => &headings::NODE_SERVER,
        NodeRole::Embedded => &headings::NODE_EMBEDDED,
        NodeRole::Member => &headings::NODE_MEMBER,
        NodeRole::Sql => &headings::NODE_SQL,
        NodeRole::Data => &headings::DATA_NODE,
        NodeRole::Management => &headings::NODE_MANAGEMENT,
        NodeRole::Primary => &headings::NODE_PRIMARY,
        NodeRole::Replica => &headings::NODE_REPLICA,
    };
    match node.number {
        None => name.text(lang).to_owned(),
        Some(number) => format!("{} {number}", name.text(lang)),
    }
}

/// The component on a network path, and which path it is; `None` if the path is direct.
fn on_way(path: &TopologyPath, lang: Lang) -> Option<ChartNode> {
    let role = match path.via {
        PathVia::Direct => return None,
        PathVia::Tcp => "TCP",
        PathVia::Socket => headings::WAY_SOCKET.text(lang),
        PathVia::Address => &path.what,
        PathVia::Proxy => headings::PROXY.text(lang),
        PathVia::Application => headings::APPLICATION_SERVER.text(lang),
    };
    let name = match path.via {
        PathVia::Proxy | PathVia::Application => &path.what,
        _ => &path.name,
    };
    Some(ChartNode {
        name: name.clone(),
        note: if name == role { String::new() } else { role.to_owned() },
    })
}

fn generator(model: &ReportModel, topology: &Topology, lang: Lang) -> ChartNode {
    let clients = fill!(headings::CLIENTS_MOST, lang, clients = topology.clients);
    ChartNode { name: format!("dyno {}", model.provenance.dyno_version), note: clients }
}

/// A diagram for each distinct topology.
pub(crate) fn charts(model: &ReportModel, lang: Lang) -> impl Iterator<Item = Drawn> {
    model.topologies.iter().enumerate().map(move |(at, topology)| {
        let (id, title) = (format!("topology-{}", at + 1), systems(topology, lang));
        let labels = Labels { id: &id, title: &title, description: &line(model, topology, lang) };
        Drawn::of(labels, |drawing| chart(model, topology, lang).draw(drawing))
    })
}

fn chart(model: &ReportModel, topology: &Topology, lang: Lang) -> TopologyChart {
    let mut columns = vec![vec![generator(model, topology, lang)]];
    let paths: Vec<ChartNode> =
        topology.paths.iter().filter_map(|path| on_way(path, lang)).collect();
    let has_direct = paths.len() < topology.paths.len();
    let mut links = Vec::new();
    let first = usize::from(!paths.is_empty()) + 1;
    let (behind, front): (Vec<_>, Vec<_>) =
        topology.nodes.iter().partition(|it| is_behind(it.role));
    for path in 0..paths.len() {
        links.push([(0, 0), (1, path)]);
        links.extend((0..front.len()).map(|row| [(1, path), (first, row)]));
    }
    if has_direct {
        links.extend((0..front.len()).map(|row| [(0, 0), (first, row)]));
    }
    if !paths.is_empty() {
        columns.push(paths);
    }
    let systems = systems(topology, lang);
    let chart_node = |it: &&TopologyNode| match it.role {
        // A single server carries the system's name.
        NodeRole::Server | NodeRole::Embedded => {
            ChartNode { name: systems.clone(), note: node(**it, lang) }
        }
        _ => ChartNode { name: node(**it, lang), note: systems.clone() },
    };
    columns.push(front.iter().map(chart_node).collect());
    if front.iter().all(|it| it.role == NodeRole::Member) {
        links.extend((1..front.len()).map(|row| [(first, row - 1), (first, row)]));
    }
    for (row, it) in behind.iter().enumerate() {
        match it.role {
            // It connects to the other nodes and stores no data.
            NodeRole::Management => {
                links
                    .extend(row.checked_sub(1).map(|above| [(first + 1, above), (first + 1, row)]));
            }
            _ => links.extend((0..front.len()).map(|at| [(first, at), (first + 1, row)])),
        }
    }
    if !behind.is_empty() {
        columns.push(
            behind
                .iter()
                .map(|it| ChartNode { name: node(**it, lang), note: String::new() })
                .collect(),
        );
    }
    TopologyChart {
        machine: machine(model),
        inside: if topology.is_local || topology.address.is_empty() {
            columns.len()
        } else {
            columns.len() - 1
        },
        columns,
        links,
    }
}

/// The systems with their versions.
fn systems(topology: &Topology, lang: Lang) -> String {
    let name = |it: &TopologySystem| names::with_version(&it.name, &it.version, lang);
    list(lang, &topology.systems.iter().map(name).collect::<Vec<_>>())
}

/// The load generator's machine in a few words.
fn machine(model: &ReportModel) -> String {
    let environment = &model.provenance.environment;
    let parts = [environment.cpu_model.as_str(), environment.os_release.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The topology as lines of text: `dyno 0.1.0 (up to 64 clients) → haproxy 2.6 (proxy) → MariaDB
/// 10.11 (server)`.
pub(crate) fn lines(model: &ReportModel, lang: Lang) -> Vec<String> {
    model.topologies.iter().map(|topology| line(model, topology, lang)).collect()
}

/// The lines for all topologies other than clients connected directly to a server.
pub(crate) fn more_than_a_server(model: &ReportModel, lang: Lang) -> Vec<String> {
    let is_plain = |it: &&Topology| {
        it.nodes.len() == 1 && it.paths.iter().all(|path| path.via == PathVia::Direct)
    };
    let shown = model.topologies.iter().filter(|it| !is_plain(it));
    shown.map(|topology| line(model, topology, lang)).collect()
}

fn line(model: &ReportModel, topology: &Topology, lang: Lang) -> String {
    let labelled = |chart_node: ChartNode| match chart_node.note.is_empty() {
        true => chart_node.name,
        false => names::with_note(&chart_node.name, &chart_node.note, lang),
    };
    let paths = topology.paths.iter();
    let paths: Vec<String> = paths
        .map(|path| {
            on_way(path, lang).map_or_else(|| headings::WAY_DIRECT.text(lang).to_owned(), labelled)
        })
        .collect();
    let is_direct = topology.paths.iter().all(|path| path.via == PathVia::Direct);
    let nodes = |wanted: bool| {
        let of = topology.nodes.iter().filter(move |it| is_behind(it.role) == wanted);
        of.map(|it| node(*it, lang)).collect::<Vec<_>>()
    };
    let systems = names::with_note(&systems(topology, lang), &nodes(false).join(lang.comma), lang);
    let behind = nodes(true);
    let parts = [
        Some(labelled(generator(model, topology, lang))),
        (!is_direct).then(|| paths.join(" | ")),
        Some(systems),
        (!behind.is_empty()).then(|| behind.join(lang.comma)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" → ")
}
