// SPDX-License-Identifier: Apache-2.0

import iDownBus

// Support for a service that was started before this command was installed.
extension ManagerClient {
    /// Throws unless the running service has a capability.
    ///
    /// - Parameters:
    ///   - capability: The capability that the service must have.
    ///   - deed: The action that needs it, as in "cannot verify downloads".
    /// - Throws: `UnknownMethod`, with a text that says that the service is older.
    func require(_ capability: Capability, to deed: String) async throws(ManagerError) {
        guard try await !capabilities().contains(capability) else { return }
        throw await tooOld(to: deed)
    }

    private func tooOld(to deed: String) async -> ManagerError {
        let version = try? await version()
        return ManagerError(
            .unknownMethod,
            "the running service\(version.map { " (\($0))" } ?? "") is older than this command and"
                + " cannot \(deed); to start the installed one: idown service restart"
        )
    }

    /// Returns the call that changes options of a task, which is another one for an older service.
    ///
    /// - Parameter options: Options with the keys of all that are to be changed.
    /// - Returns: The call, which takes the options and the task's ID.
    /// - Throws: `UnknownMethod` if the service is older and cannot change one of the options.
    func editor(
        of options: EditOptions
    ) async throws(ManagerError)
        -> @Sendable (EditOptions, String) async throws(ManagerError) -> Void
    {
        if try await capabilities().contains(.edit) {
            return { options, id throws(ManagerError) in try await setOptions(options, of: id) }
        }
        let names = Set(options.dictionary.keys).subtracting(Self.optionsWithCalls).sorted()
        guard names.isEmpty else {
            throw await tooOld(to: "change \(names.joined(separator: ", "))")
        }
        return { options, id throws(ManagerError) in try await setSingly(options, of: id) }
    }

    /// The options that every service can change, each by a call of its own.
    private static var optionsWithCalls: [String] {
        ["url", "priority", "speed-limit", "connections"]
    }

    /// Changes one option after the other; the URL first, which a state may not allow.
    private func setSingly(_ options: EditOptions, of id: String) async throws(ManagerError) {
        if let url = options.url { try await setURL(id, to: url) }
        if let priority = options.values.priority { try await setPriority(priority, of: id) }
        if let limit = options.values.speedLimit { try await setSpeedLimit(limit, of: id) }
        if let count = options.values.connections { try await setMaxConnections(count, of: id) }
    }
}
