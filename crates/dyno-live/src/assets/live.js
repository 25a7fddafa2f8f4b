// Shows the state of a run, which arrives as server-sent events. Everything is inserted as text.
"use strict";
const byId = id => document.getElementById(id);
const shown = (value, digits) => value === null || value === undefined ? "-"
  : value.toLocaleString("en", { maximumFractionDigits: digits });
let state = null; // the last state
let past = null; // the trial that was opened instead of the current one

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

// Rebuilds the children of an element only if what they show has changed.
const drawn = new Map();
function rebuild(id, data, children) {
  const text = JSON.stringify(data);
  if (drawn.get(id) === text) return;
  drawn.set(id, text);
  byId(id).replaceChildren(...children());
}

function list(id, texts) {
  rebuild(id, texts, () => texts.map(text => element("li", text)).reverse());
}

// A line that is interrupted where values are missing or another trial begins.
function chart(id, points, value, digits) {
  const values = points.map(point => value(point) ?? null), most = Math.max(...values.filter(it => it !== null), 0);
  const width = 600 / Math.max(points.length - 1, 1);
  let path = "", isOn = false;
  points.forEach((point, i) => {
    const here = values[i];
    if (here === null || (i > 0 && points[i - 1].trial !== point.trial)) isOn = false;
    if (here === null) return;
    const y = most > 0 ? 118 - 112 * here / most : 118;
    path += `${isOn ? "L" : "M"}${(i * width).toFixed(1)} ${y.toFixed(1)}`;
    if (!isOn) path += "h0.5";
    isOn = true;
  });
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  byId(id).replaceChildren(line);
  const last = values.length > 0 ? values[values.length - 1] : null;
  byId(`${id}-last`).textContent = `${shown(last, digits)} (max ${shown(most, digits)})`;
}

function charts(points) {
  chart("throughput", points, point => point.throughput, 1);
  chart("p99", points, point => point.p99, 2);
}

function trialRow(trial, position) {
  const row = document.createElement("tr");
  if (position === state.current) row.className = "current";
  const id = element("td", trial.can_open ? "" : trial.id);
  if (trial.can_open) {
    const open = element("button", trial.id);
    open.addEventListener("click", () => openTrial(trial));
    id.append(open);
  }
  row.append(id, element("td", trial.name), element("td", trial.status),
    element("td", shown(trial.throughput, 1)), element("td", shown(trial.p99, 2)));
  return row;
}

// timeline.csv: start_s,length_s,phase,committed,failed,retries,mean_ms,p50_ms,p95_ms,p99_ms,max_ms
async function openTrial(trial) {
  const answer = await fetch(`/trials/${encodeURIComponent(trial.id)}.csv`);
  if (!answer.ok) return;
  const rows = (await answer.text()).trim().split("\n").slice(1).map(row => row.split(","));
  // The last interval of a trial may be too short for its length to have digits.
  past = rows.filter(row => Number(row[1]) > 0).map(row => ({
    trial: 0, throughput: Number(row[3]) / Number(row[1]), p99: row[9] ? Number(row[9]) : null,
  }));
  byId("past-name").textContent = `${trial.id}  ${trial.name}`;
  byId("past").hidden = false;
  charts(past);
}

function show() {
  document.title = `${state.title} - dyno`;
  byId("title").textContent = state.title;
  byId("progress").textContent = state.silence || state.progress;
  byId("progress").className = state.silence ? "alarm" : "";
  byId("time").textContent = state.time;
  byId("share").value = state.share;
  byId("ended").hidden = !state.is_over;
  byId("generator").textContent = shown(state.generator_cpus, 2);
  byId("server").textContent = shown(state.server_cpus, 2);
  byId("queue").textContent = shown(state.queue, 0);
  const errors = Object.entries(state.errors).map(([kind, count]) => `${kind} ${count}`);
  byId("errors").textContent = errors.join(", ") || byId("errors").dataset.none;
  byId("warnings-total").textContent = state.warnings_total;
  list("warnings", state.warnings);
  list("log", state.log);
  rebuild("trials", [state.current, state.trials], () => state.trials.map(trialRow));
  if (past === null) charts(state.points);
}

byId("current").addEventListener("click", () => {
  past = null;
  byId("past").hidden = true;
  show();
});

const events = new EventSource("/events");
events.addEventListener("state", event => {
  byId("disconnected").hidden = true;
  state = JSON.parse(event.data);
  // A page in the background costs nothing.
  if (!document.hidden) show();
});
events.addEventListener("report", () => {
  events.close();
  location.replace("/report.html");
});
events.addEventListener("error", () => { byId("disconnected").hidden = false; });
document.addEventListener("visibilitychange", () => { if (!document.hidden && state) show(); });
