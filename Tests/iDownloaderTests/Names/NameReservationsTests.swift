// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct NameReservationsTests {
    private let names = NameReservations()

    private func task(_ number: Int64) throws -> TaskID {
        try #require(TaskID(rawValue: number))
    }

    private func reserve(
        _ text: String,
        _ folder: OpenFolder,
        _ number: Int64,
        own: LocalFile? = nil
    ) throws -> String {
        let name = try #require(FileName(sanitizing: text))
        return try names.reserve(name, in: folder, for: task(number), own: own).text
    }

    private func withFolder(_ body: (OpenFolder) async throws -> Void) async throws {
        try await withTemporaryFolder { path throws in
            try await body(OpenFolder(path, fileSystem: FileSystem()))
        }
    }

    @Test func `tasks that race for a name get different ones`() async throws {
        try await withFolder { folder throws in
            #expect(try reserve("a.iso", folder, 1) == "a.iso")
            #expect(try reserve("a.iso", folder, 2) == "a (1).iso")
            #expect(try reserve("A.ISO", folder, 3) == "A (2).ISO")
            #expect(try reserve("b.iso", folder, 4) == "b.iso")
        }
    }

    @Test func `names from many threads are all different`() async throws {
        try await withFolder { folder throws in
            let found = try await withThrowingTaskGroup(of: String.self) { group in
                for number in Int64(1)...200 {
                    group.addTask { try reserve("a", folder, number) }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(found.count == 200)
        }
    }

    @Test func `a name is taken by a file and by its partial file`() async throws {
        try await withFolder { folder throws in
            putFile(folder.path + "/a")
            putFile(folder.path + "/a (1).part")
            #expect(symlink("nowhere", folder.path + "/a (2)") == 0)
            #expect(try reserve("a", folder, 1) == "a (3)")
        }
    }

    @Test func `the partial name of one task is no final name of another`() async throws {
        try await withFolder { folder throws in
            #expect(try reserve("a", folder, 1) == "a")
            #expect(try reserve("a.part", folder, 2) == "a (1).part")
        }
    }

    @Test func `other folders have other names`() async throws {
        try await withFolder { folder throws in
            try await withFolder { other throws in
                #expect(try reserve("a", folder, 1) == "a")
                #expect(try reserve("a", other, 2) == "a")
            }
        }
    }

    @Test func `a task keeps its name, and its own file is not in its way`() async throws {
        try await withFolder { folder throws in
            #expect(try reserve("a", folder, 1) == "a")
            #expect(try reserve("a", folder, 1) == "a")
            let file = try makePart("a", "bytes", in: folder)
            #expect(try reserve("a", folder, 1, own: file) == "a")
            #expect(try reserve("a", folder, 1) == "a (1)")
        }
    }

    @Test func `a new name gives the old one back`() async throws {
        try await withFolder { folder throws in
            #expect(try reserve("a", folder, 1) == "a")
            #expect(try reserve("b", folder, 1) == "b")
            #expect(try reserve("a", folder, 2) == "a")
        }
    }

    @Test func `a name that is not to be had leaves what was there`() async throws {
        try await withFolder { folder throws in
            putFile(folder.path + "/b")
            #expect(try reserve("a", folder, 1) == "a")
            #expect(try !names.reserve(exactly: "b", in: folder, for: task(1)))
            #expect(try !names.reserve(exactly: "a", in: folder, for: task(2)))
            #expect(try names.reserve(exactly: "c", in: folder, for: task(2)))
        }
    }

    @Test func `a look that fails leaves what was there`() async throws {
        try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            _ = try OpenFolder(path, fileSystem: FileSystem(faults: count))
            let plan = FaultPlan(failing: count.calls + 3)
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
            #expect(try reserve("a", folder, 1) == "a")
            #expect(throws: FileError.self) { try reserve("b", folder, 1) }
            #expect(try reserve("b", folder, 2) == "b")
            #expect(try reserve("a", folder, 3) == "a (1)")
        }
    }

    @Test func `what is released is free, what is restored is not`() async throws {
        try await withFolder { folder throws in
            names.restore("a", in: folder.path, for: try task(1))
            names.restore("a", in: folder.path, for: try task(2))
            #expect(try reserve("a", folder, 3) == "a (1)")
            names.release(try task(2))
            #expect(try reserve("a", folder, 4) == "a (2)")
            names.release(try task(1))
            names.release(try task(1))
            #expect(try reserve("a", folder, 5) == "a")
        }
    }

    @Test func `a thousand tasks of one name find theirs in few steps`() async throws {
        try await withTemporaryFolder { path throws in
            let plan = FaultPlan()
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
            for number in Int64(1)...1000 { _ = try reserve("a", folder, number) }
            #expect(try reserve("a", folder, 1001) == "a (1000)")
            let before = plan.calls
            #expect(try reserve("a", folder, 1002) == "a (1001)")
            #expect(plan.calls - before < 40)
        }
    }
}
