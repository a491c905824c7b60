// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownTesting

@testable import iDownState

extension TestContent {
    /// A file that takes no time.
    static let small = TestContent(seed: 7, count: 20_000)
    /// One of which a part can be held back: some of it reaches the disk at once.
    static let large = TestContent(seed: 8, count: 3 << 20)
}

extension ServedFile {
    /// Sends some bytes of each body, a megabyte unless told, and the rest when the gate is opened.
    static func held(
        _ content: TestContent = .large,
        after bytes: Int64 = 1 << 20
    ) -> (file: ServedFile, hold: Hold) {
        var file = ServedFile(content)
        let hold = Hold(afterBytes: bytes)
        file.hold = hold
        return (file, hold)
    }
}

extension FaultServer {
    /// A server that holds only the first answer back, at its megabyte.
    static func holdingFirst() throws -> (server: FaultServer, hold: ServedFile.Hold) {
        let (held, hold) = ServedFile.held()
        let server = try FaultServer(
            script: .init { request in
                var file = held
                if request.number > 1 { file.hold = nil }
                return file.answer(to: request)
            }
        )
        return (server, hold)
    }
}

extension TaskRecord {
    /// A task that waits, changed as a test wants it.
    static func sample(
        _ id: Int64 = 1,
        url: String = "http://127.0.0.1:9/file",
        directory: String = "/tmp",
        change: (inout TaskRecord) -> Void = { _ in }
    ) -> TaskRecord {
        guard let id = TaskID(rawValue: id) else { preconditionFailure("an id is positive") }
        var record = TaskRecord(
            id: id,
            request: TaskRequest(url: url, directory: directory),
            createdAt: .someTime
        )
        change(&record)
        return record
    }
}

extension Store {
    /// Adds a task as an earlier run of the service could have left it.
    @discardableResult
    func insert(
        url: String,
        directory: String,
        change: @escaping @Sendable (inout TaskRecord) -> Void = { _ in }
    ) async throws -> TaskID {
        try await commit { transaction in
            let id = try transaction.makeID()
            var record = TaskRecord(
                id: id,
                request: TaskRequest(url: url, directory: directory),
                createdAt: .someTime
            )
            change(&record)
            try transaction.insert(record)
            return id
        }
    }
}
