//! The objects of a run in a cluster: the spec with its scripts, an account that may start
//! generators and read no secrets, and the Job of the coordinator.

use super::pod_template::{INSTANCE_LABEL, container, labels, security_context, tmp};
use super::volume::RUN;
use crate::cli::SecretVariable;
use serde_json::{Map, Value, json};

/// Where the volumes are in the pod.
pub(super) const RESULTS: &str = "/results";
pub(super) const SPEC: &str = "/spec";
/// The containers of the pod: dyno itself; one that holds the results until they are copied; one
/// that waits for those of an earlier run.
pub(super) const DYNO: &str = "dyno";
pub(super) const HOLDER: &str = "results";
pub(super) const EARLIER: &str = "earlier-results";
/// After this time the cluster ends the run, seconds.
const DEADLINE: u32 = 7 * 86_400;
/// How long the coordinator may take to end its trial and write its results when the pod is being
/// ended, and the results to be copied, seconds.
const GRACE: u32 = 60;
/// When it has ended, the Job is removed after this time, seconds.
const KEPT: u32 = 3_600;

/// A run in a cluster.
#[derive(Debug)]
pub(super) struct CoordinatorJob<'a> {
    /// Name of all its objects.
    pub(super) name: &'a str,
    /// `None`: that of kubectl's configuration.
    pub(super) namespace: Option<&'a str>,
    pub(super) image: &'a str,
    /// Command line of dyno.
    pub(super) arguments: &'a [String],
    /// Spec and scripts: path in the volume, and text.
    pub(super) files: &'a [(String, String)],
    pub(super) secrets: &'a [SecretVariable],
    /// True when earlier results are put into the pod before it starts.
    pub(super) resumes: bool,
}

impl CoordinatorJob<'_> {
    /// The Job; it starts when it is no longer suspended.
    pub(super) fn job(&self, is_suspended: bool) -> Value {
        let dyno = self.container(DYNO, self.arguments);
        let volume = |command: &str| {
            let words = ["volume", command, RESULTS];
            words.map(str::to_owned)
        };
        let holder = self.container(HOLDER, &volume("hold"));
        let mut dyno = dyno;
        // Where the coordinator keeps the key with which it signs its tables.
        let state = json!({ "name": "XDG_STATE_HOME", "value": RESULTS });
        let secrets = self.secrets.iter().map(secret_variable);
        dyno["env"] = secrets.chain([state]).collect();
        dyno["resources"] = json!({ "requests": { "cpu": "500m", "memory": "256Mi" } });
        let mut pod = json!({
            "restartPolicy": "Never",
            "serviceAccountName": self.name,
            "enableServiceLinks": false,
            "terminationGracePeriodSeconds": GRACE,
            "securityContext": security_context(),
            "containers": [dyno, holder],
            "volumes": [
                tmp(),
                { "name": "results", "emptyDir": {} },
                { "name": "spec", "configMap": { "name": self.name, "items": self.items() } },
            ],
        });
        if self.resumes {
            let earlier = self.container(EARLIER, &volume("hold"));
            pod["initContainers"] = json!([earlier]);
        }
        let labels = labels(self.name, "coordinator");
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": self.metadata(&Value::Null),
            "spec": {
                "suspend": is_suspended,
                "backoffLimit": 0,
                "podReplacementPolicy": "Failed",
                "activeDeadlineSeconds": DEADLINE,
                "ttlSecondsAfterFinished": KEPT,
                "template": { "metadata": { "labels": labels }, "spec": pod },
            },
        })
    }

    fn container(&self, name: &str, arguments: &[String]) -> Value {
        let mut container = container(name, self.image, arguments);
        if let Some(mounts) = container["volumeMounts"].as_array_mut() {
            mounts.push(json!({ "name": "results", "mountPath": RESULTS }));
            mounts.push(json!({ "name": "spec", "mountPath": SPEC, "readOnly": true }));
        }
        container
    }

    /// Everything but the Job, as a list; `owner` is the Job, with which the cluster removes them.
    pub(super) fn others(&self, owner: &Value) -> Value {
        let metadata = self.metadata(owner);
        let texts: Map<String, Value> =
            self.files.iter().enumerate().map(|(i, (_, text))| (key(i), json!(text))).collect();
        let rule = |group: &str, resource: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs });
        let rules = [
            rule("batch", "jobs", &["create", "get", "delete"]),
            rule("", "pods", &["get", "list"]),
        ];
        // The name of an account is complete with its namespace only.
        let namespace = owner["metadata"]["namespace"].as_str().or(self.namespace);
        let account =
            json!({ "kind": "ServiceAccount", "name": self.name, "namespace": namespace });
        let role = json!({
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": self.name,
        });
        let rbac = "rbac.authorization.k8s.io/v1";
        list(&[
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": texts }),
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata }),
            json!({ "apiVersion": rbac, "kind": "Role", "metadata": metadata, "rules": rules }),
            json!({
                "apiVersion": rbac, "kind": "RoleBinding", "metadata": metadata,
                "subjects": [account], "roleRef": role,
            }),
        ])
    }

    fn metadata(&self, owner: &Value) -> Value {
        let labels = labels(self.name, "coordinator");
        let mut metadata = json!({ "name": self.name, "labels": labels });
        if let Some(namespace) = self.namespace {
            metadata["namespace"] = json!(namespace);
        }
        if owner.is_object() {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "batch/v1", "kind": "Job",
                "name": self.name, "uid": owner["metadata"]["uid"],
            }]);
        }
        metadata
    }

    /// Which file of the volume has which text.
    fn items(&self) -> Vec<Value> {
        let item =
            |(i, (path, _)): (usize, &(String, String))| json!({ "key": key(i), "path": path });
        self.files.iter().enumerate().map(item).collect()
    }
}

