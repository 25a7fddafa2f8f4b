//! TLS between the coordinator and its generators. The coordinator makes a key when it starts;
//! generators know its fingerprint. There are no certificates: keys are sent as they are (RFC
//! 7250).

use dyno_model::hex::hex;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
    UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
use std::sync::Arc;

/// The coordinator's side with a fresh key, and the fingerprint of the key.
///
/// # Errors
/// When the libraries refuse, in words.
pub(super) fn coordinator() -> Result<(Arc<ServerConfig>, String), String> {
    let provider = Arc::new(provider::default_provider());
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| "no key could be made".to_owned())?;
    let pkcs8 = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pkcs8.as_ref().to_vec()));
    let text_of = |error: rustls::Error| error.to_string();
    let key = provider.key_provider.load_private_key(pkcs8).map_err(text_of)?;
    let public = key.public_key().ok_or("the key has no public part")?.to_vec();
    let fingerprint = hex(digest(&SHA256, &public).as_ref());
    let certified = Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], key));
    let configuration = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(text_of)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified)));
    Ok((Arc::new(configuration), fingerprint))
}

/// A generator's side, which trusts the key with a fingerprint only.
///
/// # Errors
/// When the libraries refuse, in words.
pub(super) fn generator(fingerprint: &str) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(provider::default_provider());
    let pinned =
        Arc::new(Pinned { fingerprint: fingerprint.to_owned(), provider: Arc::clone(&provider) });
    let configuration = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_no_client_auth();
    Ok(Arc::new(configuration))
}

#[derive(Debug)]
struct Pinned {
    fingerprint: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if hex(digest(&SHA256, key).as_ref()) == self.fingerprint {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::General("its key does not have the expected fingerprint".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not used".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
