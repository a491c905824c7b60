// SPDX-License-Identifier: Apache-2.0

@testable import iDownState

/// Random records: each field may have any value, and often has none.
struct RandomRecord {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next(id: TaskID) -> TaskRecord {
        var record = TaskRecord(
            id: id,
            request: request(),
            createdAt: time(),
            priority: .random(in: .min ... .max, using: &generator),
            speedLimit: size()
        )
        record.state = state()
        record.attempt = AttemptNumber(rawValue: size())
        record.startOrder = size()
        record.tries = .random(in: .min ... .max, using: &generator)
        record.stretchStart = size()
        record.waited = .microseconds(size())
        record.hostHasAnswered = pick([true, false])
        record.failure = maybe { $0.failure() }
        record.file = maybe { $0.file() }
        record.remote = remote()
        record.segments = segments()
        record.intent = maybe { $0.intent() }
        record.move = maybe { random in
            let place = Move.Place(directory: random.text(), name: random.text())
            return random.pick([
                .to(place, made: random.maybe { $0.file() }),
                .copied(place, random.file()),
                .from(directory: random.text(), random.file()),
            ])
        }
        record.integrity = maybe { $0.pick([.checksum, .validators, .length, .none]) }
        record.finishedAt = maybe { $0.time() }
        record.listedTasks = (0..<pick([0, 0, 1, 3_000])).compactMap { _ in
            TaskID(rawValue: size())
        }
        return record
    }

    private mutating func request() -> TaskRequest {
        TaskRequest(
            url: "http://host/" + text(),
            directory: "/" + text(),
            fileName: maybe { $0.text() },
            headers: (0..<pick([0, 0, 1, 5])).map { _ in HeaderField(name: text(), value: text()) },
            referrer: maybe { $0.text() },
            userAgent: maybe { $0.text() },
            cookies: maybe { $0.text() },
            isPrivate: pick([true, false]),
            connections: maybe { .random(in: 1...16, using: &$0.generator) },
            onExisting: pick([.rename, .fail]),
            mirrors: (0..<pick([0, 0, 1, 5])).map { _ in "http://mirror/" + oneLine() },
            checksum: maybe { $0.checksum() },
            expectedSize: maybe { $0.size() },
            retryFor: size(),
            hasPieceHashes: pick([true, false]),
            usesStoredLogins: pick([true, false]),
            metalinkReach: maybe { $0.pick([0, 1, 2]) },
            whenDone: maybe { $0.pick([.open, .reveal]) },
            owner: maybe { $0.text() },
            addedBy: maybe { $0.text() }
        )
    }

    private mutating func checksum() -> Checksum {
        let algorithm = pick(Checksum.Algorithm.allCases)
        let bytes = (0..<algorithm.byteCount).map { _ in
            UInt8.random(in: .min ... .max, using: &generator)
        }
        guard let checksum = Checksum(algorithm, bytes) else {
            preconditionFailure("as many bytes as the algorithm's digest has")
        }
        return checksum
    }

    private mutating func state() -> TaskState {
        pick([
            .waiting(.queue), .waiting(.retry(at: time())), .waiting(.offline), .waiting(.space),
            .waiting(.metered), .waiting(.battery), .waiting(.settings),
            .downloading, .paused, .completed, .failed, .cancelled,
        ])
    }

    private mutating func failure() -> Failure {
        Failure(
            pick(FailureCode.allCases),
            text(),
            isTransient: pick([true, false]),
            retryAfter: maybe { .microseconds($0.size()) },
            neededSpace: maybe { $0.size() }
        )
    }

    private mutating func file() -> LocalFile {
        LocalFile(name: text(), fileSystem: generator.next(), mark: generator.next())
    }

    private mutating func intent() -> Intent {
        pick([.publish(name: text()), .discard, .remove])
    }

    private mutating func remote() -> RemoteVersion {
        RemoteVersion(
            total: maybe { $0.size() },
            entityTag: maybe { EntityTag(opaque: $0.text(), isWeak: $0.pick([true, false])) },
            lastModified: maybe {
                LastModified(field: $0.text(), isStrong: $0.pick([true, false]))
            },
            checksum: maybe { $0.checksum() },
            mimeType: text(),
            servesRanges: pick([true, false]),
            refusesRanges: pick([true, false]),
            dislikesIfRange: pick([true, false]),
            restsOnProof: pick([true, false]),
            needsProof: pick([true, false]),
            isFromElsewhere: pick([true, false])
        )
    }

    private mutating func segments() -> SegmentMap {
        SegmentMap(
            (0..<pick([0, 1, 2, 40])).compactMap { _ in
                ByteRange(first: size() / 2, length: .random(in: 1...1 << 40, using: &generator))
            }
        )
    }

    /// Characters that normalized URLs may contain.
    private mutating func oneLine() -> String {
        pick(["", "a", "%00%0A", "e\u{301}", "\u{301}"])
    }

    private mutating func text() -> String {
        pick([
            "", "a", "file.iso", "Überraschung – 中文 🎉", "it's \"quoted\"; DROP TABLE task; --",
            "two\nlines\r\n", "%00\\", "e\u{301}", String(repeating: "long/", count: 13_000),
        ])
    }

    private mutating func time() -> WallTime {
        WallTime(microseconds: .random(in: .min ... .max, using: &generator))
    }

    /// A number from 0 to 2⁶²; small numbers are as frequent as large ones.
    private mutating func size() -> Int64 {
        let bits = Int.random(in: 0...62, using: &generator)
        return Int64.random(in: 0...(1 << bits), using: &generator)
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &generator)]
    }

    private mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? {
        pick([true, false]) ? make(&self) : nil
    }
}
