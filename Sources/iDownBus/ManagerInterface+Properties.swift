// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerInterface {
    private typealias Name = Contract.Property

    var properties: [Member] {
        [
            .property(Name.version, .constant, get: { handler.version }),
            .property(
                Name.maxConcurrentDownloads,
                get: { (_: Call) async throws -> UInt32 in
                    try await answer { () throws(ManagerError) in
                        try await handler.maxConcurrentDownloads
                    }
                },
                set: { (call: Call, count: UInt32) async throws in
                    try check(
                        count,
                        within: Contract.concurrentDownloads,
                        Name.maxConcurrentDownloads
                    )
                    try await answer { () throws(ManagerError) in
                        try await handler.setMaxConcurrentDownloads(count, call: call)
                    }
                }
            ),
            .property(
                Name.maxConnectionsPerDownload,
                get: { (_: Call) async throws -> UInt32 in
                    try await answer { () throws(ManagerError) in
                        try await handler.maxConnectionsPerDownload
                    }
                },
                set: { (call: Call, count: UInt32) async throws in
                    try check(count, within: Contract.connections, Name.maxConnectionsPerDownload)
                    try await answer { () throws(ManagerError) in
                        try await handler.setMaxConnectionsPerDownload(count, call: call)
                    }
                }
            ),
            .property(
                Name.speedLimit,
                get: { (_: Call) async throws -> UInt64 in
                    try await answer { () throws(ManagerError) in try await handler.speedLimit }
                },
                set: { (call: Call, limit: UInt64) async throws in
                    try check(limit, within: Contract.speedLimit, Name.speedLimit)
                    try await answer { () throws(ManagerError) in
                        try await handler.setSpeedLimit(limit, call: call)
                    }
                }
            ),
            .property(
                Name.downloadDirectory,
                get: { (_: Call) async throws -> String in
                    try await answer { () throws(ManagerError) in
                        try await handler.downloadDirectory
                    }
                },
                set: { (call: Call, path: String) async throws in
                    try await answer { () throws(ManagerError) in
                        try await handler.setDownloadDirectory(path, call: call)
                    }
                }
            ),
            .property(
                Name.holdOnMetered,
                get: { (_: Call) async throws -> Bool in
                    try await answer { () throws(ManagerError) in try await handler.holdOnMetered }
                },
                set: { (call: Call, holds: Bool) async throws in
                    try await answer { () throws(ManagerError) in
                        try await handler.setHoldOnMetered(holds, call: call)
                    }
                }
            ),
            .property(
                Name.holdOnLowBattery,
                get: { (_: Call) async throws -> Bool in
                    try await answer { () throws(ManagerError) in
                        try await handler.holdOnLowBattery
                    }
                },
                set: { (call: Call, holds: Bool) async throws in
                    try await answer { () throws(ManagerError) in
                        try await handler.setHoldOnLowBattery(holds, call: call)
                    }
                }
            ),
            .property(
                Name.keepCompleted,
                get: { (_: Call) async throws -> UInt32 in
                    try await answer { () throws(ManagerError) in try await handler.keepCompleted }
                },
                set: { (call: Call, days: UInt32) async throws in
                    try await answer { () throws(ManagerError) in
                        try await handler.setKeepCompleted(days, call: call)
                    }
                }
            ),
            count(Name.taskCount) { () throws(ManagerError) in try await handler.taskCount },
            count(Name.waitingCount) { () throws(ManagerError) in try await handler.waitingCount },
            count(Name.activeCount) { () throws(ManagerError) in try await handler.activeCount },
            .property(
                Name.speed,
                .never,
                get: { (_: Call) async throws -> UInt64 in
                    try await answer { () throws(ManagerError) in try await handler.speed }
                }
            ),
        ]
    }

    private func count(
        _ name: MemberName,
        _ body: @escaping @Sendable () async throws(ManagerError) -> UInt32
    ) -> Member {
        .property(name, get: { (_: Call) async throws -> UInt32 in try await answer(body) })
    }

    private func check<Number: Comparable>(
        _ number: Number,
        within range: ClosedRange<Number>,
        _ name: MemberName
    ) throws(BusError) {
        guard !range.contains(number) else { return }
        throw .invalidArguments(
            "\(name) must be \(range.lowerBound) to \(range.upperBound), not \(number)."
        )
    }
}
