// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// Keeps the logins of URLs where nobody can read them: the desktop's keyring.
///
/// It never waits for a person: what is locked is as good as not there.
package protocol LoginVault: Sendable {
    /// Whether it can be read and written now.
    var isOpen: Bool { get async }

    /// Keeps logins.
    ///
    /// - Returns: whether they are kept.
    func keep(_ logins: URLLogins, at id: String) async -> Bool

    /// What is kept; nil where it cannot be read.
    func urlLogins(keptAt id: String) async -> URLLogins?

    /// What this service keeps there.
    var ids: [String] { get async }

    /// Forgets logins; where that cannot be done they stay among the ``ids``.
    func forget(_ id: String) async
}

/// What the coordinator knows of the logins that it has put away.
struct LoginCustody {
    /// More are known by the vault alone.
    static let mostKnown = 1_000
    /// So many tasks at once.
    static let batch = 256

    var vault: (any LoginVault)?
    /// At work; nil while there is nothing to do.
    var keeper: Task<Void, Never>?
    var isWanted = false
    /// Whether vault and list were compared since the vault was opened.
    var hasCompared = false
    /// What is kept, by where.
    private(set) var known: [String: URLLogins] = [:]
    private var ids: [URLLogins: String] = [:]
    /// No task has these any more, or so it seems.
    private(set) var released: Set<String> = []

    /// Where the same logins are kept already.
    func id(of logins: URLLogins) -> String? { ids[logins] }

    mutating func note(_ logins: URLLogins, at id: String) {
        if known.count >= Self.mostKnown {
            known = [:]
            ids = [:]
        }
        known[id] = logins
        ids[logins] = id
    }

    /// More than anybody counts are found when vault and list are compared.
    mutating func release(_ id: String) {
        if released.count < Self.mostKnown { released.insert(id) } else { hasCompared = false }
    }

    mutating func takeReleased() -> Set<String> {
        defer { released = [] }
        return released
    }

    mutating func forget(_ id: String) {
        if let logins = known.removeValue(forKey: id) { ids[logins] = nil }
    }
}
