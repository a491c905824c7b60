// SPDX-License-Identifier: Apache-2.0

internal import DBus

// Downloads that a browser hands over; the browser keeps its own response open meanwhile.
extension ManagerClient {
    private typealias Name = Contract.Method

    /// Hands over a download that a browser has begun and holds.
    ///
    /// The service sends the request itself, and compares the answer with what the browser saw. The
    /// task is then provisional: no list contains it before ``confirm(_:)``. Cancel the browser's
    /// own download first, then call ``confirm(_:)``. If anything goes wrong, call ``withdraw(_:)``
    /// and let the browser continue.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - options: The options, with a token, and what the browser knows about the download.
    /// - Returns: The id of the future task.
    /// - Throws: `Disagreed` if the answers differ, or after 3 seconds; no task is left then.
    ///   `InvalidState` for a token that was withdrawn; the errors of ``addURL(_:options:)``;
    ///   `AccessDenied` from a sandbox.
    public func handOver(
        _ url: String,
        options: HandOverOptions
    ) async throws(ManagerError) -> String {
        try await call(Name.handOver, url, options.dictionary, returning: String.self)
    }

    /// Turns a handed-over download into a normal task; cancel the browser's own download first.
    ///
    /// - Returns: The task's id: that of an unfinished task with the same URL, if there is one.
    /// - Throws: `NoSuchTask` for a token that is unknown or was withdrawn.
    public func confirm(_ token: String) async throws(ManagerError) -> String {
        try await call(Name.confirm, token, returning: String.self)
    }

    /// Removes a handed-over download, confirmed or not; its token is never accepted again.
    ///
    /// It may be called before ``handOver(_:options:)`` has been answered, and for an unknown
    /// token. A finished file stays.
    public func withdraw(_ token: String) async throws(ManagerError) {
        try await call(Name.withdraw, token)
    }
}
