// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import iDownState
import iDownTesting
import iDownloader

/// A disk that forgets what was not synced: a real folder, and a list of what a power cut undoes.
final class SimulatedDisk: DiskObserver {
    private struct Write {
        let offset: Int64
        let count: Int
        /// What stood there before; shorter where the file ended before.
        let old: [UInt8]
    }

    private struct Rename {
        /// Nil for a file that had no name.
        let old: String?
        let new: String
    }

    private struct State {
        /// By inode, in the order in which they were made.
        var writes: [UInt64: [Write]] = [:]
        var renames: [Rename] = []
        var life = Life()
        var isFull = false
        var nextSyncFails = false
    }

    let folder: String
    let longestWrite = Int.max
    /// A fault that is planted: syncs are believed to have happened that have not.
    private let forgetsSyncs: Bool
    private let state = Mutex(State())

    init(folder: String, forgetsSyncs: Bool) {
        self.folder = folder
        self.forgetsSyncs = forgetsSyncs
    }

    // MARK: The world's side

    /// Calls are made by this run of the service from now on.
    func serve(_ life: Life) { state.withLock { $0.life = life } }

    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// The next sync reports that the disk has lost what was written.
    func failNextSync(_ fails: Bool = true) { state.withLock { $0.nextSyncFails = fails } }

    /// The power is cut: of what was not synced, this and that is lost, in no order.
    func crash(using dice: inout some RandomNumberGenerator) {
        let (writes, renames) = state.withLock { state in
            defer { (state.writes, state.renames) = ([:], []) }
            return (state.writes, state.renames)
        }
        for rename in renames.reversed() where Bool.random(using: &dice) {
            guard let old = rename.old else {
                unlink(path(rename.new))
                continue
            }
            guard access(path(old), F_OK) != 0 else { continue }
            _ = Glibc.rename(path(rename.new), path(old))
        }
        for name in names {
            let descriptor = open(path(name), O_RDWR)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            for write in (writes[inode(of: descriptor)] ?? []).reversed() {
                if Bool.random(using: &dice) { undo(write, descriptor) }
            }
        }
    }

    /// The names in the folder, in order.
    var names: [String] { TestFile.names(in: folder).sorted() }

    func path(_ name: String) -> String { folder + "/" + name }

    // MARK: DiskObserver

    func fault(of call: StaticString, on name: String) -> DiskFault? {
        state.withLock { state in
            guard state.life.ask() else { return DiskFault(EIO) }
            switch "\(call)" {
            case "pwrite", "fallocate": return state.isFull ? DiskFault(ENOSPC) : nil
            case "fdatasync", "fsync":
                defer { state.nextSyncFails = false }
                return state.nextSyncFails ? DiskFault(EIO) : nil
            default: return nil
            }
        }
    }

    func willWrite(_ descriptor: Int32, at offset: Int64, count: Int) {
        let (isAlive, isFull) = state.withLock { (!$0.life.isDead, $0.isFull) }
        guard isAlive, !isFull else { return }
        let old = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        let write = Write(offset: offset, count: count, old: old)
        let inode = inode(of: descriptor)
        state.withLock { $0.writes[inode, default: []].append(write) }
    }

    func willTruncate(_ descriptor: Int32, to length: Int64) {
        guard state.withLock({ !$0.life.isDead }) else { return }
        let inode = inode(of: descriptor)
        // What lies behind is claimed by nobody any more.
        state.withLock { $0.writes[inode]?.removeAll { $0.offset + Int64($0.count) > length } }
    }

    func didSynchronize(_ descriptor: Int32) {
        guard !forgetsSyncs else { return }
        var status = stat()
        fstat(descriptor, &status)
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        state.withLock { state in
            if isFolder { state.renames = [] } else { state.writes[UInt64(status.st_ino)] = nil }
        }
    }

    func didLink(as name: String, in folder: Int32) {
        state.withLock { $0.renames.append(Rename(old: nil, new: name)) }
    }

    func didRename(_ old: String, as new: String, in folder: Int32) {
        state.withLock { $0.renames.append(Rename(old: old, new: new)) }
    }

    // MARK: Undoing

    private func inode(of descriptor: Int32) -> UInt64 {
        var status = stat()
        fstat(descriptor, &status)
        return UInt64(status.st_ino)
    }

    private func undo(_ write: Write, _ descriptor: Int32) {
        // What the file system had room for and never got its bytes reads as zeros.
        let bytes = write.old + [UInt8](repeating: 0, count: write.count - write.old.count)
        var status = stat()
        fstat(descriptor, &status)
        let room = max(0, Int64(status.st_size) - write.offset)
        pwrite(descriptor, bytes, min(bytes.count, Int(room)), off_t(write.offset))
    }
}
