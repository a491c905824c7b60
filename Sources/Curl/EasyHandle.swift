// SPDX-License-Identifier: Apache-2.0

import CCurl

/// An easy handle, with everything that must live as long as its transfer.
///
/// Belongs to the pool's thread. Several transfers use it, one after the other.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// Whether a reset removes everything that another transfer must not get; cookies stay
    /// (curl_easy_reset(3)).
    private(set) var isReusable = true
    private let funnel: Funnel
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorText: UnsafeMutableBufferPointer<CChar>

    /// `curl_easy_init`.
    init(_ funnel: Funnel) throws(CurlFailure) {
        pointer = try funnel.call("curl_easy_init") { curl_easy_init() }
        self.funnel = funnel
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0)
    }

    deinit {
        // Also removes the handle from a multi handle that still contains it.
        curl_easy_cleanup(pointer)
        freeLists()
        errorText.deallocate()
    }

    /// Removes the last transfer's options, keeps what speeds up the next one; `curl_easy_reset`.
    func reset() {
        curl_easy_reset(pointer)
        freeLists()
        errorText.update(repeating: 0)
    }

    private func freeLists() {
        for list in lists { curl_slist_free_all(list) }
        lists = []
    }

    /// Whether the next transfer can set the size of its receive buffer.
    ///
    /// After some ends libcurl keeps the buffer, for example of a request that waited for an HTTP/2
    /// connection which then went away. It refuses every size while it has one (lib/setopt.c of
    /// 7.88).
    var hasLeftItsBuffer: Bool { (try? set(CURLOPT_BUFFERSIZE, 16 << 10)) != nil }

    /// libcurl's text on the failure: more exact than the code's description, but often empty.
    var failureText: String {
        let bytes = UnsafeRawBufferPointer(errorText).prefix { $0 != 0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Options

    /// Makes libcurl describe failures in ``failureText``.
    func collectFailureText() throws(CurlFailure) {
        try set(CURLOPT_ERRORBUFFER, errorText.baseAddress.map(UnsafeMutableRawPointer.init))
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") { ccurl_setopt_long(pointer, option, value) }
    }

    func set(_ option: CURLoption, _ value: String) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") { ccurl_setopt_string(pointer, option, value) }
    }

    /// The memory behind the pointer must outlive the transfer.
    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") { ccurl_setopt_pointer(pointer, option, value) }
    }

    func set(_ option: CURLoption, function: @escaping curl_write_callback) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") {
            ccurl_setopt_write_function(pointer, option, function)
        }
    }

    func set(openSocket function: @escaping curl_opensocket_callback) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") { ccurl_setopt_open_socket_function(pointer, function) }
    }

    func set(beforeRequest function: @escaping curl_prereq_callback) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") { ccurl_setopt_prereq_function(pointer, function) }
    }

    func set(judgeHostKey function: @escaping curl_sshkeycallback) throws(CurlFailure) {
        try funnel.call("curl_easy_setopt") { ccurl_setopt_ssh_key_function(pointer, function) }
    }

    /// Reads cookies for this transfer; the handle must not be used for another one.
    func set(cookieFile: String) throws(CurlFailure) {
        isReusable = false
        try set(CURLOPT_COOKIEFILE, cookieFile)
    }

    /// Sets a list of lines, which are copied.
    func set(_ option: CURLoption, _ lines: [String]) throws(CurlFailure) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            let start = try funnel.call("curl_slist_append") { curl_slist_append(list, line) }
            // The first line stays the list's start.
            if list == nil { lists.append(start) }
            list = start
        }
        try funnel.call("curl_easy_setopt") { ccurl_setopt_list(pointer, option, list) }
    }

    /// Keeps libcurl from waiting for the server's last reply when the handle is removed from its
    /// multi handle: over SFTP it waits for as long as silence is allowed.
    ///
    /// Where that fails, the removal takes longer.
    func hurry() { try? set(CURLOPT_TIMEOUT_MS, 1) }

    /// Continues reading; callbacks may be called before this returns; `curl_easy_pause`.
    func unpause() throws(CurlFailure) {
        try funnel.call("curl_easy_pause") { curl_easy_pause(pointer, CURLPAUSE_CONT) }
    }

    // MARK: Facts about the transfer. A missing fact is no failure of the transfer.

    func number(_ info: CURLINFO) -> Int? {
        var value = 0
        return read { ccurl_getinfo_long(pointer, info, &value) } ? value : nil
    }

    /// Returns a large number, for example a time or a length; libcurl returns -1 for an unknown
    /// one.
    func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = 0
        return read { ccurl_getinfo_offset(pointer, info, &value) } ? Int64(value) : nil
    }

    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard read({ ccurl_getinfo_string(pointer, info, &value) }) else { return nil }
        return value.map { String(cString: $0) }
    }

    /// The TLS of the connection that the transfer uses at present; nil without one.
    ///
    /// Two transfers with the same TLS use the same connection.
    var tls: UnsafeMutableRawPointer? {
        var value: UnsafeMutableRawPointer?
        return read { ccurl_getinfo_tls(pointer, &value) } ? value : nil
    }

    private func read(_ body: () -> CURLcode) -> Bool {
        (try? funnel.call("curl_easy_getinfo", body)) != nil
    }
}
