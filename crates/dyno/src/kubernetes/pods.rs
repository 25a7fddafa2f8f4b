//! What is wrong with pods, in words, from what the API server knows about them.

use dyno_model::printable::line;
use serde_json::Value;
use std::collections::BTreeSet;

/// States of a container that do not pass, or only when somebody changes something.
const HOPELESS: [&str; 6] = [
    "ErrImageNeverPull",
    "ImagePullBackOff",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// Name of a pod.
pub(super) fn name(pod: &Value) -> &str {
    pod["metadata"]["name"].as_str().unwrap_or("?")
}

/// True for a pod that is being ended.
pub(super) fn is_deleted(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_string()
}

/// The generator that a pod is.
fn index(pod: &Value) -> Option<u32> {
    let index = &pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"];
    index.as_str()?.parse().ok()
}

fn text(value: &Value) -> String {
    line(value.as_str().unwrap_or_default().trim()).into_owned()
}

/// The statuses of a pod's containers, those that prepare it first.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| pod["status"][list].as_array().into_iter().flatten())
}

/// A condition of an object that is true.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|it| it["type"] == kind && it["status"] == "True")
}

/// Why the scheduler finds no node for a pod.
pub(super) fn unschedulable(pod: &Value) -> Option<String> {
    let conditions = pod["status"]["conditions"].as_array()?;
    let condition = conditions.iter().find(|it| {
        it["type"] == "PodScheduled" && it["status"] == "False" && it["reason"] == "Unschedulable"
    })?;
    Some(format!("no node can run pod {}: {}", name(pod), text(&condition["message"])))
}

/// Why a pod was removed from its node, if it was.
pub(super) fn disruption(pod: &Value) -> Option<String> {
    if pod["status"]["reason"] == "Evicted" {
        return Some(format!("pod {} was evicted: {}", name(pod), text(&pod["status"]["message"])));
    }
    let condition = condition(pod, "DisruptionTarget")?;
    let reason = condition["reason"].as_str().unwrap_or_default();
    let how = match reason {
        "EvictionByEvictionAPI" | "TerminationByKubelet" => "was evicted",
        "PreemptionByScheduler" => "was preempted by a pod with a higher priority",
        _ => "was removed from its node",
    };
    Some(format!("pod {} {how} ({reason}): {}", name(pod), text(&condition["message"])))
}

/// Why a container of a pod cannot run, if it cannot.
pub(super) fn hopeless(pod: &Value) -> Option<String> {
    let container = containers(pod).find(|container| {
        let waiting = container["state"]["waiting"]["reason"].as_str();
        waiting.is_some_and(|reason| HOPELESS.contains(&reason))
    })?;
    let waiting = &container["state"]["waiting"];
    Some(format!(
        "image {} does not start in pod {} ({}): {}",
        text(&container["image"]),
        name(pod),
        text(&waiting["reason"]),
        text(&waiting["message"])
    ))
}

/// How a container of a pod failed, if one did.
pub(super) fn failure(pod: &Value) -> Option<String> {
    let ended = containers(pod).map(|container| &container["state"]["terminated"]);
    let ended = ended.into_iter().find(|it| it["exitCode"].as_i64().is_some_and(|code| code != 0));
    let name = name(pod);
    if let Some(ended) = ended {
        let message = text(&ended["message"]);
        let message = if message.is_empty() { message } else { format!(": {message}") };
        return Some(match ended["reason"].as_str() {
            Some("OOMKilled") => {
                format!("pod {name} needed more memory than it is allowed{message}")
            }
            _ => format!("pod {name} ended with exit code {}{message}", ended["exitCode"]),
        });
    }
    (pod["status"]["phase"] == "Failed").then(|| {
        let (reason, message) = (text(&pod["status"]["reason"]), text(&pod["status"]["message"]));
        format!("pod {name} failed ({reason}): {message}")
    })
}

