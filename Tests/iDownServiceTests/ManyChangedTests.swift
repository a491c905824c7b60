// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownState

@testable import iDownService

@Suite struct ManyChangedTests {
    private func news(
        _ count: Int64,
        from first: Int64 = 1,
        _ before: ((inout TaskRecord) -> Void)?,
        _ after: ((inout TaskRecord) -> Void)?
    ) throws -> [TaskNews] {
        try (first..<first + count).map { number in
            let url = "http://a/\(number)?\(number)"
            func snapshot(_ change: (inout TaskRecord) -> Void, _ serial: Int64) -> TaskSnapshot {
                TaskSnapshot(
                    record: .sample(number, url: url) { record in
                        record.serial = serial
                        change(&record)
                    },
                    live: nil
                )
            }
            return TaskNews(
                id: try #require(TaskID(rawValue: number)),
                told: before.map { snapshot($0, 8) },
                now: after.map { snapshot($0, 9) }
            )
        }
    }

    @Test func `tasks that go back to the queue are told together, each reason apart`()
        async throws
    {
        let paused = try news(1_500, { $0.state = .paused }, { $0.state = .waiting(.queue) })
        let failed = try news(
            1_200,
            from: 2_000,
            { record in
                record.state = .failed
                record.failure = Failure(.serverNotFound, "gone")
            },
            { $0.state = .waiting(.queue) }
        )
        let few = try news(3, from: 9_000, { $0.priority = 1 }, { $0.priority = 2 })
        let (groups, others) = await ManyChanged.grouped(paused + few + failed, serial: 9)
        #expect(others == [1_500, 1_501, 1_502])
        let bySize = groups.sorted { $0.places.count > $1.places.count }
        try #require(bySize.count == 2)
        #expect(bySize[0].places == Array(0..<1_500))
        #expect(bySize[0].many.common == [.serial, .state, .hold])
        #expect(bySize[0].many.sample.state == .waiting)
        #expect(bySize[0].many.sample.serial == 9)
        #expect(
            Set(bySize[1].many.common) == [.serial, .state, .hold, .errorCode, .errorMessage]
        )
    }

    @Test func `tasks that got different values are told one by one`() async throws {
        let changed = try news(1_001, { $0.priority = 0 }) { record in
            record.priority = Int32(record.id.rawValue % 7 + 1)
            record.speedLimit = 5
        }
        let (groups, others) = await ManyChanged.grouped(changed, serial: 9)
        #expect(groups.isEmpty)
        #expect(others == Array(0..<1_001))
    }

    @Test func `what is the same in all new tasks is told, but neither names nor URLs`()
        async throws
    {
        let added = try news(1_001, nil) { record in
            record.priority = 3
            record.request.referrer = "http://r/\(record.id)"
        }
        let (groups, others) = await ManyChanged.grouped(added, serial: 9)
        #expect(others.isEmpty)
        let group = try #require(groups.first?.many)
        #expect(group.kind == .added)
        #expect(group.sample.priority == 3)
        for property in [TaskProperty.priority, .state, .directory, .serial, .createdAt] {
            #expect(group.common.contains(property))
        }
        for property in [TaskProperty.id, .url, .fileName, .referrer] {
            #expect(!group.common.contains(property))
        }
    }

    @Test func `tasks that differ in what has changed are told one by one`() async throws {
        let paused = try news(1_000, { $0.state = .paused }, { $0.state = .waiting(.queue) })
        let (groups, others) = await ManyChanged.grouped(paused, serial: 9)
        #expect(groups.isEmpty)
        #expect(others == Array(0..<1_000))
    }
}
