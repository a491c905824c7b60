// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus

/// The interface `org.freedesktop.Application`, which desktops call for a `.desktop` file (Desktop
/// Entry Specification, "D-Bus Activation").
///
/// The manager's object has it, because the name of the file determines the object's path.
struct ApplicationInterface: Sendable {
    /// Returns the table to export at ``Contract/managerPath``.
    ///
    /// Of the platform data that a desktop sends, only the activation token is used.
    static func table(for service: ManagerService) -> Interface {
        Interface(
            Contract.applicationInterface,
            [
                .method(Contract.Method.activate, in: ["platform_data"]) {
                    (_: Call, data: [String: Value]) in
                    service.activated(token(in: data))
                },
                .method(Contract.Method.open, in: ["uris", "platform_data"]) {
                    (call: Call, uris: [String], _: [String: Value]) in
                    guard uris.count <= Contract.maximumURLs else {
                        throw ManagerError(
                            .limitExceeded,
                            "Open takes at most \(Contract.maximumURLs) URIs, not \(uris.count)."
                        )
                    }
                    try await service.open(call, uris)
                },
                .method(
                    Contract.Method.activateAction,
                    in: ["action_name", "parameter", "platform_data"]
                ) { (call: Call, name: String, parameter: [Value], _: [String: Value]) in
                    _ = try await service.carryOutOnAll(call, try method(of: name, parameter))
                },
            ],
            errors: service.wording
        )
    }

    /// Returns the activation token, which has a newer and an older name; empty where there is
    /// none.
    private static func token(in data: [String: Value]) -> String {
        for name in [Contract.activationToken, "desktop-startup-id"] {
            if case .string(let token)? = data[name], token.utf8.count <= longestToken {
                return token
            }
        }
        return ""
    }

    /// The most bytes of a token; tokens of compositors have fewer than 100.
    private static let longestToken = 1024

    /// The actions of the `.desktop` file, with the methods that they carry out on all tasks.
    private static let actions: KeyValuePairs<String, TaskMethod> = [
        "start-all": .resume, "pause-all": .pause,
    ]

    private static func method(
        of name: String,
        _ parameter: [Value]
    ) throws(ManagerError) -> TaskMethod {
        guard let action = actions.first(where: { $0.key == name }) else {
            let names = actions.map(\.key).joined(separator: " and ")
            throw ManagerError(
                .invalidArguments,
                "There is no action \(QuotedText(name)). The actions are \(names)."
            )
        }
        guard parameter.isEmpty else {
            throw ManagerError(.invalidArguments, "The action \(name) takes no parameter.")
        }
        return action.value
    }
}
