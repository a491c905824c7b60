// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Keeps what was learned of hosts, so that it outlives the service.
final class HostMemory {
    /// Nil keeps nothing.
    private var file: HostsFile?
    private var writer: Task<Void, Never>?

    /// Takes up what is in the file, and from now on keeps there what is learned.
    func use(_ file: HostsFile, for engine: Engine) {
        self.file = file
        engine.restore(file.read(now: .now))
    }

    /// Writes down what transfers have learned, if they have.
    func keepNews(in coordinator: isolated Coordinator) {
        guard let file, writer == nil, let news = coordinator.engine.takeHostNews() else { return }
        writer = Task {
            do {
                try await Self.write(news, to: file)
            } catch {
                // They are tried anew after the next start.
                coordinator.log.warning("what was learned of hosts could not be written: \(error)")
            }
            writer = nil
            keepNews(in: coordinator)
        }
    }

    /// Returns once the last news are written.
    func finish(in coordinator: isolated Coordinator) async {
        keepNews(in: coordinator)
        await writer?.value
    }

    /// Away from the thread of the bus.
    @concurrent
    private static func write(_ news: [HostKnowledge], to file: HostsFile) async throws {
        try file.write(news, now: .now)
    }
}
