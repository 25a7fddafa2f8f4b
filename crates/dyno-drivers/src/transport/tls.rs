//! TLS with rustls on the same non-blocking sockets.

use dyno_files::{SCRIPT_MAX, open, reason};
use dyno_model::address::SYSTEM_AUTHORITIES;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use dyno_model::target::{ClientCertificate, Tls};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Configurations created so far. Connections to one system share a configuration, so that its
/// files are read once.
static CONFIGURATIONS: Mutex<Vec<(Encryption, Arc<ClientConfig>)>> = Mutex::new(Vec::new());

/// The key of a configuration.
type Encryption = (Tls, Option<ClientCertificate>);

/// The TLS configuration of a target; `None` when it is not encrypted.
///
/// # Errors
/// When the file of certificate authorities cannot be read or contains none, and when the client's
/// certificate and key cannot be read or do not match.
pub fn client_configuration(
    tls: &Tls,
    client: Option<&ClientCertificate>,
) -> Result<Option<Arc<ClientConfig>>, OperationFailure> {
    if *tls == Tls::Off {
        return Ok(None);
    }
    let mut known = lock(&CONFIGURATIONS);
    if let Some((_, configuration)) =
        known.iter().find(|((known, of), _)| known == tls && of.as_ref() == client)
    {
        return Ok(Some(Arc::clone(configuration)));
    }
    let provider = Arc::new(ring::default_provider());
    let trusted = match tls {
        Tls::Off | Tls::Preferred | Tls::Required => None,
        Tls::VerifyAuthority { ca } | Tls::Verify { ca } => Some(authorities(ca.as_deref())?),
    };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| FailureKind::Unsupported.failure(format!("TLS: {error}")))?;
    let builder = match (tls, trusted) {
        (Tls::Verify { .. }, Some(authorities)) => builder.with_root_certificates(authorities),
        (_, trusted) => {
            let verifier = Arc::new(AnyName { trusted, provider });
            builder.dangerous().with_custom_certificate_verifier(verifier)
        }
    };
    let mut configuration = match client {
        None => builder.with_no_client_auth(),
        Some(ClientCertificate { certificate, key: file }) => {
            let chain = certificates("client certificate", certificate)?;
            let key = "key of the client certificate";
            let key = PrivateKeyDer::from_pem_slice(&contents(key, file)?)
                .map_err(|error| unusable(key, file, &error.to_string()))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| unusable("client certificate", certificate, &error.to_string()))?
        }
    };
    // Tickets are kept by host name: those of one server would be offered to another one at another
    // port, and some servers then end the handshake. The databases' own clients resume nothing.
    configuration.resumption = Resumption::disabled();
    let configuration = Arc::new(configuration);
    known.push(((tls.clone(), client.cloned()), Arc::clone(&configuration)));
    Ok(Some(configuration))
}

/// The certificate authorities of a file, or those of the system.
fn authorities(file: Option<&Path>) -> Result<RootCertStore, OperationFailure> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file.filter(|file| *file != Path::new(SYSTEM_AUTHORITIES)) {
        for certificate in certificates("certificate authorities", file)? {
            let added = roots.add(certificate);
            added.map_err(|error| unusable("certificate authorities", file, &error.to_string()))?;
        }
        return Ok(roots);
    }
    for file in named_by_environment() {
        open(&file, SCRIPT_MAX)
            .map_err(|error| unusable("certificate authorities", &file, &reason(&error)))?;
    }
    let found = rustls_native_certs::load_native_certs();
    // Unparsable certificates of the system are ignored.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why: String = found.errors.iter().map(|error| format!(": {error}")).collect();
        let message = format!(
            "this system has no trusted certificate authorities{why}; name a file that contains \
             them (`sslrootcert=FILE`)"
        );
        return Err(FailureKind::Certificate.failure(message));
    }
    Ok(roots)
}

/// Files of certificate authorities named by the environment: those that `rustls_native_certs`
/// reads without checks.
fn named_by_environment() -> Vec<PathBuf> {
    let folders = std::env::var_os("SSL_CERT_DIR").unwrap_or_default();
    let entries = std::env::split_paths(&folders)
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file());
    files.chain(std::env::var_os("SSL_CERT_FILE").map(PathBuf::from)).collect()
}

/// All certificates of a PEM file, at least one.
fn certificates(what: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, OperationFailure> {
    let text = contents(what, file)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = read.map_err(|error| unusable(what, file, &error.to_string()))?;
    if certificates.is_empty() {
        return Err(unusable(what, file, "the file holds no PEM certificate"));
    }
    Ok(certificates)
}

fn contents(what: &str, file: &Path) -> Result<Vec<u8>, OperationFailure> {
    dyno_files::read(file, SCRIPT_MAX).map_err(|error| unusable(what, file, &reason(&error)))
}

fn unusable(what: &str, file: &Path, why: &str) -> OperationFailure {
    FailureKind::Certificate.failure(format!("{what} of {}: {why}", file.display()))
}

/// Accepts a certificate for any name: any certificate for `require`, or any signed by a trusted
/// authority for `verify-ca`.
#[derive(Debug)]
struct AnyName {
    trusted: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(trusted) = &self.trusted {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                trusted,
                intermediates,
                now,
                algorithms,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
