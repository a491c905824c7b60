// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownloader

// What the desktop asks for through `org.freedesktop.Application`.
extension ManagerService {
    /// Nobody reads more names than that.
    private static let mostToldOfHandOver = 100

    package func open(_ uris: [String], call: Call) async throws(ManagerError) {
        try await named {
            let ids = try await inTurn(call) {
                let wishes = await wishes(for: callers.caller(of: call).owner)
                return try await wishes.judge(opened: uris)
            } handIn: { tasks in
                try await coordinator.add(tasks, token: nil)
            }
            for id in ids.prefix(Self.mostToldOfHandOver) {
                if let task = try? await coordinator.task(id) { handedOver(task) }
            }
        }
    }

    /// There is no window: whoever shows what there is to the user is told.
    package func activate(call: Call) async throws(ManagerError) { activated() }

    /// Judges what a caller wants, by its rights.
    func wishes(for owner: String?) -> Wishes {
        var rules = rules
        if owner != nil { rules.enclosingFolder = directory }
        return Wishes(
            engine: engine,
            downloadDirectory: directory,
            rules: rules,
            owner: owner
        )
    }
}
