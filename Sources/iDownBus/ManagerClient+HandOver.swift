// SPDX-License-Identifier: Apache-2.0

internal import DBus

// Hand-overs from a browser, which holds its own response meanwhile.
extension ManagerClient {
    private typealias Name = Contract.Method

    /// Hands over a download whose response a browser holds.
    ///
    /// The service asks the server itself, and compares the answer with what the browser saw. The
    /// task is provisional then: it is in no list before ``confirm(_:)``. Cancel the browser's own
    /// download first, and call ``confirm(_:)`` then; if anything goes wrong, call ``withdraw(_:)``
    /// and let the browser go on.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - options: The options, with a token, and what the browser knows.
    /// - Returns: The id of the future task.
    /// - Throws: `Disagreed` if the answers differ, or after 3 seconds; nothing is left then.
    ///   `InvalidState` for a token that was withdrawn; the errors of ``addURL(_:options:)``;
    ///   `AccessDenied` from a sandbox.
    public func handOver(
        _ url: String,
        options: HandOverOptions
    ) async throws(ManagerError) -> String {
        try await call(Name.handOver, url, options.dictionary, returning: String.self)
    }

    /// Makes what was handed over a task like any other; the browser has cancelled its own download.
    ///
    /// - Returns: The task's id: that of an unfinished task with the same URL, if there is one.
    /// - Throws: `NoSuchTask` for a token that is unknown, or was withdrawn.
    public func confirm(_ token: String) async throws(ManagerError) -> String {
        try await call(Name.confirm, token, returning: String.self)
    }

    /// Takes away what was handed over, confirmed or not; the token is never taken again.
    ///
    /// It may be called before ``handOver(_:options:)`` has been answered, and for a token that
    /// nobody knows. A finished file stays.
    public func withdraw(_ token: String) async throws(ManagerError) {
        try await call(Name.withdraw, token)
    }
}