/// Why a Job cannot go on, if it cannot; `seen` has the generators whose pods existed. Deleting one
/// pod makes the Job end all others, so that the first cause is looked for first.
pub(super) fn problem(job: &Value, pods: &[Value], seen: &mut BTreeSet<u32>) -> Option<String> {
    let present: BTreeSet<u32> = pods.iter().filter_map(index).collect();
    let gone = seen.difference(&present).next();
    let gone = gone.map(|index| format!("the pod of generator {index} was deleted"));
    seen.extend(&present);
    let is_failing = condition(job, "FailureTarget").or(condition(job, "Failed"));
    pods.iter()
        .find_map(disruption)
        .or_else(|| pods.iter().find_map(hopeless))
        .or_else(|| pods.iter().filter(|pod| !is_deleted(pod)).find_map(failure))
        .or(gone)
        .or_else(|| {
            let pod = pods.iter().find(|pod| is_deleted(pod))?;
            Some(failure(pod).unwrap_or_else(|| format!("pod {} was deleted", name(pod))))
        })
        .or_else(|| {
            let (reason, message) = (text(&is_failing?["reason"]), text(&is_failing?["message"]));
            Some(format!("the Job failed ({reason}): {message}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(index: u32, status: Value) -> Value {
        let mut pod = json!({ "metadata": {
            "name": format!("g-{index}"),
            "annotations": { "batch.kubernetes.io/job-completion-index": index.to_string() },
        } });
        pod["status"] = status;
        pod
    }

    fn deleted(mut pod: Value) -> Value {
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        pod
    }

    #[test]
    fn the_reason_of_a_failed_job_is_the_first_cause() {
        let running = || pod(0, json!({ "phase": "Running" }));
        let ended = |code: i32, reason: &str, message: &str| {
            let ended = json!({ "exitCode": code, "reason": reason, "message": message });
            json!({ "phase": "Failed", "containerStatuses": [{ "state": { "terminated": ended } }] })
        };
        let waiting = |reason: &str| {
            let waiting = json!({ "reason": reason, "message": "not there" });
            let container = json!({ "image": "dyno:1", "state": { "waiting": waiting } });
            json!({ "phase": "Pending", "containerStatuses": [container] })
        };
        let disrupted = json!({ "phase": "Running", "conditions": [{
            "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        }] });
        let failed = json!({ "status": { "conditions": [{
            "type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too long",
        }] } });
        let rows = [
            (vec![running()], Value::Null, None),
            (vec![running(), pod(1, waiting("ContainerCreating"))], Value::Null, None),
            (
                vec![deleted(running()), deleted(pod(1, disrupted))],
                failed.clone(),
                Some("pod g-1 was evicted (EvictionByEvictionAPI): Eviction API: evicting"),
            ),
            (
                vec![pod(0, json!({ "reason": "Evicted", "message": "low on memory" }))],
                failed.clone(),
                Some("pod g-0 was evicted: low on memory"),
            ),
            (
                vec![running(), pod(1, waiting("ErrImageNeverPull"))],
                Value::Null,
                Some("image dyno:1 does not start in pod g-1 (ErrImageNeverPull): not there"),
            ),
            (
                vec![deleted(running()), pod(1, ended(6, "Error", "error: it refuses"))],
                failed.clone(),
                Some("pod g-1 ended with exit code 6: error: it refuses"),
            ),
            (
                vec![pod(0, ended(137, "OOMKilled", ""))],
                Value::Null,
                Some("pod g-0 needed more memory than it is allowed"),
            ),
            (
                vec![running(), deleted(pod(1, Value::Null))],
                failed.clone(),
                Some("pod g-1 was deleted"),
            ),
            (vec![running()], failed, Some("the Job failed (DeadlineExceeded): too long")),
        ];
        for (pods, job, expected) in rows {
            let found = problem(&job, &pods, &mut BTreeSet::new());
            assert_eq!(found.as_deref(), expected, "{pods:?}");
        }
        let mut seen = BTreeSet::new();
        assert_eq!(problem(&Value::Null, &[running(), pod(1, Value::Null)], &mut seen), None);
        let found = problem(&Value::Null, &[running()], &mut seen);
        assert_eq!(found.as_deref(), Some("the pod of generator 1 was deleted"));
    }

    #[test]
    fn a_pod_without_a_node_has_the_schedulers_reason() {
        let condition = json!({ "type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available" });
        let pod = pod(2, json!({ "phase": "Pending", "conditions": [condition] }));
        let found = unschedulable(&pod);
        assert_eq!(found.as_deref(), Some("no node can run pod g-2: 0/1 nodes are available"));
        assert_eq!(hopeless(&pod), None);
    }
}
