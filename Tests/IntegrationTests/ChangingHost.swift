// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownTesting

/// A well-behaved host whose file a test replaces while it is being fetched.
final class ChangingHost: Sendable {
    private final class Shelf: Sendable {
        let file: Mutex<ServedFile>

        init(_ file: ServedFile) { self.file = Mutex(file) }
    }

    let server: FaultServer
    private let shelf: Shelf

    /// Every target is this file.
    init(_ file: ServedFile) throws {
        let shelf = Shelf(file)
        self.shelf = shelf
        server = try FaultServer(
            script: .init { request in shelf.file.withLock { $0 }.answer(to: request) }
        )
    }

    func url(_ target: String = "/file.bin") -> String { server.url(target) }

    /// What later requests are answered with.
    func change(_ body: (inout ServedFile) -> Void) { shelf.file.withLock { body(&$0) } }

    /// From now on bodies come without a stop; those that stand still go on.
    func letGo() {
        let gate = shelf.file.withLock { file in
            defer { file.hold = nil }
            return file.hold?.until
        }
        gate?.open()
    }

    func stop() { server.stop() }
}

extension ServedFile {
    /// A file whose bodies stop after some bytes until the test lets them go on.
    static func held(_ content: TestContent, after bytes: Int64 = 256 << 10) -> ServedFile {
        var file = ServedFile(content)
        file.hold = Hold(afterBytes: bytes)
        return file
    }
}
