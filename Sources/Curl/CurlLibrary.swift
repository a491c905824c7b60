// SPDX-License-Identifier: Apache-2.0

import CCurl

/// libcurl as a whole.
public enum CurlLibrary {
    /// The version in use, for example `libcurl/7.88.1 OpenSSL/3.0.19`; `curl_version`.
    public static var version: String { curl_version().map { String(cString: $0) } ?? "libcurl" }

    /// Initialises once for the process.
    ///
    /// This is never undone, because transfers may run to its end.
    private static let initialization = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Initialises the library; `curl_global_init`.
    static func initialize(_ funnel: Funnel) throws(CurlFailure) {
        try funnel.call("curl_global_init") { initialization }
    }
}
