// SPDX-License-Identifier: Apache-2.0

package import DBus

/// Knows who the clients on the bus are; each is looked at once, and its calls wait for that.
package actor Callers {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// So many clients are remembered; the bus never gives a name twice, so that none is missed.
    private static let mostKnown = 4_096

    private enum Entry {
        case known(Caller)
        /// Being looked at; those who wait for it, in the order in which they came.
        case asked([CheckedContinuation<Caller, Never>])
    }

    private nonisolated let executor: QueueExecutor
    private let probe: CallerProbe
    private var entries: [BusName: Entry] = [:]
    /// The id of the bus, so that a client's name means no other on a later one.
    private var busID: String?
    /// Those under way; each ends by itself.
    private var looks: [BusName: Task<Void, Never>] = [:]

    package init(executor: QueueExecutor) {
        self.init(executor: executor, probe: CallerProbe())
    }

    init(executor: QueueExecutor, probe: CallerProbe) {
        self.executor = executor
        self.probe = probe
    }

    /// How many clients are remembered or looked at.
    var known: Int { entries.count }

    /// Another bus has other clients.
    package func forgetAll() {
        busID = nil
        for (name, entry) in entries {
            if case .known = entry { entries[name] = nil }
        }
    }

    /// Who makes a call.
    func caller(of call: Call) async -> Caller {
        // Without a bus in between there is nobody but the user's own programs.
        guard let name = call.sender else { return .program }
        if case .known(let caller) = entries[name] { return caller }
        return await withCheckedContinuation { continuation in
            // Taken out first, so that the list is not copied for each.
            if case .asked(var waiting) = entries.removeValue(forKey: name) {
                waiting.append(continuation)
                entries[name] = .asked(waiting)
            } else {
                entries[name] = .asked([continuation])
                looks[name] = Task { await look(at: name, over: call.connection) }
            }
        }
    }

    private func look(at name: BusName, over connection: Connection) async {
        let caller = await identify(name, over: connection)
        // Whoever comes while those who waited go on queues up behind them.
        while case .asked(let waiting) = entries[name], !waiting.isEmpty {
            entries[name] = .asked([])
            for continuation in waiting { continuation.resume(returning: caller) }
            await Task.yield()
        }
        if entries.count > Self.mostKnown { forgetKnown() }
        entries[name] = .known(caller)
        looks[name] = nil
    }

    private func forgetKnown() {
        entries = entries.filter { entry in
            if case .known = entry.value { false } else { true }
        }
    }

    private func identify(_ name: BusName, over connection: Connection) async -> Caller {
        if let process = try? await connection.processID(of: name),
            let caller = await probe.caller(process: process),
            // Still there: so the number belonged to the caller when it was looked at.
            (try? await connection.processID(of: name)) == process
        {
            return caller
        }
        if busID == nil { busID = try? await connection.busID() }
        return .unknown(connection: "\(busID ?? "")\(name)")
    }
}
