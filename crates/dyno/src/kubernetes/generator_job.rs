//! Creates the Job of the generators, follows it until it ends, and says why
//! it failed. It runs in the coordinator's pod as the process of the launcher.

use super::api_server::{ApiError, ApiServer};
use super::pod_template::{container, labels, security_context, tmp};
use super::pods::{condition, problem, unschedulable};
use crate::cli::KubernetesJobArguments;
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_model::exit_code;
use dyno_model::launcher::label_pairs;
use rustix::system::uname;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::env;
use std::time::{Duration, Instant};

/// Pause between two looks at the Job, for one pod and for each further one.
const PAUSE: Duration = Duration::from_millis(400);
const PAUSE_PER_POD: Duration = Duration::from_millis(4);
/// How long pods may be without a node: a cluster that adds nodes takes minutes, and pods that fit
/// on none wait forever.
const SCHEDULE_LIMIT: Duration = Duration::from_secs(240);
/// How long the API server may be silent while generators work.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// After this time the cluster ends generators, seconds: each run begins new ones after a failure,
/// and generators end by themselves when their coordinator is gone.
const DEADLINE: u32 = 7 * 86_400;
/// When the Job has ended, it is removed after this time, seconds, if the coordinator is gone.
const KEPT: u32 = 3;

/// Creates and follows the Job, or deletes it.
///
/// # Errors
/// When the Job cannot be created, or fails.
pub(crate) fn run(arguments: &KubernetesJobArguments, printer: Printer) -> Result<u8, Failure> {
    let failed = |text: String| Failure::new(exit_code::RUN_INCOMPLETE, text);
    let mut server = ApiServer::new().map_err(failed)?;
    let jobs = format!("/apis/batch/v1/namespaces/{}/jobs", server.namespace);
    let job = format!("{jobs}/{}", arguments.name);
    if arguments.delete {
        return match server.delete(&job) {
            Err(error) if error.status != Some(404) => Err(failed(error.text)),
            _ => Ok(exit_code::OK),
        };
    }
    let refused = |what: &str, error: ApiError| {
        let failure = failed(format!("{what}: {}", error.text));
        match error.status {
            Some(401 | 403) => failure.help(
                "the coordinator's service account must be allowed to get and list pods, and to \
                 create, get and delete jobs; `dyno launch kubernetes` makes such a role",
            ),
            _ => failure,
        }
    };
    let own = uname().nodename().to_string_lossy().into_owned();
    let own = server
        .get(&format!("/api/v1/namespaces/{}/pods/{own}", server.namespace))
        .map_err(|error| refused("cannot read the coordinator's own pod", error))?;
    let passed = arguments.variable.iter();
    let passed = passed
        .map(|name| json!({ "name": name, "value": env::var(name).unwrap_or_default() }))
        .collect();
    let manifest = manifest(arguments, &own, passed);
    server
        .create(&jobs, &manifest)
        .map_err(|error| refused("cannot create the Job of the generators", error))?;
    follow(&mut server, &job, arguments, printer).map_err(failed)?;
    Ok(exit_code::OK)
}

/// Waits for the end of the Job.
fn follow(
    server: &mut ApiServer,
    job: &str,
    arguments: &KubernetesJobArguments,
    printer: Printer,
) -> Result<(), String> {
    let (name, namespace) = (&arguments.name, server.namespace.clone());
    let pods = format!(
        "/api/v1/namespaces/{namespace}/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3D{name}"
    );
    let (began, mut heard) = (Instant::now(), Instant::now());
    let (mut seen, mut reported) = (BTreeSet::new(), String::new());
    loop {
        let mut state = || Ok((server.get(job)?, server.get(&pods)?));
        match state() {
            Ok((job, mut pods)) => {
                heard = Instant::now();
                let pods = pods["items"].take();
                let pods = pods.as_array().map(Vec::as_slice).unwrap_or_default();
                if let Some(reason) = problem(&job, pods, &mut seen) {
                    return Err(reason);
                }
                if condition(&job, "Complete").is_some() {
                    return Ok(());
                }
                let waiting = pods.iter().find_map(unschedulable);
                let waiting = waiting.or_else(|| {
                    let is_none = pods.is_empty() && began.elapsed() > Duration::from_secs(5);
                    is_none.then(|| {
                        format!(
                            "Kubernetes has made no pod for the Job {name}: see `kubectl -n \
                             {namespace} describe job {name}`"
                        )
                    })
                });
                match waiting {
                    Some(reason) if began.elapsed() > SCHEDULE_LIMIT => return Err(reason),
                    Some(reason) if reason != reported => {
                        printer.note(&reason);
                        reported = reason;
                    }
                    _ => {}
                }
            }
            Err(ApiError { status: Some(404), .. }) => {
                return Err("the Job of the generators was deleted".to_owned());
            }
            Err(error) if heard.elapsed() > SILENCE_LIMIT => return Err(error.text),
            Err(_) => {}
        }
        std::thread::sleep(PAUSE + PAUSE_PER_POD * arguments.generators);
    }
}

