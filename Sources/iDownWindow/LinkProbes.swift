// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Asks servers what links lead to, a few at once, and keeps their answers.
final class LinkProbes {
    /// A link, and what matters of the options with which it is asked for.
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

        fileprivate func ask(_ client: ManagerClient) async -> String {
            do throws(ManagerError) {
                let file = try await client.probe(link, options: options)
                let name = CellText(file.name).description
                guard let size = file.size else {
                    return translated("{name}, size unknown", ["name": name])
                }
                return "\(name), \(ByteCount(size))"
            } catch { return error.text }
        }
    }

    private let client: ManagerClient
    private var asking: Task<Void, Never>?
    /// What is known of links: a name and a size, or why there is neither.
    private(set) var answers: [Question: String] = [:]

    /// There is another answer.
    var changed: () -> Void = {}

    /// Typing pauses for this long before servers are asked.
    static let patience: Duration = .milliseconds(600)
    /// One less than a client may have: a link that is added meanwhile is not refused.
    private static let most = Contract.pendingProbes.client - 1

    init(_ client: ManagerClient) { self.client = client }

    /// Asks for these in place of all that were asked for before.
    func ask(_ questions: [Question]) {
        asking?.cancel()
        let client = client
        asking = Task { [weak self] in
            try? await Task.sleep(for: Self.patience)
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

    /// Asks for nothing more.
    func stop() { asking?.cancel() }
}
