// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownSettings
import iDownTesting

/// Settings files as people and programs write them, changed at random.
@Suite struct FuzzTests {
    @Test func `reading a random settings file does not trap`() async throws {
        let fuzzer = Fuzzer("settings", test: #filePath)
        #expect(fuzzer.hasCorpus)
        try await withTemporaryFolder { folder throws in
            try fuzzer.run { bytes in
                try TestFile.write(bytes, to: folder + "/settings.json")
                let settings = SettingsFile(folder: folder).read().settings
                let isInRange =
                    (1...64).contains(settings.maxConcurrentDownloads)
                    && (1...16).contains(settings.maxConnectionsPerDownload)
                    && settings.speedLimit >= 0 && settings.keepCompleted >= 0
                guard isInRange else { throw Fuzzer.Finding("out of range", bytes) }
            }
        }
    }
}
