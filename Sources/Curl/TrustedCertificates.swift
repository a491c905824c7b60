// SPDX-License-Identifier: Apache-2.0

/// The certification authorities that TLS servers and proxies are checked against.
public struct TrustedCertificates: Hashable, Sendable {
    /// A file of certificates in PEM form; nil uses the library's own.
    public var file: String?
    /// A folder of certificates, named as by c_rehash(1); nil uses the library's own.
    public var folder: String?

    /// Uses the library's own.
    public init() {}

    /// Reads the user's environment, as curl(1) does: `CURL_CA_BUNDLE` before `SSL_CERT_DIR` and
    /// `SSL_CERT_FILE`.
    ///
    /// - Parameter variable: returns a variable's value; nil where it is not set.
    public init(environment variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        file = value("CURL_CA_BUNDLE")
        guard file == nil else { return }
        folder = value("SSL_CERT_DIR")
        file = value("SSL_CERT_FILE")
    }
}
