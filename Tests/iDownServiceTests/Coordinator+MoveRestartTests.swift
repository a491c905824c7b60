// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownData
@testable import iDownService

/// Files whose place a move, a missing drive or an unreadable list leaves open at a restart.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorMoveRestartTests {
    @Test func `a folder that is not there after a restart is not taken for a lost file`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let (files, drive) = (folder + "/files", folder + "/files/drive")
            let edit = TaskEdit(directory: files)
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { try $0.edit(edit) }
                    }
                    #expect(rename(drive, folder + "/away") == 0)
                }
            ) { hub in
                try await hub.waitForMove(id)
                let record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileVanished && record.file != nil)
                #expect(record.segments.byteCount == 1 << 20)
                #expect(record.request.directory == drive)
            }
        }
    }

    @Test func `a list that cannot be read at the start is read again for the files that move`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let edit = TaskEdit(directory: folder + "/files")
            try await withHub(
                in: folder,
                begins: false,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { try $0.edit(edit) }
                    }
                }
            ) { hub in
                func rename(_ column: String, _ name: String) async throws {
                    try await hub.store.commit { transaction in
                        _ = try transaction.texts(
                            "ALTER TABLE task RENAME COLUMN \(column) TO \(name)"
                        )
                    }
                }
                try await rename("moveKind", "away")
                await hub.coordinator.begin()
                try await Task.sleep(for: .milliseconds(300))
                #expect(hub.names == ["drive"])
                try await rename("away", "moveKind")
                try await hub.waitForMove(id)
                #expect(try await hub.record(id)?.request.directory == hub.files)
                #expect(hub.names == ["a.bin.part", "drive"])
            }
        }
    }

    @Test func `a file that may be in a folder that is not there is waited for`() async throws {
        try await withLeftPartial { folder, id in
            let (drive, other) = (folder + "/files/drive", folder + "/files/other")
            let edit = TaskEdit(directory: other)
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { record throws(Refusal) in
                            let file = record.file
                            var effects = try record.edit(edit)
                            if let file, let place = record.destination {
                                effects += record.apply(
                                    .move(.making(file), to: place),
                                    at: .someTime,
                                    jitter: 0
                                )
                            }
                            return effects
                        }
                    }
                    // The kill came between the rename and its record.
                    mkdir(folder + "/away", 0o700)
                    #expect(rename(drive + "/a.bin.part", folder + "/away/a.bin.part") == 0)
                }
            ) { hub in
                // Who gives the move up hears that nobody knows where the file is.
                let third = TaskEdit(directory: hub.files)
                let coordinator = hub.coordinator
                await #expect(throws: Refusal.moving) { try await coordinator.edit(id, third) }
                let record = try #require(try await hub.record(id))
                #expect(record.destination?.directory == other)
            }
            #expect(rename(folder + "/away", other) == 0)
            try await withHub(in: folder) { hub in
                try await hub.waitForMove(id)
                let record = try #require(try await hub.record(id))
                #expect(record.request.directory == other && record.failure == nil)
                #expect(record.segments.byteCount == 1 << 20)
            }
        }
    }

    @Test func `what a move has left on a drive that is not there is deleted when the drive is`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let (files, drive) = (folder + "/files", folder + "/files/drive")
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { record in
                            // As a move to another file system leaves it, but for the new file.
                            if let file = record.file {
                                record.move = .from(directory: drive, file)
                            }
                            record.file = nil
                            record.request.directory = files
                            return [.persist]
                        }
                    }
                    #expect(rename(drive, folder + "/away") == 0)
                }
            ) { hub in
                _ = await hub.coordinator.moveEnd(of: id)
                let record = try #require(try await hub.record(id))
                #expect(record.move != nil)
            }
            #expect(rename(folder + "/away", drive) == 0)
            try await withHub(in: folder) { hub in
                try await hub.waitForMove(id)
                #expect(TestFile.names(in: drive).isEmpty)
            }
        }
    }
}
