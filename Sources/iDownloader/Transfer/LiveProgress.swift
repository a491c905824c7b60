// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// What a running transfer does at this moment, to be read at any time without waiting for it.
package final class LiveProgress: Sendable {
    package enum Activity: UInt8, Sendable {
        case connecting, transferring, verifying
    }

    private struct State {
        /// What the transfer knows to be in the file, its open segments left out.
        var stored: SegmentMap
        var writers: [SegmentWriter] = []
    }

    private let state: Mutex<State>
    private let storedActivity = Atomic<UInt8>(Activity.connecting.rawValue)
    private let storedConnections = Atomic<Int>(0)
    /// −1 while unknown.
    private let storedTotal = Atomic<Int64>(-1)

    package init(stored: SegmentMap, total: Int64?) {
        state = Mutex(State(stored: stored))
        self.total = total
    }

    /// The bytes that this file has by now, those in buffers included; none counts twice.
    package var bytes: Int64 { map { $0.taken }.byteCount }

    /// The ranges that are in the file by now, those not yet synced included.
    package var segments: SegmentMap { map { $0.written } }

    private func map(_ range: (SegmentWriter) -> ByteRange?) -> SegmentMap {
        var (map, writers) = state.withLock { ($0.stored, $0.writers) }
        for writer in writers {
            if let range = range(writer) { map.insert(range) }
        }
        return map
    }

    /// From now on these ranges count as stored.
    func store(_ segments: SegmentMap) { state.withLock { $0.stored = segments } }

    /// From now on what this writer takes counts as well.
    func follow(_ writer: SegmentWriter) { state.withLock { $0.writers.append(writer) } }

    /// What it took has been stored, or was given up.
    func leave(_ writer: SegmentWriter) {
        state.withLock { state in state.writers.removeAll { $0 === writer } }
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
