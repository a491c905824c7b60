// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownState

@testable import iDownService

@Suite struct UnshownObjectsTests {
    private func object(_ number: Int64) throws -> (TaskID, ManagedObject) {
        let path = try #require(TaskPath(id: "\(number)")).objectPath
        let id = try #require(TaskID(rawValue: number))
        return (id, ManagedObject(path, [(Contract.taskInterface, [String: Value]().busValue)]))
    }

    @Test func `objects are shown once, in the order of their coming`() throws {
        var objects = UnshownObjects()
        var ids: [TaskID] = []
        for number in 1...5 as ClosedRange<Int64> {
            let (id, object) = try object(number)
            objects.append(object, of: id, at: .now)
            ids.append(id)
        }
        let first = objects.takeFirst()?.path
        #expect(first == "/org/idown/Manager1/task/1")
        let early = objects.take(ids[3])?.path
        #expect(early == "/org/idown/Manager1/task/4")
        let again = [objects.take(ids[3]), objects.take(ids[0])].compactMap(\.self)
        #expect(again.isEmpty)
        var rest: [ObjectPath] = []
        while let object = objects.takeFirst() { rest.append(object.path) }
        #expect(rest.map(\.lastElement) == ["2", "3", "5"])
        #expect(objects.isEmpty)
    }

    @Test func `the first of them waits for a while, and not for ever`() throws {
        var objects = UnshownObjects()
        let now = ContinuousClock.now
        for number in [1, 2] as [Int64] {
            let (id, object) = try object(number)
            objects.append(object, of: id, at: now + .milliseconds(200) * (number - 1))
        }
        #expect(!objects.areDue(at: now + .milliseconds(249)))
        #expect(objects.areDue(at: now + .milliseconds(250)))
        while objects.takeFirst() != nil {}
        #expect(!objects.areDue(at: now + .seconds(9)))
    }
}
