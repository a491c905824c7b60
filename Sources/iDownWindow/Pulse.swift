// SPDX-License-Identifier: Apache-2.0

import CGtk
import DBus
import iDownBus
import iDownSettings
import iDownView

/// Finds out whether the service answers; while it does not, banners say so.
final class Pulse {
    private let client: ManagerClient
    private var question: Task<Void, Never>?
    /// The banner that all others follow.
    private let first = Pulse.label.keep()

    /// Whether the service has not answered for ``patience``.
    private(set) var isSilent = false {
        didSet { first.set("visible", .flag(isSilent)) }
    }

    /// Called when the service answers again after it was silent.
    var answered: () -> Void = {}

    /// The time without an answer after which the window says so.
    private static let patience: Duration = .seconds(5)

    init(_ connection: Connection) {
        client = ManagerClient(connection, patience: ManagerClient.noLimit, startsService: false)
    }

    /// Asks the service for something that it always answers quickly.
    ///
    /// Call it together with each call whose answer the user waits for. At most one question is
    /// under way; a service that hung answers it when it goes on, and the bus answers it when the
    /// service ends.
    func check() {
        guard question == nil else { return }
        let client = client
        question = Task {
            let patience = Task {
                try? await Task.sleep(for: Self.patience)
                if !Task.isCancelled { isSilent = true }
            }
            let hasAnswered = (try? await client.value(of: .maxConcurrentDownloads)) != nil
            patience.cancel()
            question = nil
            guard isSilent else { return }
            isSilent = false
            // A service that has ended is not started again until the user asks for something.
            if hasAnswered { answered() }
        }
    }

    /// Makes a banner that is visible while the service does not answer.
    func banner() -> Object {
        let banner = Self.label
        g_object_bind_property(
            first.raw,
            "visible",
            banner.raw,
            "visible",
            GBindingFlags(rawValue: G_BINDING_SYNC_CREATE.rawValue)
        )
        return banner
    }

    private static var label: Object {
        .label(
            translated("idown does not answer. What is shown may be out of date."),
            classes: ["banner"],
            ["wrap": true, "xalign": 0.5, "visible": false]
        )
    }
}
