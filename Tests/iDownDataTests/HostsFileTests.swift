// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownData
@testable import iDownState

@Suite struct HostsFileTests {
    private static let known = [
        HostKnowledge(host: "https://one:443", limit: 2, useful: nil, age: .seconds(5)),
        HostKnowledge(
            host: "ftp://two:21",
            limit: nil,
            useful: .init(2, mayBeMore: true),
            age: .seconds(60)
        ),
        HostKnowledge(
            host: "http://three:80",
            limit: nil,
            useful: nil,
            hasSeveralTags: true,
            age: .seconds(90)
        ),
        HostKnowledge(host: "sftp://[::1]:22", limit: nil, useful: .init(4), age: .seconds(3600)),
    ]

    @Test func `knowledge that is written is read again, with its age`() async throws {
        try await withTemporaryFolder { folder in
            let file = HostsFile(folder: folder)
            #expect(file.read(now: .someTime).isEmpty)
            try file.write(Self.known, now: .someTime)
            #expect(file.read(now: .someTime) == Self.known)
            let later = file.read(now: WallTime.someTime.advanced(by: .seconds(60)))
            let ages = [65, 120, 150, 3660].map { Duration.seconds($0) }
            #expect(later.map(\.age) == ages)
        }
    }

    @Test(arguments: ["", "[", "{}", "[{}]", "[{\"host\":1,\"learned\":2}]", "null"])
    func `a file that is not valid is read as empty`(text: String) async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write(text, to: folder + "/hosts.json")
            #expect(HostsFile(folder: folder).read(now: .someTime).isEmpty)
        }
    }

    @Test func `impossible times do no harm`() async throws {
        try await withTemporaryFolder { folder in
            let text = "[{\"host\":\"a\",\"limit\":2,\"learned\":-9223372036854775808}]"
            try TestFile.write(text, to: folder + "/hosts.json")
            let known = HostsFile(folder: folder).read(now: .someTime)
            #expect(known.count == 1)
            var limits = HostLimits()
            limits.restore(known, at: .zero)
            #expect(limits.knowledge(at: .zero).isEmpty)
        }
    }

    @Test func `a failing disk leaves the old file`() async throws {
        try await withTemporaryFolder { folder in
            try HostsFile(folder: folder).write(Self.known, now: .someTime)
            for call in 1...8 {
                let faults = CallFaults(failing: [call])
                try? HostsFile(folder: folder, faults: faults.next).write([], now: .someTime)
                let read = HostsFile(folder: folder).read(now: .someTime)
                #expect(read == Self.known || read == [])
            }
        }
    }
}
