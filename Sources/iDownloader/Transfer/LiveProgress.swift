// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a running transfer does at this moment, to be read at any time without waiting.
package final class LiveProgress: Sendable {
    package enum Activity: UInt8, Sendable {
        case connecting, transferring, verifying
    }

    private let storedBytes: Atomic<Int64>
    private let storedActivity = Atomic<UInt8>(Activity.connecting.rawValue)
    private let storedConnections = Atomic<Int>(0)
    /// −1 while unknown.
    private let storedTotal = Atomic<Int64>(-1)

    package init(bytes: Int64, total: Int64?) {
        storedBytes = Atomic(bytes)
        self.total = total
    }

    /// The bytes that this file has by now, those not yet synced included.
    package internal(set) var bytes: Int64 {
        get { storedBytes.load(ordering: .relaxed) }
        set { storedBytes.store(newValue, ordering: .relaxed) }
    }

    /// The bytes of the whole file; nil while unknown.
    package internal(set) var total: Int64? {
        get {
            let total = storedTotal.load(ordering: .relaxed)
            return total < 0 ? nil : total
        }
        set { storedTotal.store(newValue ?? -1, ordering: .relaxed) }
    }

    package internal(set) var activity: Activity {
        get { Activity(rawValue: storedActivity.load(ordering: .relaxed)) ?? .connecting }
        set { storedActivity.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Connections that are open now.
    package internal(set) var connections: Int {
        get { storedConnections.load(ordering: .relaxed) }
        set { storedConnections.store(newValue, ordering: .relaxed) }
    }
}
