// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(1))) struct DigestFollowerTests {
    private static let content = TestContent(
        TestContent(seed: 3, count: 2 * DigestFollower.slice + 12_345).bytes
    )

    /// A follower of a partial file that holds the content.
    private func withFollower(
        faults: FaultPlan? = nil,
        _ body: (DigestFollower, PartFile) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: faults))
            let part = try PartFile.create("a", in: folder)
            try Self.content.write(toFile: path + "/a.part")
            try await body(
                DigestFollower(part, .sha256, on: DiskThread(label: "test")),
                part
            )
        }
    }

    private func expected(_ count: Int64) -> Checksum? {
        Checksum(.sha256, Checksum.Algorithm.sha256.digest(of: Self.content.bytes(in: 0..<count)))
    }

    @Test func `a follower reads as far as the file goes`() async throws {
        try await withFollower { follower, _ in
            #expect(follower.value == expected(0))
            follower.follow(upTo: 1000)
            _ = try await follower.value(upTo: 1000) { true }
            #expect(follower.position == 1000)
            #expect(follower.value == expected(1000))
            // It follows by itself.
            follower.follow(upTo: Self.content.count)
            try await soon("the digest to be there") { follower.position == Self.content.count }
            #expect(follower.value == expected(Self.content.count))
        }
    }

    @Test func `who waits for an early offset does not wait for the rest`() async throws {
        try await withFollower { follower, _ in
            follower.follow(upTo: Self.content.count)
            _ = try await follower.value(upTo: 1) { true }
            #expect(follower.position >= DigestFollower.slice)
        }
    }

    @Test func `a follower begins anew when bytes are taken back`() async throws {
        try await withFollower { follower, part in
            let zeros = [UInt8](repeating: 0, count: 4096)
            try zeros.withUnsafeBytes { bytes throws in try part.write(bytes, at: 0) }
            _ = try await follower.value(upTo: Self.content.count) { true }
            #expect(follower.value != expected(Self.content.count))
            follower.restart()
            #expect(follower.value == expected(0))
            let right = Self.content.bytes(in: 0..<4096)
            try right.withUnsafeBytes { bytes throws in try part.write(bytes, at: 0) }
            _ = try await follower.value(upTo: Self.content.count) { true }
            #expect(follower.value == expected(Self.content.count))
        }
    }

    @Test func `whoever waits does not wait for ever when it begins anew`() async throws {
        try await withFollower { follower, _ in
            async let value = follower.value(upTo: Self.content.count) { true }
            follower.restart()
            // Whether the restart came first or last: it returns.
            _ = try await value
        }
    }

    @Test func `a file that is shorter than it should be is a failure`() async throws {
        try await withFollower { follower, _ in
            let error = await #expect(throws: FileError.self) {
                _ = try await follower.value(upTo: Self.content.count + 1) { true }
            }
            #expect(error?.failure.code == .fileVanished)
        }
    }

    @Test func `a disk that cannot read is a failure, and a new start tries again`() async throws {
        // The calls before are those that make the file.
        for n in 1...12 {
            let faults = FaultPlan(failing: n)
            var hasFailed = false
            do {
                try await withFollower(faults: faults) { follower, _ in
                    do {
                        _ = try await follower.value(upTo: 1000) { true }
                    } catch let error as FileError {
                        hasFailed = true
                        #expect(error.failure.code == .fileFailed)
                        follower.restart()
                        _ = try await follower.value(upTo: 1000) { true }
                    }
                    #expect(follower.value == expected(1000))
                }
            } catch is FileError {
                continue
            }
            if hasFailed { return }
        }
        Issue.record("no read has failed")
    }
}
