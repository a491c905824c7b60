// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownDesktop

@Suite struct DesktopFeedTests {
    @Test func `an ended task is reported once, a running one every time`() {
        let feed = DesktopFeed()
        feed.changed(.sample("1", .downloading))
        feed.changed(.sample("2", .downloading))
        feed.changed(.sample("2", .completed))
        let first = feed.take()
        #expect(first.active.keys.sorted() == ["1"])
        #expect(first.ended.map(\.id) == ["2"])
        let second = feed.take()
        #expect(second.active.keys.sorted() == ["1"])
        #expect(second.ended.isEmpty)
    }

    @Test func `a task that never ran and does not run is no news`() {
        let feed = DesktopFeed()
        for state in [TaskState.Kind.waiting, .paused, .cancelled] {
            feed.changed(.sample("1", state))
        }
        feed.removed("1")
        let news = feed.take()
        #expect(news.active.isEmpty && news.inactive.isEmpty && news.ended.isEmpty)
    }

    @Test func `a task that ran is reported until its end`() {
        let feed = DesktopFeed()
        feed.changed(.sample("1", .downloading))
        feed.changed(.sample("1", .paused))
        #expect(feed.take().inactive["1"]?.state == .paused)
        feed.changed(.sample("1", .downloading))
        #expect(feed.take().active["1"] != nil)
        feed.removed("1")
        #expect(feed.take().active.isEmpty)
    }

    @Test func `progress is kept for running tasks only`() {
        let feed = DesktopFeed()
        feed.changed(.sample("1", .downloading))
        feed.progressed("1", bytes: 5, of: 10, bytesPerSecond: 2)
        feed.progressed("2", bytes: 5, of: 10, bytesPerSecond: 2)
        let news = feed.take()
        #expect(news.active["1"]?.bytes == 5)
        #expect(news.active["1"]?.totalBytes == 10)
        #expect(news.active.count == 1)
    }

    @Test func `the feed stays within its limits`() {
        let feed = DesktopFeed()
        for number in 0..<1_000 {
            feed.changed(.sample("\(number)", .downloading))
            feed.changed(.sample("\(number)", .paused))
        }
        for number in 0..<1_000 {
            feed.changed(.sample("\(number)", number < 500 ? .completed : .failed))
            feed.handedOver(.sample("\(number)", .waiting))
        }
        let news = feed.take()
        #expect(news.inactive.isEmpty)
        #expect(news.ended.count == DesktopFeed.maxEnded)
        #expect(news.unlisted[.completed]?.count == 500 - DesktopFeed.maxEnded)
        #expect(news.unlisted[.failed]?.count == 500)
        #expect(news.handedOver.count == DesktopFeed.maxEnded)
    }

    @Test func `completed tasks with an action are kept one by one`() {
        let feed = DesktopFeed()
        for number in 0..<1_000 {
            feed.changed(.sample("\(number)", .completed, whenDone: number < 700 ? nil : .reveal))
        }
        #expect(feed.take().ended.count { $0.whenDone == .reveal } == 300)
        let all = DesktopFeed(maxEnded: DesktopFeed.maxEndedWithAction)
        for number in 0..<1_000 { all.changed(.sample("\(number)", .completed)) }
        #expect(all.take().ended.count == 1_000)
    }

    @Test func `only some of the inactive tasks are kept`() {
        let feed = DesktopFeed()
        for number in 0..<1_000 {
            feed.changed(.sample("\(number)", .downloading))
            feed.changed(.sample("\(number)", .waiting))
        }
        #expect(feed.take().inactive.count == DesktopFeed.maxInactive)
    }
}
