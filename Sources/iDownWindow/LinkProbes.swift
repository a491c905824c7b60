// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Asks servers for the names and sizes of linked files, a few at a time, and keeps the answers.
final class LinkProbes {
    /// A link, and those of its options that change the server's answer.
    struct Question: Hashable {
        let link: String
        private var options = AddOptions()

        init(_ link: String, _ options: AddOptions) {
            self.link = link
            self.options.headers = options.headers
            self.options.cookies = options.cookies
            self.options.referrer = options.referrer
            self.options.userAgent = options.userAgent
        }

        /// As long as the service waits for a server.
        private static let longestWait: Duration = .seconds(70)

        fileprivate func ask(_ client: ManagerClient) async -> String {
            let end = ContinuousClock.now + Self.longestWait
            while true {
                do throws(ManagerError) {
                    let file = try await client.probe(link, options: options)
                    let name = CellText(file.name).description
                    guard let size = file.size else {
                        return translated("{name}, size unknown", ["name": name])
                    }
                    return "\(name), \(ByteCount(size))"
                } catch {
                    // The service still carries out probes that were cancelled here.
                    guard error.code == .limitExceeded, .now < end,
                        link.utf8.count <= Contract.maximumURLBytes,
                        (try? await Task.sleep(for: .seconds(1))) != nil
                    else { return error.text }
                }
            }
        }
    }

    private let client: ManagerClient
    private var asking: Task<Void, Never>?
    /// The answers as texts: a name and a size, or why they are unknown.
    private(set) var answers: [Question: String] = [:]

    /// Called after each new answer.
    var changed: () -> Void = {}

    /// How long the user must not have typed before servers are asked.
    static let typingPause: Duration = .milliseconds(600)
    /// The most probes under way: one less than the service allows a client, so that a link can be
    /// added meanwhile.
    private static let most = Contract.pendingProbes.client - 1

    init(_ client: ManagerClient) { self.client = client }

    /// Asks these questions, and cancels all earlier ones.
    func ask(_ questions: [Question]) {
        asking?.cancel()
        let client = client
        asking = Task { [weak self] in
            try? await Task.sleep(for: Self.typingPause)
            await withTaskGroup(of: (Question, String).self) { group in
                var rest = questions.filter { self?.answers[$0] == nil }[...]
                func askNext() {
                    guard let next = rest.popFirst() else { return }
                    group.addTask { (next, await next.ask(client)) }
                }
                for _ in 0..<Self.most where !Task.isCancelled { askNext() }
                for await (question, answer) in group {
                    guard !Task.isCancelled else { return }
                    self?.answers[question] = answer
                    self?.changed()
                    askNext()
                }
            }
        }
    }

    /// Cancels all questions.
    func stop() { asking?.cancel() }
}
