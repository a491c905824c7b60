// SPDX-License-Identifier: Apache-2.0

package import Curl
import iDownData
package import iDownState
import iDownloader

extension Coordinator {
    /// Carries out a verb on one task; returns once that is durable.
    package func carryOut(_ command: Command, on id: TaskID) async throws {
        let rests = engine.rests
        try await decide(on: id) { record throws(Refusal) in
            // Who asks for a try by hand does not wait for the host's sake either.
            if command == .retry, record.isInBackOff { rests.end(of: record.request.origin) }
            return try record.apply(command)
        }
        try await finish(command, on: [id])
    }

    /// Gives a task a fresh link; returns once that is durable.
    package func setURL(of id: TaskID, to url: URLReference) async throws {
        try await decide(on: id) { record throws(Refusal) in
            let old = try? URLReference(record.request.url)
            return try record.setURL(url.text, isSameOrigin: old?.origin == url.origin)
        }
    }

    /// Has something decided about a task; returns once that is durable.
    private func decide(
        on id: TaskID,
        _ body: @escaping @Sendable (inout TaskRecord) throws(Refusal) -> [Effect]
    ) async throws {
        try refuseWhileStopping()
        var fruitless = 0
        while true {
            do {
                try await commit(awaitsTelling: true) { transaction in
                    let change = try transaction.change(id) { try body(&$0) }
                    guard let change else { throw ServiceRefusal.noSuchTask(id.description) }
                    return ((), [change])
                }
                return
            } catch Refusal.publishing {
                try refuseWhileStopping()
                // With nothing to wait for it may just have ended; or nobody can end it for now.
                if await !publicationEnd(of: id) { fruitless += 1 }
                guard fruitless < 3 else { throw Refusal.publishing }
                try refuseWhileStopping()
            } catch Refusal.gone {
                throw ServiceRefusal.noSuchTask(id.description)
            }
        }
    }

    /// Bytes a second, over all tasks.
    package var speed: UInt64 { meters.values.reduce(0) { $0 &+ $1.bytesPerSecond } }

    /// Changes how many tasks may run; acts at once.
    package func setSlots(_ slots: Int) {
        self.slots = slots
        fillSlots()
    }

    func refuseWhileStopping() throws {
        if isStopping { throw ServiceRefusal.stopping }
    }
}
