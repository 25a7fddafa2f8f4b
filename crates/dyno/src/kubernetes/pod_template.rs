//! Parts of pods that the Jobs of the coordinator and of generators have in common.

use serde_json::{Value, json};

/// Label of everything that dyno makes.
pub(super) const NAME_LABEL: &str = "app.kubernetes.io/name";
/// Label with the name of the Job that objects belong to.
pub(super) const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";
/// Label with the role of a pod: coordinator or generator.
pub(super) const ROLE_LABEL: &str = "app.kubernetes.io/component";

/// Labels of an object.
pub(super) fn labels(instance: &str, role: &str) -> Value {
    json!({ NAME_LABEL: "dyno", INSTANCE_LABEL: instance, ROLE_LABEL: role })
}

/// A pod's user and rights: those that the strictest standard for pods permits. The number is that
/// of scripts/image.
pub(super) fn security_context() -> Value {
    json!({
        "runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

/// A container of dyno with these arguments, which writes to /tmp only.
pub(super) fn container(name: &str, image: &str, arguments: &[String]) -> Value {
    json!({
        "name": name, "image": image, "args": arguments,
        // The end of its output explains a failure to those who cannot read logs.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": {
            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
    })
}

/// The volume of /tmp.
pub(super) fn tmp() -> Value {
    json!({ "name": "tmp", "emptyDir": {} })
}
