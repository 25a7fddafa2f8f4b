//! `[[workload.request]]`: the requests of the workload `http`, and the answers that it accepts.

use crate::plan::RequestPlan;
use crate::spec::diagnostic::Span;
use crate::spec::keys::REQUEST;
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::tree::{Node, Value};
use crate::template::{Template, TemplateError};
use std::collections::BTreeMap;

/// Maximum length of a name, so that tables stay readable.
const NAME_MAX: usize = 64;
/// Names that are reserved for kinds of the engine.
const TAKEN: [&str; 3] = ["begin", "commit", "rollback"];
/// Headers that dyno derives from the request and the connection.
const OWN_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "connection"];
/// Headers whose values are secrets.
const SECRET_HEADERS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Reads all tables. `workload` is the enclosing table.
pub(in crate::spec) fn read(workload: &Fields<'_>) -> Vec<RequestPlan> {
    let mut requests: Vec<RequestPlan> = Vec::new();
    for fields in workload.each("request", &REQUEST) {
        let Some(request) = request(&fields) else { continue };
        if requests.iter().any(|other| other.name == request.name) {
            let message = format!("two requests are called `{}`", request.name);
            fields.refuse(
                "name",
                message,
                "names must be unique: each request has separate response times",
            );
        }
        requests.push(request);
    }
    if requests.is_empty() && workload.problems.is_empty() {
        let message = "workload `http` has no requests";
        let help =
            "add for example:\n[[workload.request]]\nname = \"item\"\npath = \"/items/${key}\"";
        workload.refuse_table(message, help);
    }
    requests
}

fn request(fields: &Fields<'_>) -> Option<RequestPlan> {
    let name = fields.required_text("name", "add for example `name = \"item\"`");
    if let Some(name) = name
        && (name.len() > NAME_MAX || name.chars().any(char::is_control) || TAKEN.contains(&name))
    {
        let help = format!(
            "write at most {NAME_MAX} bytes without control characters, and none of {}",
            TAKEN.join(", ")
        );
        fields.refuse("name", format!("`{name}` is not a valid name of a request"), help);
    }
    let method = fields.text("method").unwrap_or("GET");
    if method.is_empty() || !method.bytes().all(is_token) || method == "CONNECT" {
        let help = "write for example `GET`, `POST`, `PUT`, `DELETE` or `HEAD`";
        fields.refuse("method", format!("`{method}` is not a valid HTTP method"), help);
    }
    let path = fields.required_text("path", "add for example `path = \"/items/${key}\"`");
    if let Some(path) = path
        && (!path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()))
    {
        let help = "a path begins with `/`; percent-encode special characters, such as `%20` for a \
                    blank";
        fields.refuse("path", format!("`{path}` is not a valid path"), help);
    }
    for (key, text) in [("path", path), ("body", fields.text("body"))] {
        if let (Some(text), Some(node)) = (text, fields.node(key)) {
            check_template(fields, node, text);
        }
    }
    Some(RequestPlan {
        name: name?.to_owned(),
        method: method.to_owned(),
        path: path?.to_owned(),
        headers: headers(fields),
        body: fields.text("body").map(str::to_owned),
        status: statuses(fields),
        body_holds: fields.text("body_holds").map(str::to_owned),
        weight: fields.integer("weight").unwrap_or(1),
    })
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn headers(fields: &Fields<'_>) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    let Some((table, _)) = fields.table("headers") else { return headers };
    for entry in &table.entries {
        let report =
            |span: Span, message: String, help: &str| fields.problems.refuse(span, message, help);
        let lower = entry.key.to_lowercase();
        if entry.key.is_empty() || !entry.key.bytes().all(is_token) {
            let help = "write letters, digits and hyphens";
            report(entry.key_span, format!("`{}` is not a valid header name", entry.key), help);
        } else if OWN_HEADERS.contains(&lower.as_str()) {
            let help = "remove it; the workload's `keep_alive = false` closes connections";
            report(entry.key_span, format!("dyno sets `{}` itself", entry.key), help);
        }
        let Value::Text(text) = &entry.node.value else {
            let path = format!("{}.{}", fields.path("headers"), entry.key);
            wrong_type(&entry.node, &path, "a string", fields.problems);
            continue;
        };
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            report(
                entry.node.span,
                format!("`{}` contains a control character", entry.key),
                "remove it",
            );
        }
        let has_variable = check_template(fields, &entry.node, text)
            .is_some_and(|it| it.variables().next().is_some());
        if SECRET_HEADERS.contains(&lower.as_str()) && !has_variable {
            fields.problems.hide(entry.node.span);
            let help = format!(
                "the spec is stored with the results and must hold no secret: write \
                 `{} = \"${{env:VARIABLE}}\"`",
                entry.key
            );
            report(entry.node.span, format!("the value of `{}` is a secret", entry.key), &help);
        }
        headers.insert(entry.key.clone(), text.clone());
    }
    headers
}

fn check_template(fields: &Fields<'_>, node: &Node, text: &str) -> Option<Template> {
    let refuse =
        |error: TemplateError| fields.problems.refuse(node.span, error.message, error.help);
    Template::parse(text).map_err(refuse).ok()
}

fn statuses(fields: &Fields<'_>) -> Vec<u16> {
    let Some(node) = fields.node("status") else { return Vec::new() };
    match &node.value {
        Value::List(items) => {
            items.iter().filter_map(|item| fields.integer_of("status", item)).collect()
        }
        _ => fields.integer("status").into_iter().collect(),
    }
}
