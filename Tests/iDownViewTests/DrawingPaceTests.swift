// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct DrawingPaceTests {
    @Test func `byte counts are drawn at most twenty times a second`() {
        var pace = DrawingPace(count: 1)
        var task = TaskProperties.running
        let drawn = (0..<100).filter { hundredth in
            task.downloadedBytes += 1
            return pace.isDue(task, at: Double(hundredth) / 128)
        }
        #expect(drawn.first == 0)
        #expect((10...20).contains(drawn.count), "\(drawn)")
    }

    @Test func `a change of state, hold, activity or message is drawn, at once or soon`() {
        var pace = DrawingPace(count: 1)
        var task = TaskProperties.running
        #expect(pace.isDue(task, at: 0) == true)
        #expect(pace.isDue(task, at: 0.001) == false)
        #expect(pace.isOwed == false)
        var time = 0.0
        let changes: [(inout TaskProperties) -> Void] = [
            { $0.activity = .verifying },
            { $0.state = .waiting },
            { $0.hold = .retry },
            { $0.errorMessage = "HTTP 503" },
            { $0.state = .completed },
        ]
        for change in changes {
            change(&task)
            time += 0.01
            #expect(pace.isDue(task, at: time) == false, "\(task)")
            #expect(pace.isOwed(at: time) == true, "\(task)")
            #expect(pace.isOwed(at: time) == false, "\(task)")
        }
        task.state = .waiting
        #expect(pace.isDue(task, at: time + 1) == true)
        #expect(pace.isOwed == false)
    }

    @Test func `a byte count that comes after the pause is drawn`() {
        var pace = DrawingPace(count: 1)
        var task = TaskProperties.running
        task.state = .paused
        #expect(pace.isDue(task, at: 0) == true)
        task.downloadedBytes += 1
        #expect(pace.isDue(task, at: 0.01) == false)
        #expect(pace.isOwed(at: 0.06) == true)
    }

    @Test func `while the downloads appear, only the first and the last have to be drawn`() {
        var pace = DrawingPace(count: 100)
        let drawn = (1...100).filter { number in
            var task = TaskProperties.running
            task.id = "\(number)"
            return pace.isDue(task, at: 0)
        }
        #expect(drawn == [1] && pace.isOwed)
    }

    @Test func `a removed download is not waited for`() {
        var pace = DrawingPace(count: 3)
        var task = TaskProperties.running
        #expect(pace.isDue(task, at: 0) == true)
        #expect(pace.isDue(afterRemovalOf: "9", at: 0.001) == false)
        #expect(pace.isOwed(at: 0.002) == true)
        task.id = "8"
        #expect(pace.isDue(task, at: 0.003) == false)
        #expect(pace.isOwed == true)
    }

    @Test func `a thousand downloads that end together are not drawn a thousand times`() {
        var pace = DrawingPace(count: 1000)
        var drawn = 0
        for number in 1...1000 {
            var task = TaskProperties.finished
            task.id = "\(number)"
            if pace.isDue(task, at: Double(number) / 10_000) { drawn += 1 }
            if pace.isDue(afterRemovalOf: task.id, at: Double(number) / 10_000) { drawn += 1 }
        }
        #expect(drawn <= 3 && pace.isOwed)
    }
}
