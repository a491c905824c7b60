// SPDX-License-Identifier: Apache-2.0

import Executors
import Logging
import iDownData
import iDownState
import iDownloader

/// Stores what was learned about hosts, so that a later run of the service knows it.
final class HostMemory {
    /// Where host knowledge is stored; nil stores nothing.
    private var file: HostsFile?
    private var writer: Task<Void, Never>?

    /// Gives the engine what is in the file, and stores later host knowledge there.
    func use(_ file: HostsFile, for engine: Engine) {
        self.file = file
        engine.hosts.restore(file.read(now: .now))
    }

    /// Stores what transfers have learned about hosts, if there is anything new.
    func keepNews(in coordinator: isolated Coordinator) {
        let hosts = coordinator.engine.hosts
        guard let file, writer == nil, let news = hosts.takeNews() else { return }
        writer = Task {
            do {
                // The bus has other calls to serve.
                try await aside { try file.write(news, now: .now) }
            } catch {
                // The next run of the service has to learn these hosts again.
                coordinator.log.warning("what was learned of hosts could not be written: \(error)")
            }
            writer = nil
            keepNews(in: coordinator)
        }
    }

    /// Returns once all that was learned is stored.
    func finish(in coordinator: isolated Coordinator) async {
        keepNews(in: coordinator)
        await writer?.value
    }
}
