// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The interface `org.freedesktop.Application`, which desktops call for a `.desktop` file (Desktop
/// Entry Specification, "D-Bus Activation").
///
/// The manager's object has it, because the name of the file determines the object's path.
struct ApplicationInterface: Sendable {
    /// Returns the table to export at ``Contract/managerPath``.
    ///
    /// The platform data that a desktop sends describes windows and is ignored.
    static func table(for handler: any ManagerHandling) -> Interface {
        let manager = ManagerInterface(handler: handler)
        return Interface(
            Contract.applicationInterface,
            [
                .method(Contract.Method.activate, in: ["platform_data"]) {
                    (call: Call, _: [String: Value]) async throws in
                    try await manager.answer { () throws(ManagerError) in
                        try await handler.activate(call: call)
                    }
                },
                .method(Contract.Method.open, in: ["uris", "platform_data"]) {
                    (call: Call, uris: [String], _: [String: Value]) async throws in
                    try await manager.answer { () throws(ManagerError) in
                        guard uris.count <= Contract.maximumURLs else {
                            throw ManagerError(
                                .limitExceeded,
                                "Open takes at most \(Contract.maximumURLs) URIs, not \(uris.count)."
                            )
                        }
                        try await handler.open(uris, call: call)
                    }
                },
                .method(
                    Contract.Method.activateAction,
                    in: ["action_name", "parameter", "platform_data"]
                ) {
                    (call: Call, name: String, parameter: [Value], _: [String: Value]) async throws
                    in
                    try await manager.answer { () throws(ManagerError) in
                        let action = try action(name, parameter)
                        try await carryOut(action, handler, call)
                    }
                },
            ]
        )
    }

    private static func action(
        _ name: String,
        _ parameter: [Value]
    ) throws(ManagerError) -> Contract.Action {
        guard let action = Contract.Action(rawValue: name) else {
            let names = Contract.Action.allCases.map(\.rawValue).joined(separator: " and ")
            throw ManagerError(
                .invalidArguments,
                "There is no action \(QuotedText(name)). The actions are \(names)."
            )
        }
        guard parameter.isEmpty else {
            throw ManagerError(.invalidArguments, "The action \(name) takes no parameter.")
        }
        return action
    }

    private static func carryOut(
        _ action: Contract.Action,
        _ handler: any ManagerHandling,
        _ call: Call
    ) async throws(ManagerError) {
        switch action {
        case .startAll: _ = try await handler.carryOutOnAll(.resume, call: call)
        case .pauseAll: _ = try await handler.carryOutOnAll(.pause, call: call)
        }
    }
}
