// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

// Sources that have a wrong file, and which of them is asked again.
extension MirrorFailureTests {
    @Test func `who brought a wrong file is not asked again while another may have the right one`()
        async throws
    {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        try await attempts(3) {
            other.answer(to: $0)
        } mirror: {
            switch $0.number {
            case 1: Sample.file.cutOff()
            case 2: Self.no(503)
            default: Sample.file.answer(to: $0)
            }
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, home, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(home.requests.count == 1)
            let rest = "bytes=\(Sample.cut)-"
            #expect(mirror.requests.map { $0["Range"] } == [nil, rest, rest])
        }
    }

    @Test func `who brought a wrong file is asked again where nobody else has one`()
        async throws
    {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        try await attempts(2) {
            $0.number == 1 ? other.answer(to: $0) : Sample.file.answer(to: $0)
        } mirror: {
            $0.number == 1 ? Sample.file.cutOff() : Self.no(404)
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, home, _ in
            expectComplete(Sample.content, site, journal)
            #expect(home.requests.count == 2)
        }
    }

    @Test func `where every source is wrong, the task fails, and a retry begins with the first`()
        async throws
    {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        try await attempts(1) {
            $0.number == 1 ? other.answer(to: $0) : Sample.file.answer(to: $0)
        } mirror: {
            other.answer(to: $0)
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, home, mirror in
            expectFailure(.checksumMismatch, isTransient: false, site, journal)
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
            #expect(home.requests.count == 2)
            #expect(mirror.requests.count == 1)
        }
    }

    /// Both break off: the first with other bytes than the second, which has the right ones.
    @Test func `a source tried alone is not continued by another, and goes on where it was`()
        async throws
    {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        try await attempts(3) {
            $0.number < 3 ? other.cutOff() : Self.no(503)
        } mirror: {
            $0.number == 2 ? Sample.file.cutOff(at: 600_000) : Sample.file.answer(to: $0)
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, home, mirror in
            expectComplete(Sample.content, site, journal)
            let rest = "bytes=\(Sample.cut)-"
            #expect(home.requests.map { $0["Range"] } == [nil, nil, rest])
            #expect(mirror.requests.map { $0["Range"] } == [rest, nil, "bytes=600000-"])
        }
    }

    @Test func `what a source brought alone is kept while no other has other bytes`()
        async throws
    {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        try await attempts(3) {
            switch $0.number {
            case 1, 2: Sample.file.cutOff()
            case 3: Self.no(503)
            default: Sample.file.answer(to: $0)
            }
        } mirror: {
            $0.number == 1 ? other.answer(to: $0) : Self.no(503)
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, home, mirror in
            expectComplete(Sample.content, site, journal)
            let rest = "bytes=\(Sample.cut)-"
            #expect(home.requests.map { $0["Range"] } == [nil, nil, rest, rest])
            #expect(mirror.requests.map { $0["Range"] } == [rest, nil])
        }
    }

    @Test func `whoever goes on alone and is paused is not taken for the one before`()
        async throws
    {
        var bytes = Sample.replaced.bytes
        bytes.replaceSubrange(..<Int(Sample.cut), with: Sample.content.bytes(in: 0..<Sample.cut))
        let other = ServedFile(TestContent(bytes), entityTag: "\"other\"")
        let hold = ServedFile.Hold(afterBytes: 600_000)
        let held = other.with { $0.hold = hold }
        try await attempts(1) {
            switch $0.number {
            case 1, 2: Sample.file.cutOff()
            case 3: Self.no(503)
            default: Sample.file.answer(to: $0)
            }
        } mirror: {
            ($0.number == 2 ? held : other).answer(to: $0)
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, home, _ in
            let transfer = try site.start(journal)
            await hold.reached.waitUntilOpen()
            // The writer gathers 256 KiB: at its second time it is behind the cut.
            while transfer.live.segments.prefixLength <= Sample.cut { await Task.yield() }
            try journal.apply(.pause)
            transfer.stop()
            await transfer.ended()
            #expect(journal.record.segments.prefixLength > Sample.cut)
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
            let rest = "bytes=\(Sample.cut)-"
            #expect(home.requests.map { $0["Range"] } == [nil, nil, rest, nil])
        }
    }

    /// The first never goes beyond a point; the second has other bytes and stops before the end.
    @Test func `sources that take turns without end are given up`() async throws {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        let plain = Sample.file.with { $0.acceptsRanges = false }
        try await attempts(8) {
            $0.number < 2 ? Sample.file.cutOff() : plain.cutOff(at: 100_000)
        } mirror: {
            $0.number < 2
                ? other.answer(to: $0)
                : other.with { $0.acceptsRanges = false }.cutOff(at: 600_000)
        } change: {
            $0.checksum = Self.checksum
        } check: { _, journal, home, mirror in
            #expect(journal.record.state != .completed)
            // One of them alone is asked from then on.
            let (first, second) = (home.requests.count, mirror.requests.count)
            #expect(min(first, second) < 7, "\(first), \(second)")
        }
    }
}
