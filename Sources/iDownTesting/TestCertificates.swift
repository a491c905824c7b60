// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A certification authority of a test's own, and a server that it vouches for.
///
/// Made by openssl(1) in a folder of the test; good for `localhost`, 127.0.0.1 and ::1.
package struct TestCertificates: Sendable {
    /// openssl refused.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The authority's certificate, PEM.
    package let authority: String
    /// The server's certificate and its key in one file, PEM.
    package let server: String

    /// Makes both.
    ///
    /// - Parameter folder: An existing folder of the test.
    /// - Throws: ``Failure``, ``ChildProcess/StartFailure``, ``TestFile/Failure``.
    package init(in folder: String) async throws {
        authority = folder + "/authority.pem"
        server = folder + "/server.pem"
        let (authorityKey, certificate, key) = (
            folder + "/authority.key", folder + "/certificate.pem", folder + "/certificate.key"
        )
        let common = ["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"]
        let curve = ["-pkeyopt", "ec_paramgen_curve:P-256"]
        try await Self.openssl(
            common + curve + ["-subj", "/CN=test authority"]
                + ["-keyout", authorityKey, "-out", authority]
        )
        try await Self.openssl(
            common + curve + ["-subj", "/CN=localhost", "-CA", authority, "-CAkey", authorityKey]
                + ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"]
                + ["-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-keyout", key, "-out", certificate]
        )
        try TestFile.write(
            try TestFile.bytes(of: certificate) + TestFile.bytes(of: key),
            to: server
        )
        chmod(server, 0o600)
    }

    private static func openssl(_ arguments: [String]) async throws {
        let made = try await ChildProcess.run("openssl", arguments)
        guard made.succeeded else { throw Failure(description: made.standardError) }
    }
}