/// The Job: one pod for each generator, with the image of the coordinator. It belongs to the
/// coordinator's pod, with which the cluster removes it.
fn manifest(arguments: &KubernetesJobArguments, own: &Value, environment: Vec<Value>) -> Value {
    let coordinator = own["spec"]["containers"].as_array().into_iter().flatten();
    let image = coordinator.map(|it| &it["image"]).find_map(Value::as_str).unwrap_or_default();
    let mut generator = container("generator", image, &["generator".to_owned()]);
    generator["command"] = json!([arguments.program]);
    generator["env"] = Value::Array(environment);
    let mut resources = Map::new();
    if arguments.cpus > 0 {
        resources.insert("cpu".to_owned(), json!(arguments.cpus.to_string()));
    }
    resources.insert("memory".to_owned(), json!(arguments.memory));
    // Equal limits: with whole processors, a node can give them to the pod alone.
    generator["resources"] = json!({ "requests": resources, "limits": resources });
    let mut pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": 5,
        "securityContext": security_context(),
        "containers": [generator],
        "volumes": [tmp()],
    });
    for inherited in ["nodeSelector", "tolerations", "imagePullSecrets"] {
        pod[inherited] = own["spec"][inherited].clone();
    }
    if let Some(pairs) = arguments.anti_affinity.as_deref().and_then(label_pairs) {
        let labels: Map<String, Value> =
            pairs.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        pod["affinity"] = json!({ "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": { "matchLabels": labels },
            }],
        } });
    }
    let labels = labels(&arguments.name, "generator");
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": arguments.name,
            "labels": labels,
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Pod",
                "name": own["metadata"]["name"], "uid": own["metadata"]["uid"],
            }],
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": arguments.generators,
            "parallelism": arguments.generators,
            "backoffLimit": 0,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": DEADLINE,
            "ttlSecondsAfterFinished": KEPT,
            "template": { "metadata": { "labels": labels }, "spec": pod },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::pod_template::ROLE_LABEL;
    use super::*;

    fn arguments() -> KubernetesJobArguments {
        KubernetesJobArguments {
            name: "g".to_owned(),
            delete: false,
            generators: 4,
            program: "/dyno".to_owned(),
            cpus: 2,
            memory: "1Gi".to_owned(),
            variable: Vec::new(),
            anti_affinity: Some("app=postgres,tier=db".to_owned()),
        }
    }

    fn own() -> Value {
        json!({
            "metadata": { "name": "c-x", "uid": "u" },
            "spec": { "containers": [{ "name": "dyno", "image": "dyno:1" }], "nodeSelector": { "a": "b" } },
        })
    }

    #[test]
    fn a_job_has_a_pod_for_each_generator_and_replaces_none() {
        let job = manifest(&arguments(), &own(), vec![json!({ "name": "DYNO_TOKEN" })]);
        let spec = &job["spec"];
        assert_eq!(spec["completionMode"], "Indexed");
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&json!(4), &json!(4)));
        assert_eq!(
            (&spec["backoffLimit"], &spec["podReplacementPolicy"]),
            (&json!(0), &json!("Failed"))
        );
        let pod = &spec["template"]["spec"];
        assert_eq!(
            (&pod["restartPolicy"], &pod["nodeSelector"]["a"]),
            (&json!("Never"), &json!("b"))
        );
        assert_eq!(pod["automountServiceAccountToken"], false);
        let container = &pod["containers"][0];
        assert_eq!(
            (&container["image"], &container["command"]),
            (&json!("dyno:1"), &json!(["/dyno"]))
        );
        assert_eq!(container["env"][0]["name"], "DYNO_TOKEN");
        // Whole processors for it alone.
        assert_eq!(container["resources"]["requests"], json!({ "cpu": "2", "memory": "1Gi" }));
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        let apart = &pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            [0];
        assert_eq!(
            apart["labelSelector"]["matchLabels"],
            json!({ "app": "postgres", "tier": "db" })
        );
        // It is removed with the coordinator's pod.
        assert_eq!(job["metadata"]["ownerReferences"][0]["uid"], "u");
        assert_eq!(spec["template"]["metadata"]["labels"][ROLE_LABEL], "generator");
    }

    #[test]
    fn generators_may_share_the_processors_of_a_node() {
        let arguments = KubernetesJobArguments { cpus: 0, anti_affinity: None, ..arguments() };
        let job = manifest(&arguments, &own(), Vec::new());
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(pod["containers"][0]["resources"]["requests"], json!({ "memory": "1Gi" }));
        assert_eq!(pod["affinity"], Value::Null);
    }
}
