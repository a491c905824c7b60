// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

// What must hold at every step, and after every crash.
extension Simulation {
    /// A finished file is one version of it from the first byte to the last.
    static func wrong(
        withFileOf record: TaskRecord,
        _ disk: SimulatedDisk,
        _ network: SimulatedNetwork
    ) -> String? {
        guard let name = record.file?.name, let file = file(of: record.request.url, network) else {
            return "task \(record.id) is completed without a file"
        }
        guard let bytes = try? TestFile.bytes(of: disk.path(name)) else {
            return "the finished file \(name) of task \(record.id) is not there"
        }
        let version = bytes.withUnsafeBytes { file.version(holding: $0, at: 0) }
        guard Int64(bytes.count) == file.size, version != nil else {
            return "\(name) of task \(record.id) is no version of it, \(bytes.count) bytes"
        }
        return nil
    }

    /// What the record claims is on the disk, and all of it is of one version.
    static func wrong(
        withClaimsOf record: TaskRecord,
        _ disk: SimulatedDisk,
        _ network: SimulatedNetwork
    ) -> String? {
        let ranges = record.segments.ranges
        for (range, next) in zip(ranges, ranges.dropFirst()) where range.end >= next.first {
            return "the segments of task \(record.id) overlap or touch: \(ranges)"
        }
        switch record.intent {
        case .discard, .remove: return nil
        case .publish, nil: break
        }
        guard record.state != .completed, let local = record.file, !ranges.isEmpty,
            let file = file(of: record.request.url, network)
        else { return nil }
        guard let path = path(of: local, record.intent, disk) else {
            return "the file of task \(record.id) is lost"
        }
        guard let bytes = try? TestFile.bytes(of: path) else { return "\(path) cannot be read" }
        let isOneVersion = (1...file.version).contains { version in
            ranges.allSatisfy { range in
                guard range.end <= bytes.count else { return false }
                return bytes.withUnsafeBytes { all in
                    let own = all[Int(range.first)..<Int(range.end)]
                    return file.withBytes(
                        of: version,
                        from: range.first,
                        count: Int(range.length)
                    ) { $0.elementsEqualFast(UnsafeRawBufferPointer(rebasing: own)) }
                }
            }
        }
        return isOneVersion ? nil : "task \(record.id) claims \(ranges), which are not on the disk"
    }

    /// Each open connection belongs to the one live attempt of its task, or to its head start.
    func checkConnections() async {
        guard let coordinator, !life.isDead else { return }
        var expected: [Int: Int] = [:]
        let known = clients.tasks
        let transfers = await coordinator.allTransfers
        for (id, transfer) in transfers {
            guard let url = known[id]?.url, let number = Self.number(in: url) else { continue }
            expected[number, default: 0] += transfer.live.connections
        }
        for (number, count) in network.open where expected[number, default: 0] != count {
            clients.complain(
                "file \(number) has \(count) connections, \(expected[number, default: 0]) of them known"
            )
        }
    }

    /// Where our file stands: under one of its names, and nobody else's file under it counts.
    private static func path(
        of file: LocalFile,
        _ intent: Intent?,
        _ disk: SimulatedDisk
    ) -> String? {
        var names = [file.partName, file.name]
        if case .publish(let name) = intent { names.append(name) }
        guard let folder = try? OpenFolder(disk.folder, fileSystem: FileSystem()) else {
            return nil
        }
        let found = names.first { name in
            (try? folder.status(of: name)).flatMap(\.self).map { folder.isRecorded($0, as: file) }
                ?? false
        }
        return found.map { disk.path($0) }
    }

    static func number(in url: String) -> Int? {
        url.split(separator: "/").last.flatMap { Int($0.dropFirst()) }
    }

    private static func file(of url: String, _ network: SimulatedNetwork) -> SimulatedFile? {
        let files = network.files
        return number(in: url).flatMap { files.indices.contains($0) ? files[$0] : nil }
    }
}

extension Coordinator {
    /// Those that run and those that have begun ahead; a task may end one while another runs.
    fileprivate var allTransfers: [(TaskID, RunningTransfer)] {
        slots.running.map { ($0, $1) } + slots.ahead.map { ($0, $1.transfer) }
    }
}
