// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

@testable import iDownState
@testable import iDownloader

@Suite struct ResponseFactsRemoteFileTests {
    private func facts(
        size: Int64?,
        modified: Int64? = 1_700_000_000,
        offset: Int64? = nil,
        length: Int64?
    ) -> ResponseFacts {
        ResponseFacts(
            RemoteFile(size: size, modified: modified, offset: offset, length: length)
        )
    }

    @Test func `a whole file is a whole answer`() {
        let facts = facts(size: 10, length: 10)
        #expect(facts.status == 200)
        #expect(facts.contentLength == .bytes(10))
        #expect(facts.acceptsRanges)
        #expect(facts.lacksValidators)
        #expect(facts.lastModified?.field == "2023-11-14T22:13:20Z")
        #expect(facts.entityTag == nil)
    }

    @Test func `a server that tells no size serves no parts`() {
        let facts = facts(size: nil, modified: nil, length: nil)
        #expect(facts.status == 200)
        #expect(facts.contentLength == .unknown)
        #expect(!facts.acceptsRanges)
        #expect(facts.lastModified == nil)
    }

    @Test func `a part is where it was asked for`() throws {
        let facts = facts(size: 10, offset: 4, length: 6)
        #expect(facts.status == 206)
        let range = try #require(ByteRange(from: 4, to: 10))
        #expect(facts.contentRange == .satisfied(range, total: 10))
        #expect(self.facts(size: nil, offset: 4, length: 2).contentRange != nil)
    }

    @Test func `a part of unknown length cannot be judged as one`() {
        let facts = facts(size: nil, offset: 4, length: nil)
        #expect(facts.status == 206)
        #expect(facts.contentRange == nil)
        #expect(self.facts(size: nil, offset: .max, length: 5).contentRange == nil)
    }

    @Test func `a part behind the end is none`() {
        #expect(facts(size: 4, offset: 4, length: 0).status == 416)
        #expect(facts(size: 4, offset: 4, length: 0).contentRange == .unsatisfied(total: 4))
        func refusal(_ result: CurlCode, _ status: Int = 0) -> Int? {
            var outcome = TransferOutcome(result, "")
            outcome.status = status
            return ResponseFacts(refusalOfPart: outcome, [554])?.status
        }
        #expect(refusal(.beyondEnd) == 416)
        #expect(refusal(.noRestart) == 206)
        #expect(refusal(.couldNotRetrieve, 554) == 206)
        #expect(refusal(.couldNotRetrieve, 425) == nil)
        #expect(refusal(.ok) == nil)
    }

    @Test func `a file without validators is vouched for by its length alone`() {
        let judgement = facts(size: 10, length: 10)
            .judge(asked: .whole, known: RemoteVersion(), onDisk: SegmentMap())
        guard case .begin(let version) = judgement else {
            Issue.record("\(judgement)")
            return
        }
        #expect(version.isResumable)
        #expect(version.provenIntegrity == .length)
    }
}
