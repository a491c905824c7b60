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

    @Test func `a change of state, hold, activity or message is drawn at once`() {
        var pace = DrawingPace(count: 1)
        var task = TaskProperties.running
        #expect(pace.isDue(task, at: 0) == true)
        #expect(pace.isDue(task, at: 0.001) == false)
        let changes: [(inout TaskProperties) -> Void] = [
            { $0.activity = .verifying },
            { $0.state = .waiting },
            { $0.hold = .retry },
            { $0.errorMessage = "HTTP 503" },
            { $0.state = .completed },
        ]
        for change in changes {
            change(&task)
            #expect(pace.isDue(task, at: 0.002) == true, "\(task)")
            #expect(pace.isDue(task, at: 0.003) == false, "\(task)")
        }
    }

    @Test func `while the downloads appear, only the first and the last are drawn`() {
        var pace = DrawingPace(count: 100)
        let drawn = (1...100).filter { number in
            var task = TaskProperties.running
            task.id = "\(number)"
            return pace.isDue(task, at: 0)
        }
        #expect(drawn == [1, 100])
    }

    @Test func `a removed download is not waited for`() {
        var pace = DrawingPace(count: 3)
        var task = TaskProperties.running
        #expect(pace.isDue(task, at: 0) == true)
        pace.remove("9")
        task.id = "8"
        #expect(pace.isDue(task, at: 0.001) == true)
    }
}
