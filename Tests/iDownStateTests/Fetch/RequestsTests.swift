// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct RequestsTests {
    private static let host = Origin(scheme: "https", host: "host.example", port: 443)
    private static let part = Ask.rest(from: 9, ifRange: nil)
    private static let cut = Failure(.networkReset, "", isTransient: true)

    @Test(arguments: [
        (cut, nil, true), (cut, 200, false), (Failure.status(505), 505, true),
        (Failure.status(426), 426, true), (Failure.status(500), 500, false),
        (Failure(.networkDNS, "", isTransient: true), nil, false),
        (Failure(.networkTLS, ""), nil, false), (Failure(.serverBadResponse, ""), nil, true),
    ])
    func `a host that does not answer by HTTP/1.1 is asked by HTTP/2, once`(
        failure: Failure,
        status: Int?,
        isAsked: Bool
    ) {
        var requests = Requests()
        func asks() -> Bool {
            requests.asksByHTTP2(after: failure, status: status, at: Self.host)
        }
        let asked = asks()
        #expect(asked == isAsked)
        #expect(requests.isByHTTP2(Self.host) == isAsked)
        let isAskedAgain = asks()
        #expect(!isAskedAgain)
        requests.speaksHTTP1(Self.host)
        #expect(!requests.isByHTTP2(Self.host))
    }

    @Test func `silence allows as many as were served, and one at least`() {
        var requests = Requests()
        requests.noteSilence()
        #expect(requests.mostServed == 1)
        _ = requests.begin(.whole, of: 0, at: .zero)
        #expect(requests.joining == nil && requests.mostServed == 1)
    }

    private static func fetch(bytes: Int64, mirrors: [String] = []) -> Fetch {
        Fetch(
            TaskRequest(url: "https://host.example/file", directory: "/tmp"),
            home: "https://host.example/file",
            mirrors: mirrors,
            segments: SegmentMap(ByteRange(from: 0, to: bytes).map { [$0] } ?? [])
        )
    }

    @Test(arguments: [
        (403, 9, true), (404, 9, true), (410, 9, true), (401, 9, true), (403, 0, true),
        (500, 9, false),
    ])
    func `an expired link is asked for once more`(
        status: Int,
        bytes: Int64,
        isAsked: Bool
    ) {
        var fetch = Self.fetch(bytes: bytes)
        let end = TransferEnd.failed(.status(status))
        let asked = [fetch.asksOnceMore(after: end), fetch.asksOnceMore(after: end)]
        #expect(asked == [isAsked, false])
    }

    @Test func `a range that is forbidden is asked for as a whole where no other source is left`() {
        let forbidden = TransferEnd.failed(.status(403))
        let alone = Self.fetch(bytes: 9)
        #expect(alone.mayForbidRanges(after: forbidden, Self.part))
        #expect(!alone.mayForbidRanges(after: forbidden, .whole))
        #expect(!alone.mayForbidRanges(after: .failed(.status(404)), Self.part))
        let several = Self.fetch(bytes: 9, mirrors: ["https://mirror.example/file"])
        #expect(!several.mayForbidRanges(after: forbidden, Self.part))
    }
}
