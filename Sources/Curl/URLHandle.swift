// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// A parser of libcurl's URL interface; used by one thread, for one URL.
final class URLHandle {
    private let funnel: Funnel
    private let pointer: OpaquePointer

    /// `curl_url`.
    init(_ funnel: Funnel) throws(URLFailure) {
        do throws(CurlFailure) {
            pointer = try funnel.call("curl_url") { curl_url() }
        } catch {
            throw .outOfMemory
        }
        self.funnel = funnel
    }

    deinit { curl_url_cleanup(pointer) }

    /// Reads an absolute URL, or one relative to the URL that was read before; `curl_url_set`.
    func set(_ text: String) throws(URLFailure) {
        let flags = UInt32(bitPattern: CURLU_NON_SUPPORT_SCHEME)
        try check(funnel.call("curl_url_set") { curl_url_set(pointer, CURLUPART_URL, text, flags) })
    }

    /// The host in lowercase ASCII.
    func normalizedHost() throws(URLFailure) -> String {
        guard let given = try get(CURLUPART_HOST), !given.isEmpty else { throw .noHost }
        // libcurl has decoded the host once: what is still encoded would mean another host next
        // time.
        guard !given.utf8.contains(UInt8(ascii: "%")) || given.hasPrefix("[") else {
            throw .host
        }
        let isASCII = given.utf8.allSatisfy { $0 < 0x80 }
        let host = (isASCII ? given : try asciiHost()).lowercased()
        // The host is read as libcurl would read it next time, which may be another one: libcurl
        // looks for numbers (`2130706433`) before it decodes a percent-encoded host, the decoded
        // characters may be ones that no host can have, and IDNA turns some characters into other
        // ASCII ones: U+037E becomes a semicolon.
        let parser = try URLHandle(funnel)
        try parser.set("http://\(host)/")
        let name = try parser.get(CURLUPART_HOST) ?? host
        guard name != "." else { throw .host }
        guard let zone = try get(CURLUPART_ZONEID), name.hasSuffix("]") else { return name }
        return "\(name.dropLast())%25\(zone)]"
    }

    /// Returns an international host in its ASCII form (RFC 5891).
    private func asciiHost() throws(URLFailure) -> String {
        // libidn2 reads the name in the locale's encoding, and programs may run in the C locale.
        guard let unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else {
            throw .host
        }
        let previous = uselocale(unicode)
        defer {
            uselocale(previous)
            freelocale(unicode)
        }
        let host: String
        do throws(URLFailure) {
            host = try get(CURLUPART_HOST, flags: CURLU_PUNYCODE) ?? ""
        } catch {
            // For a name that IDNA refuses, this version of libcurl reports a lack of memory.
            throw .host
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { throw .host }
        return host
    }

    func clear(_ part: CURLUPart) throws(URLFailure) {
        try check(funnel.call("curl_url_set") { curl_url_set(pointer, part, nil, 0) })
    }

    /// Returns a part of the URL; nil where the URL has no such part; `curl_url_get`.
    func get(_ part: CURLUPart, flags: Int32 = 0) throws(URLFailure) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = funnel.call("curl_url_get") {
            curl_url_get(pointer, part, &text, UInt32(bitPattern: flags))
        }
        defer { curl_free(text) }
        switch code {
        case CURLUE_NO_SCHEME, CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_OPTIONS,
            CURLUE_NO_HOST, CURLUE_NO_PORT, CURLUE_NO_QUERY, CURLUE_NO_FRAGMENT, CURLUE_NO_ZONEID:
            return nil
        default:
            try check(code)
            return text.map { String(cString: $0) }
        }
    }

    private func check(_ code: CURLUcode) throws(URLFailure) {
        switch code {
        case CURLUE_OK: return
        case CURLUE_OUT_OF_MEMORY: throw .outOfMemory
        case CURLUE_BAD_SCHEME, CURLUE_UNSUPPORTED_SCHEME, CURLUE_NO_SCHEME:
            throw .scheme
        case CURLUE_BAD_SLASHES: throw .slashes
        case CURLUE_NO_HOST: throw .noHost
        case CURLUE_BAD_HOSTNAME, CURLUE_BAD_IPV6, CURLUE_LACKS_IDN: throw .host
        case CURLUE_BAD_PORT_NUMBER: throw .port
        case CURLUE_BAD_LOGIN, CURLUE_BAD_USER, CURLUE_BAD_PASSWORD, CURLUE_URLDECODE:
            throw .userInfo
        default: throw .syntax
        }
    }
}
