// SPDX-License-Identifier: Apache-2.0

extension Failure {
    /// Returns the failure for a final status other than success (RFC 9110 section 15, RFC 6585,
    /// RFC 7725), or for a 202 that says when to ask again.
    package static func status(_ status: Int, retryAfter: Duration? = nil) -> Failure {
        var failure = classify(status)
        guard failure.isTransient else { return failure }
        // A server that asks for no pause gets the usual one, which grows.
        failure.retryAfter = retryAfter.flatMap { $0 > .zero ? $0 : nil }
        return failure
    }

    /// Whether the pause that the server asks for is for this file alone, which it is still making.
    package var restsFileAlone: Bool { self == .status(202, retryAfter: retryAfter) }

    private static func classify(_ status: Int) -> Failure {
        let text = "The server answered HTTP \(status)\(phrase(of: status))."
        let ownFault = text + " The fault is the server's: a later try may succeed."
        return switch status {
        case 202:
            Failure(
                .serverBusy,
                text + " The server is still making the file: a later try may succeed.",
                isTransient: true
            )
        case 404, 410: Failure(.serverNotFound, text + " Check the URL, or \(freshLink)")
        case 403, 451: Failure(.serverForbidden, text + " The link may have expired: \(freshLink)")
        case 401: Failure(.serverAuthRequired, text + loginAdvice)
        case 407: Failure(.serverAuthRequired, text + " Put a login into the URL of the proxy.")
        case 408, 425, 429, 503:
            Failure(
                .serverBusy,
                text + " The server is busy: a later try may succeed.",
                isTransient: true
            )
        case 416: Failure(.serverRangeRefused, text + " Try another link: \(freshLink)")
        // A portal answers in the server's place until somebody signs in (RFC 6585 section 6).
        case 511:
            Failure(
                .networkUnreachable,
                text + " The network wants somebody to sign in first: open any page in a browser.",
                isTransient: true
            )
        // Another connection may reach the right server (RFC 9110 section 15.5.20).
        case 421: Failure(.serverBadResponse, ownFault, isTransient: true)
        case 500, 502, 504, 520...529: Failure(.serverFailed, ownFault, isTransient: true)
        case 501...599: Failure(.serverFailed, ownFault)
        default: Failure(.serverBadResponse, text + " Check the URL, or \(freshLink)")
        }
    }

    /// Says how to give a download a login.
    package static let loginAdvice = " Store a login with `idown login URL`."

    /// Says how to give a download another URL; it ends a sentence.
    package static let freshLink = "give a fresh link with `\(editing)ID --url URL`."

    /// Says how to give a download another file name.
    package static let otherName = "Choose another name with `\(editing)ID --output NAME`."

    private static let editing = "idown edit "

    /// Returns the message for people, with the task's id in the command that it names.
    package func message(for id: TaskID) -> String {
        message.replacing(Self.editing + "ID", with: "\(Self.editing)\(id)", maxReplacements: 1)
    }

    /// The message for people where the list has no task to change.
    package var messageWithoutTask: String {
        message.replacing(Self.freshLink, with: "get a fresh link.")
    }

    /// Returns the status in words with a leading blank (RFC 9110 section 15, RFC 6585, RFC 7725);
    /// empty for an uncommon status.
    private static func phrase(of status: Int) -> String {
        switch status {
        case 202: " Accepted"
        case 400: " Bad Request"
        case 401: " Unauthorized"
        case 403: " Forbidden"
        case 404: " Not Found"
        case 407: " Proxy Authentication Required"
        case 408: " Request Timeout"
        case 410: " Gone"
        case 421: " Misdirected Request"
        case 416: " Range Not Satisfiable"
        case 429: " Too Many Requests"
        case 451: " Unavailable For Legal Reasons"
        case 500: " Internal Server Error"
        case 502: " Bad Gateway"
        case 503: " Service Unavailable"
        case 504: " Gateway Timeout"
        case 511: " Network Authentication Required"
        default: ""
        }
    }
}
