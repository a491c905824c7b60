// SPDX-License-Identifier: Apache-2.0

extension Failure {
    /// What a final status other than success means (RFC 9110 section 15, RFC 6585, RFC 7725).
    package static func status(_ status: Int, retryAfter: Duration? = nil) -> Failure {
        var failure = classify(status)
        guard failure.isTransient else { return failure }
        failure.retryAfter = retryAfter
        if let retryAfter, retryAfter > RetryPolicy.longestRetryAfter {
            failure.code = .serverBusy
            failure.isTransient = false
            failure.message +=
                " and asks to be left alone for \(retryAfter.components.seconds) seconds"
        }
        return failure
    }

    private static func classify(_ status: Int) -> Failure {
        let text = "the server answered HTTP \(status)"
        return switch status {
        case 404, 410: Failure(.serverNotFound, text)
        case 403, 451: Failure(.serverForbidden, text)
        case 401, 407: Failure(.serverAuthRequired, text)
        case 408, 425, 429, 503: Failure(.serverBusy, text, isTransient: true)
        case 416: Failure(.serverRangeRefused, text)
        case 500, 502, 504, 520...529: Failure(.serverFailed, text, isTransient: true)
        case 501...599: Failure(.serverFailed, text)
        default: Failure(.serverBadResponse, text)
        }
    }
}
