// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct SpacePolicyTests {
    private static let reserve = SpacePolicy.reserve

    private func released(_ rows: [(UInt64, Int64)], free: [UInt64: Int64]) -> [Int64] {
        let waiting = rows.enumerated().compactMap { index, row in
            TaskID(rawValue: Int64(index) + 1).map { id in
                let request = TaskRequest(url: "http://a/f", directory: "/\(row.0)")
                var task = TaskRecord(
                    id: id,
                    request: request,
                    createdAt: WallTime(microseconds: 0)
                )
                task.failure = Failure(.fileNoSpace, "", neededSpace: row.1)
                return task
            }
        }
        let folders = free.map { ("/\($0.key)", (device: $0.key, bytes: $0.value)) }
        return SpacePolicy.released(waiting, into: Dictionary(uniqueKeysWithValues: folders))
            .map(\.rawValue)
    }

    @Test func `who fits goes on, to the last byte`() {
        #expect(released([(1, 100)], free: [1: 99]).isEmpty)
        #expect(released([(1, 100)], free: [1: 100]) == [1])
    }

    @Test func `the room is shared, and the reserve is needed once`() {
        let each = Self.reserve + 100
        #expect(released([(1, each), (1, each)], free: [1: each + 99]) == [1])
        #expect(released([(1, each), (1, each)], free: [1: each + 100]) == [1, 2])
    }

    @Test func `one that is too large keeps no smaller one waiting`() {
        let rows: [(UInt64, Int64)] = [(1, Self.reserve * 9), (1, Self.reserve)]
        #expect(released(rows, free: [1: Self.reserve]) == [2])
    }

    @Test func `each file system counts for itself`() {
        #expect(released([(1, 100), (2, 100)], free: [1: 0, 2: 100]) == [2])
    }

    @Test func `what cannot be looked at finds out by itself`() {
        #expect(released([(7, .max)], free: [1: 0]) == [1])
    }

    @Test func `sizes at either end are no trap`() {
        #expect(released([(1, .max), (1, .min), (1, 0)], free: [1: .max]) == [1, 2, 3])
    }
}
