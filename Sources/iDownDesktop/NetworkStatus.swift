// SPDX-License-Identifier: Apache-2.0

import DBus

/// What somebody says of the network.
struct NetworkStatus: Hashable, Sendable {
    var isCaptive: Bool
    var isMetered: Bool

    init(isCaptive: Bool = false, isMetered: Bool = false) {
        self.isCaptive = isCaptive
        self.isMetered = isMetered
    }

    /// Reads the properties of `org.freedesktop.NetworkManager`; nil where there are none.
    ///
    /// NMConnectivityState 2 is a portal; NMMetered 1 is yes and 3 a guess that says yes. Its
    /// State is not asked: it calls a computer offline whose links others look after, and the
    /// kernel knows better.
    init?(networkManager properties: [String: Value]) {
        guard !properties.isEmpty else { return nil }
        isCaptive = properties["Connectivity"] == .uint32(2)
        isMetered = [.uint32(1), .uint32(3)].contains(properties["Metered"])
    }
}
