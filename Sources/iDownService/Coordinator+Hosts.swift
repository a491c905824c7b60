// SPDX-License-Identifier: Apache-2.0

import Logging
package import iDownData
import iDownState
import iDownloader

// What was learned of hosts outlives the service.
extension Coordinator {
    /// Takes up what is in the file, and from now on keeps there what is learned.
    package func rememberHosts(in file: HostsFile) {
        hostsFile = file
        engine.restore(file.read(now: .now))
    }

    /// Writes down what transfers have learned, if they have.
    func keepHostNews() {
        guard let hostsFile, hostKeeper == nil, let news = engine.takeHostNews() else { return }
        hostKeeper = Task {
            do {
                try await Self.write(news, to: hostsFile)
            } catch {
                // They are tried anew after the next start.
                log.warning("what was learned of hosts could not be written: \(error)")
            }
            hostKeeper = nil
            keepHostNews()
        }
    }

    /// Away from the thread of the bus.
    @concurrent
    private static func write(_ news: [HostKnowledge], to file: HostsFile) async throws {
        try file.write(news, now: .now)
    }
}
