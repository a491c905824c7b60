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
            let ids = try await add(.opened(uris), AddOptions(), call)
            for id in ids.prefix(Self.mostToldOfHandOver) {
                if let task = try? await coordinator.task(id) { handedOver(task) }
            }
        }
    }

    /// Whoever shows what there is to the user is told.
    package func activate(token: String, call: Call) async throws(ManagerError) { activated(token) }
}
