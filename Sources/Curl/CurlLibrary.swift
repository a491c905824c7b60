// SPDX-License-Identifier: Apache-2.0

import CCurl

/// The library as a whole.
public enum CurlLibrary {
    /// The version that runs, for example `libcurl/7.88.1 OpenSSL/3.0.19`; `curl_version`.
    public static var version: String { curl_version().map { String(cString: $0) } ?? "libcurl" }

    /// Done once for the process and never undone: transfers may run until its last moment.
    private static let initialization = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Makes the library ready; `curl_global_init`.
    static func initialize(_ funnel: Funnel) throws(CurlFailure) {
        try funnel.call("curl_global_init") { initialization }
    }
}
