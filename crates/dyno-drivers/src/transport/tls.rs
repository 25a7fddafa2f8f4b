//! TLS by rustls, driven over the same non-blocking sockets.

use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;

/// The TLS configuration of a target; `None` when it is not encrypted. Make it once and share it: it holds the session cache.
///
/// # Errors
/// When the file of certificate authorities cannot be read or holds none.
pub fn client_configuration(tls: &Tls) -> Result<Option<Arc<ClientConfig>>, OperationFailure> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| OperationFailure::new(FailureKind::Unsupported, format!("TLS: {error}")))?;
    let configuration = match tls {
        Tls::Off => return Ok(None),
        Tls::Required => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
        Tls::Verify { ca } => {
            let unusable = |why: String| {
                OperationFailure::new(
                    FailureKind::Authentication,
                    format!("certificate authorities of {}: {why}", ca.display()),
                )
            };
            let mut roots = RootCertStore::empty();
            for certificate in
                CertificateDer::pem_file_iter(ca).map_err(|error| unusable(error.to_string()))?
            {
                let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(unusable("the file holds no PEM certificate".to_owned()));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(Some(Arc::new(configuration)))
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