/// Selects the objects of a run.
pub(super) fn selector(name: &str) -> String {
    format!("{INSTANCE_LABEL}={name}")
}

/// The run's results folder in the pod.
pub(super) fn results_in_pod() -> String {
    format!("{RESULTS}/{RUN}")
}

/// Objects as one document.
pub(super) fn list(objects: &[Value]) -> Value {
    json!({ "apiVersion": "v1", "kind": "List", "items": objects })
}

fn key(number: usize) -> String {
    format!("file-{number}")
}

fn secret_variable(it: &SecretVariable) -> Value {
    json!({
        "name": it.variable,
        "valueFrom": { "secretKeyRef": { "name": it.secret, "key": it.key } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_reads_no_secrets_and_passwords_are_references() {
        let secrets = ["PGPASSWORD=shop-db/password".parse().expect("it is one")];
        let job = CoordinatorJob {
            name: "dyno-rush-1",
            namespace: None,
            image: "dyno:1",
            arguments: &["run".to_owned(), "/spec/rush.toml".to_owned()],
            files: &[("rush.toml".to_owned(), "title = \"a\"".to_owned())],
            secrets: &secrets,
            resumes: false,
        };
        let others = job.others(&json!({ "metadata": { "uid": "u", "namespace": "perf" } }));
        let objects = others["items"].as_array().expect("it is a list");
        let rules = objects[2]["rules"].to_string();
        assert!(!rules.contains("secrets") && !rules.contains('*'), "{rules}");
        assert_eq!(objects[3]["subjects"][0]["namespace"], "perf");
        assert!(objects.iter().all(|it| it["metadata"]["ownerReferences"][0]["uid"] == "u"));
        let pod = &job.job(false)["spec"]["template"]["spec"];
        assert_eq!(
            pod["containers"][0]["env"],
            json!([
                { "name": "PGPASSWORD", "valueFrom": {
                    "secretKeyRef": { "name": "shop-db", "key": "password" } } },
                { "name": "XDG_STATE_HOME", "value": "/results" },
            ])
        );
        assert_eq!(
            pod["volumes"][2]["configMap"]["items"],
            json!([{ "key": "file-0", "path": "rush.toml" }])
        );
        assert_eq!(pod["initContainers"], Value::Null);
        assert!(job.others(&Value::Null)["items"][0]["metadata"]["ownerReferences"].is_null());
    }
}
