//! The network topology of a run, as a diagram and as text.

use crate::chart::frame::Drawn;
use crate::chart::svg::Labels;
use crate::chart::topology::{ChartNode, TopologyChart};
use crate::messages::{Lang, fill, headings, list, names};
use dyno_analysis::model::{
    GeneratorHost, NodeRole, PathVia, ReportModel, SystemVersion, Topology, TopologyNode,
    TopologyPath,
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

/// Maximum number of machines of load generators that are named.
const HOSTS_MAX: usize = 4;

/// `up to 64 clients, 4 load generators`.
fn load(clients: u32, generators: u32, lang: Lang) -> String {
    let clients = fill!(headings::CLIENTS_MOST, lang, clients);
    if generators == 0 {
        return clients;
    }
    let generators = fill!(headings::GENERATORS_NUMBER, lang, number = generators);
    [clients, generators].join(lang.comma)
}

/// The load generator, or all of them together.
fn generator(model: &ReportModel, topology: &Topology, lang: Lang) -> ChartNode {
    let hosts = &topology.generator_hosts;
    let what = load(topology.clients, hosts.iter().map(|it| it.generators).sum(), lang);
    let names: Vec<&str> = hosts.iter().map(|it| it.host.as_str()).collect();
    let note = match hosts.len() {
        _ if topology.are_generators_local || hosts.is_empty() => what,
        ..=HOSTS_MAX => fill!(headings::ON_HOSTS, lang, what, hosts = list(lang, &names)),
        number => {
            let hosts = fill!(headings::HOSTS_NUMBER, lang, number);
            fill!(headings::ON_HOSTS, lang, what, hosts)
        }
    };
    ChartNode { name: format!("dyno {}", model.provenance.dyno_version), note }
}

/// The load generator, or a box for each machine of several if they are few.
fn generators(model: &ReportModel, topology: &Topology, lang: Lang) -> Vec<ChartNode> {
    let hosts = &topology.generator_hosts;
    let together = generator(model, topology, lang);
    if topology.are_generators_local || !(2..=HOSTS_MAX).contains(&hosts.len()) {
        return vec![together];
    }
    let of = |host: &GeneratorHost| ChartNode {
        name: host.host.clone(),
        note: [together.name.clone(), load(host.clients, host.generators, lang)].join(lang.comma),
    };
    hosts.iter().map(of).collect()
}

/// A diagram for each distinct topology.
pub(crate) fn charts(model: &ReportModel, lang: Lang) -> impl Iterator<Item = Drawn> {
    model.topologies.iter().enumerate().map(move |(at, topology)| {
        let (id, title) = (format!("topology-{}", at + 1), systems(topology, lang));
        let description = line(model, topology, lang);
        let labels =
            Labels { id: &id, title: &title, description: &description, percent: lang.percent };
        Drawn::of(labels, |drawing| chart(model, topology, lang).draw(drawing))
    })
}

fn chart(model: &ReportModel, topology: &Topology, lang: Lang) -> TopologyChart {
    let generators = generators(model, topology, lang);
    let sources = generators.len();
    let mut columns = vec![generators];
    let paths: Vec<ChartNode> =
        topology.paths.iter().filter_map(|path| on_way(path, lang)).collect();
    let has_direct = paths.len() < topology.paths.len();
    let mut links = Vec::new();
    let first = usize::from(!paths.is_empty()) + 1;
    let (behind, front): (Vec<_>, Vec<_>) =
        topology.nodes.iter().partition(|it| is_behind(it.role));
    for path in 0..paths.len() {
        links.extend((0..sources).map(|row| [(0, row), (1, path)]));
        links.extend((0..front.len()).map(|row| [(1, path), (first, row)]));
    }
    if has_direct {
        for source in 0..sources {
            links.extend((0..front.len()).map(|row| [(0, source), (first, row)]));
        }
    }
    if !paths.is_empty() {
        columns.push(paths);
    }
    let systems = systems(topology, lang);
    let chart_node = |it: &&TopologyNode| match it.role {
        // A single server carries the system's name.
        NodeRole::Server | NodeRole::Embedded => {
            ChartNode { name: systems.clone(), note: located(node(**it, lang), topology, lang) }
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
    let has_others = !topology.generator_hosts.is_empty() && !topology.are_generators_local;
    let is_local = topology.is_local || topology.address.is_empty();
    let inside = usize::from(has_others)..columns.len() - usize::from(!is_local);
    TopologyChart { machine: machine(model), inside, columns, links }
}

/// The role of the servers in front, followed by their address if dyno did not start them.
fn located(role: String, topology: &Topology, lang: Lang) -> String {
    let is_embedded = topology.nodes.iter().any(|it| it.role == NodeRole::Embedded);
    match is_embedded || topology.address.is_empty() {
        true => role,
        false => [role, topology.address.clone()].join(lang.comma),
    }
}

/// The systems with their products and versions.
fn systems(topology: &Topology, lang: Lang) -> String {
    let name = |it: &SystemVersion| names::system(&it.name, &it.product, &it.version, lang);
    list(lang, &topology.systems.iter().map(name).collect::<Vec<_>>())
}

/// The coordinator's machine in a few words.
fn machine(model: &ReportModel) -> String {
    let environment = &model.provenance.environment;
    let parts = [environment.cpu_model.as_str(), environment.os_release.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The topology as lines of text: `dyno 0.1.0 (up to 64 clients) → haproxy 2.6 (proxy) → server:
/// MariaDB 10.11`.
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
    let front = located(nodes(false).join(lang.comma), topology, lang);
    let systems = names::labelled(&front, &systems(topology, lang), lang);
    let behind = nodes(true);
    let parts = [
        Some(labelled(generator(model, topology, lang))),
        (!is_direct).then(|| paths.join(" | ")),
        Some(systems),
        (!behind.is_empty()).then(|| behind.join(lang.comma)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" → ")
}
