// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A certification authority of a test's own, and a server certificate that it has signed.
///
/// openssl(1) makes them in a folder of the test, for `localhost`, 127.0.0.1 and ::1.
package struct TestCertificates: Sendable {
    /// openssl(1) failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The path of the authority's certificate, PEM.
    package let authority: String
    /// The path of a PEM file with the server's certificate and its key.
    package let server: String

    /// Makes the authority and the server certificate.
    ///
    /// - Parameter folder: An existing folder of the test.
    /// - Throws: ``Failure``, ``ChildProcess/StartFailure``, ``TestFile/Failure``.
    package init(in folder: String) async throws {
        authority = folder + "/authority.pem"
        server = folder + "/server.pem"
        let (authorityKey, certificate, key) = (
            folder + "/authority.key", folder + "/certificate.pem", folder + "/certificate.key"
        )
        try await Self.openssl(
            ["req"] + Self.newKey + Self.selfSigned + ["-subj", "/CN=test authority"]
                + ["-keyout", authorityKey, "-out", authority]
        )
        try await Self.openssl(
            ["req"] + Self.newKey + Self.selfSigned + ["-CA", authority, "-CAkey", authorityKey]
                + Self.subject + ["-keyout", key, "-out", certificate]
        )
        try Self.join(certificate, key, as: server)
    }

    /// Makes an expired certificate of the authority for the same hosts; returns the path of a PEM
    /// file with certificate and key.
    package func expired(in folder: String) async throws -> String {
        let (key, request, certificate) = (
            folder + "/expired.key", folder + "/expired.csr", folder + "/expired.crt"
        )
        try await Self.openssl(
            ["req"] + Self.newKey + Self.subject + ["-keyout", key, "-out", request]
        )
        // The authority's key is beside its certificate.
        let authorityKey = authority.replacing(".pem", with: ".key")
        try await Self.openssl(
            ["x509", "-req", "-copy_extensions", "copy", "-in", request, "-CA", authority]
                + ["-CAkey", authorityKey, "-days", "-1", "-out", certificate]
        )
        let joined = folder + "/expired.pem"
        try Self.join(certificate, key, as: joined)
        return joined
    }

    /// Makes a self-signed certificate for the same hosts; returns the path of a PEM file with
    /// certificate and key.
    package func selfSigned(in folder: String) async throws -> String {
        let (key, certificate) = (folder + "/self.key", folder + "/self.crt")
        try await Self.openssl(
            ["req"] + Self.newKey + Self.selfSigned + Self.subject + [
                "-keyout", key, "-out", certificate,
            ]
        )
        let joined = folder + "/self.pem"
        try Self.join(certificate, key, as: joined)
        return joined
    }

    private static let newKey = [
        "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
    ]
    private static let subject = [
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1",
        "-addext", "basicConstraints=critical,CA:FALSE",
    ]
    private static let selfSigned = ["-x509", "-days", "2"]

    private static func join(_ certificate: String, _ key: String, as path: String) throws {
        try TestFile.write(
            try TestFile.bytes(of: certificate) + TestFile.bytes(of: key),
            to: path
        )
        chmod(path, 0o600)
    }

    private static func openssl(_ arguments: [String]) async throws {
        let made = try await ChildProcess.run("openssl", arguments)
        guard made.succeeded else { throw Failure(description: made.standardError) }
    }
}
