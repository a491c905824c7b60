// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// What a shell offers where a task is meant: ids with their names, states, `all`.
enum TaskCompletion {
    static let ids = CompletionKind.custom { words, place, _ in
        await offer(words: [], to: typed(words, place))
    }

    /// IDs of downloads that can be opened.
    static let completedIDs = CompletionKind.custom { words, place, _ in
        await offer(words: [], states: [.completed], to: typed(words, place))
    }

    static let selections = CompletionKind.custom { words, place, _ in
        await offer(
            words: TaskProperties.State.known.map(\.rawValue) + ["all"],
            to: typed(words, place)
        )
    }

    /// The most that anybody looks through.
    private static let most: UInt32 = 500

    private static func typed(_ words: [String], _ place: Int) -> String {
        guard words.indices.contains(place) else { return "" }
        // The script for fish puts a pair of quotes where nothing is typed yet.
        return words[place] == "''" ? "" : words[place]
    }

    /// Nothing is offered where nobody answers, and no service is started for a tab key.
    private static func offer(
        words: [String],
        states: [TaskProperties.State] = [],
        to typed: String
    ) async -> [String] {
        var offers: [TaskOffer] = words.map { TaskOffer(word: $0, name: "") }
        if let client = try? await ManagerClient.connect(patience: .seconds(2)) {
            if (try? await client.isRunning()) == true {
                var query = TaskQuery()
                query.limit = most
                query.states = states
                query.descending = true
                let page = try? await client.findTasks(query).page
                offers =
                    (page ?? []).map {
                        TaskOffer(word: $0.id, name: TaskSummary($0).shortName.description)
                    } + offers
            }
            await client.close()
        }
        return TaskOffer.texts(offers, typed: typed, for: shell)
    }

    private static var shell: TaskOffer.Shell {
        switch CompletionShell.requesting {
        case .zsh: .zsh
        case .fish: .fish
        default: .bash
        }
    }
}
