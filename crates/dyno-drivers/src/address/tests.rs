use super::*;

#[test]
fn loopback_sockets_and_files_share_the_machine_and_others_do_not() {
    let tcp = |host: &str| Endpoint::Tcp { host: host.to_owned(), port: 3306 };
    for endpoint in [
        tcp("127.0.0.1"),
        tcp("127.8.8.8"),
        tcp("::1"),
        tcp("localhost"),
        Endpoint::Unix("/x".into()),
        Endpoint::InProcess,
    ] {
        assert!(shares_machine(&endpoint), "{endpoint}");
    }
    // Addresses for documentation (RFC 5737) belong to nobody.
    assert!(!shares_machine(&tcp("192.0.2.1")));
    assert!(!shares_machine(&tcp("no-such-host.invalid")));
}
