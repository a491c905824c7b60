// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct FailureTests {
    /// The contract's list, letter by letter: codes are never renamed.
    static let codes = [
        "Network.Unreachable", "Network.Timeout", "Network.Stalled", "Network.Reset",
        "Network.TLS", "Network.DNS", "Server.NotFound", "Server.Forbidden",
        "Server.AuthRequired", "Server.Busy", "Server.Failed", "Server.RangeRefused",
        "Server.Truncated", "Server.ContentChanged", "Server.TooManyRedirects",
        "Server.BadResponse", "File.NoSpace", "File.AccessDenied", "File.NameTooLong",
        "File.Exists", "File.Vanished", "File.Failed", "Integrity.ChecksumMismatch",
        "Integrity.SizeMismatch",
    ]

    @Test func `the codes are those of the contract, no more and no less`() {
        #expect(FailureCode.allCases.map(\.rawValue) == Self.codes)
    }

    @Test(arguments: FailureCode.allCases)
    func `a wrong digest, a wrong size and changed content make the bytes worthless`(
        code: FailureCode
    ) {
        let isSpoiling =
            code.rawValue.hasPrefix("Integrity.") || code.rawValue == "Server.ContentChanged"
        #expect(code.spoilsContent == isSpoiling)
    }

    @Test(arguments: FailureCode.allCases)
    func `only the file system's failures are the same at every source`(code: FailureCode) {
        let isOfFile = [
            .fileNoSpace, .fileAccessDenied, .fileNameTooLong, .fileExists, .fileVanished,
            .fileFailed,
        ].contains(code)
        #expect(code.isOfSource == !isOfFile)
    }

    @Test(arguments: FailureCode.allCases)
    func `a host that is not reached is the network's failure`(code: FailureCode) {
        let isOfNetwork = [
            .networkUnreachable, .networkTimeout, .networkStalled, .networkReset, .networkTLS,
            .networkDNS,
        ].contains(code)
        #expect(code.isOfNetwork == isOfNetwork)
    }
}
