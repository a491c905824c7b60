// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import Testing
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(5)))
struct ClosedFoldersTests {
    /// A disk whose calls do not return while its gate is shut.
    private final class ShutDisk: DiskObserver {
        let gate = DispatchSemaphore(value: 1)
        let isFull = false
        let longestWrite = Int.max

        func fault(of call: StaticString, on name: String) -> DiskFault? {
            gate.wait()
            gate.signal()
            return nil
        }

        func willWrite(_ descriptor: Int32, at offset: Int64, count: Int) {}
        func willTruncate(_ descriptor: Int32, to length: Int64) {}
        func didSynchronize(_ descriptor: Int32) {}
        func didLink(as name: String, in folder: Int32) {}
        func didRename(_ old: String, as new: String, in folder: Int32) {}
    }

    @Test func `a folder that does not answer is judged by its text and its last path`()
        async throws
    {
        try await withTemporaryFolder { path in
            for name in ["/one", "/two"] { try #require(mkdir(path + name, 0o700) == 0) }
            let text = path + "/closed"
            try #require(symlink("one", text) == 0)
            let disk = ShutDisk()
            let system = FileSystem(observer: disk)
            let patient = ClosedFolders(fileSystem: system, longestWait: .seconds(60))
            #expect(patient.paths(of: [text, "relative"]) == [text, path + "/one"])

            let closed = ClosedFolders(fileSystem: system, longestWait: .milliseconds(20))
            disk.gate.wait()
            #expect(closed.paths(of: [text]) == [text])
            disk.gate.signal()
            try await soon("its answer") { closed.paths(of: [text]) == [text, path + "/one"] }
            disk.gate.wait()
            try #require(unlink(text) == 0 && symlink("two", text) == 0)
            // The first look waits in vain; the second waits no more.
            for _ in 1...2 { #expect(closed.paths(of: [text]) == [text, path + "/one"]) }
            disk.gate.signal()
            try await soon("the new link to be seen") {
                closed.paths(of: [text]) == [text, path + "/two"]
            }
        }
    }
}
