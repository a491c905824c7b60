// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The completions for arguments that select downloads: IDs with names, states, and `all`.
enum TaskCompletion {
    /// Completes IDs.
    static let ids = CompletionKind.custom { words, place, _ in
        await offer(words: [], to: typed(words, place))
    }

    /// Completes IDs of completed downloads.
    static let completedIDs = CompletionKind.custom { words, place, _ in
        await offer(words: [], states: [.completed], to: typed(words, place))
    }

    /// Completes IDs, states and `all`.
    static let selections = CompletionKind.custom { words, place, _ in
        await offer(
            words: TaskProperties.State.known.map(\.rawValue) + ["all"],
            to: typed(words, place)
        )
    }

    /// The most IDs that are offered, the newest first.
    private static let maximumIDs = 500

    private static func typed(_ words: [String], _ place: Int) -> String {
        guard words.indices.contains(place) else { return "" }
        // The script for fish passes a pair of quotes if nothing is typed yet.
        return words[place] == "''" ? "" : words[place]
    }

    /// Returns the IDs and the words that complete the typed text.
    ///
    /// It offers no IDs if the service does not run, because the Tab key must not start it, or if
    /// the service does not answer within 2 seconds.
    private static func offer(
        words: [String],
        states: [TaskProperties.State] = [],
        to typed: String
    ) async -> [String] {
        var offers: [TaskOffer] = words.map { TaskOffer(word: $0, name: "") }
        if let client = try? await ManagerClient.connect(
            patience: .seconds(2),
            startsService: false
        ) {
            var query = TaskQuery()
            query.states = states
            query.descending = true
            query.properties = [.id, .fileName, .url]
            if typed.isEmpty { query.limit = UInt32(maximumIDs) }
            let tasks = (try? await client.allTasks(query)) ?? []
            offers =
                tasks.filter { $0.id.hasPrefix(typed) }.prefix(maximumIDs).map {
                    TaskOffer(word: $0.id, name: TaskSummary($0).shortName.description)
                } + offers
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
