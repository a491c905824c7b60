// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownDesktop

@Suite struct DesktopFeedTests {
    @Test func `an end is told once, what runs every time`() {
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

    @Test func `what never ran and rests is no news`() {
        let feed = DesktopFeed()
        for state in [DesktopTask.State.waiting, .paused, .cancelled] {
            feed.changed(.sample("1", state))
        }
        feed.removed("1")
        let news = feed.take()
        #expect(news.active.isEmpty && news.resting.isEmpty && news.ended.isEmpty)
    }

    @Test func `what ran is followed to its end`() {
        let feed = DesktopFeed()
        feed.changed(.sample("1", .downloading))
        feed.changed(.sample("1", .paused))
        #expect(feed.take().resting["1"]?.state == .paused)
        feed.changed(.sample("1", .downloading))
        #expect(feed.take().active["1"] != nil)
        feed.removed("1")
        #expect(feed.take().active.isEmpty)
    }

    @Test func `progress of what runs is kept, and of nothing else`() {
        let feed = DesktopFeed()
        feed.changed(.sample("1", .downloading))
        feed.progressed("1", bytes: 5, of: 10, bytesPerSecond: 2)
        feed.progressed("2", bytes: 5, of: 10, bytesPerSecond: 2)
        let news = feed.take()
        #expect(news.active["1"]?.bytes == 5)
        #expect(news.active["1"]?.totalBytes == 10)
        #expect(news.active.count == 1)
    }

    @Test func `it does not grow, whatever happens`() {
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
        #expect(news.resting.isEmpty)
        #expect(news.ended.count == DesktopFeed.mostEnded)
        #expect(news.moreCompleted == 500 - DesktopFeed.mostEnded)
        #expect(news.moreFailed == 500)
        #expect(news.handedOver.count == DesktopFeed.mostEnded)
    }

    @Test func `what there is work to do for is told one by one`() {
        let feed = DesktopFeed()
        for number in 0..<1_000 {
            feed.changed(.sample("\(number)", .completed, whenDone: number < 700 ? nil : .reveal))
        }
        #expect(feed.take().ended.count { $0.whenDone == .reveal } == 300)
        let all = DesktopFeed(mostEnded: DesktopFeed.mostEndedWithWork)
        for number in 0..<1_000 { all.changed(.sample("\(number)", .completed)) }
        #expect(all.take().ended.count == 1_000)
    }

    @Test func `of those that rest only some are shown`() {
        let feed = DesktopFeed()
        for number in 0..<1_000 {
            feed.changed(.sample("\(number)", .downloading))
            feed.changed(.sample("\(number)", .waiting))
        }
        #expect(feed.take().resting.count == DesktopFeed.mostResting)
    }
}
