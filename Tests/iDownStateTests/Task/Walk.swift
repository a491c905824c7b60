// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// Every sequence of inputs up to a length, breadth first.
///
/// Two sequences that lead to the same task go on alike, so each task that can be reached is left
/// once by each input: the same as trying all sequences, and fast.
struct Walk: Sendable {
    enum Input: Hashable, Sendable {
        case command(Command)
        case event(Event)
    }

    /// A task, and what the machine's effects have set going around it.
    struct Node: Hashable, Sendable {
        var record: TaskRecord
        /// The transfer that was started and neither stopped nor over.
        var live: AttemptNumber?
        var isErased = false

        /// Alike for tasks that differ only in how often they were started.
        var canonical: Node {
            var node = self
            node.record.attempt = record.attempt == .none ? .none : AttemptNumber.none.next
            node.live = live == nil ? nil : node.record.attempt
            return node
        }
    }

    struct Step: Sendable {
        let before: Node
        let input: Input
        let after: Node
        let effects: [Effect]
        let refusal: Refusal?

        var event: Event? {
            if case .event(let event) = input { return event }
            return nil
        }

        var command: Command? {
            if case .command(let command) = input { return command }
            return nil
        }
    }

    private(set) var steps: [Step] = []
    private(set) var reached: Set<Node> = []

    init(from record: TaskRecord, length: Int) {
        let start = Node(record: record)
        reached = [start.canonical]
        var frontier = [start]
        for _ in 0..<length {
            var next: [Node] = []
            for node in frontier where !node.isErased {
                for input in Self.inputs(at: node) {
                    let step = Self.step(from: node, input)
                    steps.append(step)
                    if reached.insert(step.after.canonical).inserted { next.append(step.after) }
                }
            }
            frontier = next
        }
    }

    /// The alphabet.
    ///
    /// What the service looks at on disk when it starts comes while no transfer runs; everything
    /// else may come at any time.
    private static func inputs(at node: Node) -> [Input] {
        let record = node.record
        let events: [Event] = [
            .slotGranted(order: 1), .displaced, .retryDue, .networkBack, .serviceStarted,
            .partialDeleted,
            .deletionFailed(Sample.missing, again: .seconds(5)),
            .held(by: .hold(.offline)), .held(by: .hostRests(for: .seconds(9))),
            .held(by: .hold(.metered)), .held(by: .hold(.battery)), .held(by: .hold(.settings)),
            .released,
        ]
        let disk: [Event] = [
            .partialFound(size: Sample.total), .partialFound(size: Sample.half),
            .partialFound(size: nil), .publicationFound(name: Sample.name, size: Sample.total),
        ]
        let more = record.segments.isEmpty ? Sample.half : Sample.total
        let reports: [TransferEvent] = [
            .answered(Sample.otherOffer, of: record.request.urlWithoutLogin),
            .opened(Sample.file, Sample.remote, keeping: record.segments),
            .opened(Sample.otherFile, Sample.otherRemote, keeping: SegmentMap()),
            .arrived(Sample.file, Sample.remote),
            .checkpointed(Sample.first(more)),
            .listed(Sample.listedTasks),
            .publishing(name: Sample.name),
            .completed(name: Sample.name, size: Sample.total, .validators),
            .failed(Sample.reset), .failed(Sample.missing), .failed(Sample.mismatch),
            .failed(Sample.vanished), .failed(Sample.full),
            .held(by: .hold(.offline, after: Sample.noName)),
            .held(by: .hostRests(for: .seconds(9))),
        ]
        let older = AttemptNumber(rawValue: record.attempt.rawValue - 1)
        return Command.allCases.map { .command($0) }
            + events.map { .event($0) }
            + (node.live == nil ? disk.map { .event($0) } : [])
            + reports.map { .event(.transfer($0, of: record.attempt)) }
            + [.event(.transfer(.failed(Sample.missing), of: older))]
    }

    private static func step(from node: Node, _ input: Input) -> Step {
        var after = node
        var effects: [Effect] = []
        var refusal: Refusal?
        switch input {
        case .command(let command):
            do throws(Refusal) {
                effects = try after.record.apply(command)
            } catch {
                refusal = error
            }
        case .event(let event):
            effects = after.record.apply(event, at: Sample.now, jitter: 0.5)
            after.note(event, answeredWith: effects)
        }
        after.note(effects)
        return Step(before: node, input: input, after: after, effects: effects, refusal: refusal)
    }
}

extension Walk.Node {
    fileprivate mutating func note(_ event: Event, answeredWith effects: [Effect]) {
        switch event {
        case .serviceStarted: live = nil
        case .transfer(.failed, _), .transfer(.held, _), .transfer(.completed, _):
            if !effects.isEmpty { live = nil }
        case .slotGranted, .displaced, .held, .released, .retryDue, .networkBack, .partialFound,
            .publicationFound, .partialDeleted, .deletionFailed, .verified, .move,
            .leftoverDeleted,
            .transfer:
            break
        }
    }

    fileprivate mutating func note(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .startTransfer(let number): live = number
            case .stopTransfer(let number): if live == number { live = nil }
            case .erase: isErased = true
            case .persist, .announce, .announceLater, .announceRemoved, .deletePartial,
                .moveFile, .scheduleRetry, .limitSpeed, .limitConnections, .fillSlots:
                break
            }
        }
    }
}
