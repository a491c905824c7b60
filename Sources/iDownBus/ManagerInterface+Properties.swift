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
                    try await setMaxConcurrentDownloads(count, call)
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

    private func setMaxConcurrentDownloads(
        _ count: UInt32,
        _ call: Call
    ) async throws(BusError) {
        let range = Contract.concurrentDownloads
        guard range.contains(count) else {
            throw .invalidArguments(
                "\(Name.maxConcurrentDownloads) is \(range.lowerBound) to \(range.upperBound),"
                    + " not \(count)"
            )
        }
        try await answer { () throws(ManagerError) in
            try await handler.setMaxConcurrentDownloads(count, call: call)
        }
    }
}
