// SPDX-License-Identifier: Apache-2.0

import CCurl

extension EasyHandle {
    /// Sets the options for a request; the handle must be fresh or reset.
    ///
    /// - Parameters:
    ///   - request: what to get.
    ///   - login: how to sign in over SSH in this try.
    /// - Throws: ``CurlFailure`` for a request that cannot be sent, and for lack of memory.
    func apply(
        _ request: TransferRequest,
        signingInBy login: SSHAccess.Login?
    ) throws(CurlFailure) {
        if let objection = request.objection {
            throw CurlFailure(code: .badRequest, description: objection)
        }
        try collectFailureText()
        try applyHouseRules()
        try applyAddress(request)
        try applyLimits(request)
        try applyWay(request)
        try applyStoredLogins(request)
        if !request.url.isHTTP { try applyFileServer(request, signingInBy: login) }
        try set(CURLOPT_HTTPHEADER, request.headerLines)
        let readsToEnd = try applyReadingToEnd(request)
        if let range = request.range, !readsToEnd {
            // Never RESUME_FROM: with it libcurl treats a 416, and a 200 of the wrong length, as
            // success.
            let last = range.last.map { "\($0)" } ?? ""
            try set(CURLOPT_RANGE, "\(range.first)-\(last)")
        }
        if let cookies = request.cookies { try set(CURLOPT_COOKIE, cookies) }
        if !request.userAgent.isEmpty { try set(CURLOPT_USERAGENT, request.userAgent) }
    }

    /// Sets the options that are the same for every transfer.
    private func applyHouseRules() throws(CurlFailure) {
        // Signals belong to the process; name lookup has its own thread and needs none.
        try set(CURLOPT_NOSIGNAL, 1)
        // A hanging name lookup must not block the whole pool when its transfer is given up.
        try set(CURLOPT_QUICK_EXIT, 1)
        // The caller follows redirects, judges statuses and decodes bodies: libcurl 7.88 accepts a
        // compressed body that ends too early.
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_FAILONERROR, 0)
        try set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // The proxy's answer to CONNECT is not the host's.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
    }

    /// Sets URL and login separately, so that no message of libcurl can repeat the login.
    private func applyAddress(_ request: TransferRequest) throws(CurlFailure) {
        try set(CURLOPT_URL, request.url.withoutUserInfo)
        // Only the URL's own scheme is allowed. One that is not served stays forbidden, because
        // `http` is allowed in its place.
        let isServed = URLReference.servedSchemes.contains(request.url.scheme)
        try set(CURLOPT_PROTOCOLS_STR, isServed ? request.url.scheme : "http")
        if let user = request.credentials?.user ?? request.url.user {
            try set(CURLOPT_USERNAME, user)
        }
        if let password = request.credentials?.password ?? request.url.password {
            try set(CURLOPT_PASSWORD, password)
        }
        switch request.httpVersion {
        case .http1: try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2:
            try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            // Waits for a connection that is being made, to use a stream of it, before making
            // another.
            try set(CURLOPT_PIPEWAIT, 1)
        }
    }

    private func applyLimits(_ request: TransferRequest) throws(CurlFailure) {
        switch request.reuse {
        case .asUsual: break
        case .usedWithin(let seconds):
            try set(CURLOPT_MAXAGE_CONN, max(0, seconds))
            try set(CURLOPT_DNS_CACHE_TIMEOUT, min(60, max(0, seconds)))
        case .never:
            try set(CURLOPT_FRESH_CONNECT, 1)
            try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        }
        try set(CURLOPT_CONNECTTIMEOUT_MS, request.connectTimeout.wholeMilliseconds)
        let silence = request.silenceTimeout.wholeMilliseconds
        if silence > 0 {
            // Fewer than one byte a second for this time. A paused transfer is not checked, and
            // resuming it restarts the time (lib/speedcheck.c, lib/easy.c).
            try set(CURLOPT_LOW_SPEED_LIMIT, 1)
            try set(CURLOPT_LOW_SPEED_TIME, silence / 1000 + (silence % 1000 == 0 ? 0 : 1))
        }
        // libcurl's own bounds (CURL_MAX_READ_SIZE).
        let size = min(max(request.receiveBufferSize, 1024), 10 * 1024 * 1024)
        try set(CURLOPT_BUFFERSIZE, size)
    }
}

extension Duration {
    /// The milliseconds for libcurl: not negative, rounded up, clamped to what an int can hold.
    var wholeMilliseconds: Int {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        return Int(min(max(0, whole + (rest > 0 ? 1 : 0)), Int128(Int32.max)))
    }
}
