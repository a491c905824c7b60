// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Several connections to a real server that does not want so many.
@Suite(.timeLimit(.minutes(2))) struct JoiningAtNginxTests {
    @Test(arguments: [403, 503])
    func `nginx that allows two connections gives the file by two`(status: Int) async throws {
        try await withTemporaryFolder { root in
            try Large.content.write(toFile: root + "/file.bin")
            try await withNginx(
                root: root,
                locationDirectives:
                    "limit_rate 1m; limit_conn one 2; limit_conn_status \(status);",
                extraConfig: "access_log \(root)/access.log;",
                httpDirectives: "limit_conn_zone $binary_remote_addr zone=one:1m;"
            ) { nginx in
                try await withSite { site in
                    let journal = try await site.download(nginx.url("/file.bin")) {
                        $0.connections = 5
                    }
                    expectComplete(Large.content, site, journal)
                    #expect(journal.record.tries == 0)
                }
            }
            // It says what it did when a connection is over, and all are now.
            let log = try TestFile.text(of: root + "/access.log")
            #expect(log.contains(" 206 "), "\(log)")
            #expect(log.contains(" \(status) "), "\(log)")
        }
    }
}
