// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct FailureStatusTests {
    private static let transient: Set<Int> =
        Set([408, 421, 425, 429, 500, 502, 503, 504, 511]).union(520...529)

    @Test(arguments: 400...599)
    func `every error status has the contract's code`(status: Int) {
        let code: FailureCode =
            switch status {
            case 404, 410: .serverNotFound
            case 403, 451: .serverForbidden
            case 401, 407: .serverAuthRequired
            case 408, 425, 429, 503: .serverBusy
            case 416: .serverRangeRefused
            case 511: .networkUnreachable
            case 500...599: .serverFailed
            default: .serverBadResponse
            }
        let failure = Failure.status(status)
        #expect(failure.code == code)
        #expect(failure.isTransient == Self.transient.contains(status))
        #expect(failure.message.contains("\(status)"))
        #expect(failure.retryAfter == nil)
    }

    @Test(arguments: [403, 404, 410, 451])
    func `a link that does not work comes with the way to give another`(status: Int) throws {
        let failure = Failure.status(status)
        let message = failure.message
        #expect(message.hasPrefix("The server answered HTTP \(status) "))
        #expect(message.hasSuffix(" with `idown edit ID --url URL`."))
        let shown = failure.message(for: try #require(TaskID(rawValue: 7)))
        #expect(shown.hasSuffix(" with `idown edit 7 --url URL`."))
    }

    @Test(arguments: [0, -1, 600, 999, .max, .min])
    func `a status that is none is a bad response`(status: Int) {
        let failure = Failure.status(status)
        #expect(failure.code == .serverBadResponse)
        #expect(!failure.isTransient)
    }

    @Test(arguments: [202, 408, 425, 429, 500, 502, 503, 504, 521])
    func `a wish to wait is kept`(status: Int) {
        #expect(Failure.status(status, retryAfter: .zero).retryAfter == nil)
        for wish in [Duration.seconds(30), .seconds(3600), .seconds(1_000_000)] {
            let failure = Failure.status(status, retryAfter: wish)
            #expect(failure.isTransient)
            #expect(failure.retryAfter == wish)
            #expect(failure.code == Failure.status(status).code)
        }
    }

    @Test(arguments: [401, 403, 404, 410, 416, 501])
    func `what will not pass by waiting takes no note of such a wish`(status: Int) {
        #expect(Failure.status(status, retryAfter: .seconds(9)) == Failure.status(status))
    }
}
