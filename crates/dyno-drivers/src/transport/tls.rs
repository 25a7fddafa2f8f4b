//! TLS by rustls, driven over the same non-blocking sockets.

use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{ClientCertificate, Tls};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::path::Path;
use std::sync::Arc;

/// The TLS configuration of a target; `None` when it is not encrypted. Make it once and share it: it holds the session cache.
///
/// # Errors
/// When the file of certificate authorities cannot be read or holds none, and when the client's certificate and key are not to be had
/// or do not belong together.
pub fn client_configuration(
    tls: &Tls,
    client: Option<&ClientCertificate>,
) -> Result<Option<Arc<ClientConfig>>, OperationFailure> {
    if matches!(tls, Tls::Off) {
        return Ok(None);
    }
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| OperationFailure::new(FailureKind::Unsupported, format!("TLS: {error}")))?;
    let builder = match tls {
        Tls::Off => return Ok(None),
        Tls::Required => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
        Tls::Verify { ca } => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates("certificate authorities", ca)? {
                let added = roots.add(certificate);
                added.map_err(|error| unusable("certificate authorities", ca, &error.to_string()))?;
            }
            builder.with_root_certificates(roots)
        }
    };
    let configuration = match client {
        None => builder.with_no_client_auth(),
        Some(ClientCertificate { certificate, key: file }) => {
            let chain = certificates("client certificate", certificate)?;
            let key = PrivateKeyDer::from_pem_file(file)
                .map_err(|error| unusable("key of the client certificate", file, &error.to_string()))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| unusable("client certificate", certificate, &error.to_string()))?
        }
    };
    Ok(Some(Arc::new(configuration)))
}

/// All certificates of a PEM file, at least one.
fn certificates(what: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, OperationFailure> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|error| unusable(what, file, &error.to_string()))?;
    if certificates.is_empty() {
        return Err(unusable(what, file, "the file holds no PEM certificate"));
    }
    Ok(certificates)
}

fn unusable(what: &str, file: &Path, why: &str) -> OperationFailure {
    OperationFailure::new(FailureKind::Authentication, format!("{what} of {}: {why}", file.display()))
}

/// Accepts whatever certificate the server shows: encryption without authentication, as `tls=required` says.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
