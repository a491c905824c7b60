// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
package import Logging
import Synchronization
import iDownBus
package import iDownData
package import iDownSettings
import iDownState
import iDownloader

/// Keeps the settings in force and their file, which people may edit while the service runs.
///
/// The file is read and written in the order of the calls, on a thread of its own because a disk
/// may be slow. Every change starts from the file as it is then, so that no edit by others is lost.
package final class SettingsKeeper: Sendable {
    /// The settings at one time.
    package struct InForce: Sendable {
        package fileprivate(set) var settings: Settings
        /// The mistake in the file, if it hides which proxy the user wants; nil otherwise.
        package fileprivate(set) var unknownProxy: SettingsFailure?
        /// Why the file could not be read the last time, if that may pass: then it has to be read
        /// again.
        fileprivate(set) var unread: SettingsFailure?
        /// The settings of the last file without a mistake; nil where this run has read none.
        fileprivate var lastGood: Settings?
        /// Whether the file existed when it was last read.
        fileprivate var hadFile = false
        /// What was last logged about the file.
        fileprivate var told: [String] = []
        fileprivate var hasEnded = false
        /// The number of the reading or change, higher than all earlier ones.
        fileprivate(set) var version = 0
    }

    /// The time after which a missing file counts as deleted, in milliseconds: editors and dotfile
    /// managers remove the old file before they put the new one in its place.
    private static let longestAbsence = 1_000

    private let file: SettingsFile
    private let log: Logger
    private let queue = DispatchQueue(label: "org.idown.settings-file")
    private let inForce: Mutex<InForce>

    /// Reads the file.
    package init(_ file: SettingsFile, log: Logger) {
        self.file = file
        self.log = log
        let reading = file.read()
        var now = InForce(settings: reading.settings, unknownProxy: reading.unknownProxy)
        inForce = Mutex(now)
        settle(reading, &now)
        now.unread = reading.passingFailure
        inForce.withLock { $0 = now }
    }

    /// The settings that the last reading or change has left.
    package var now: InForce { inForce.withLock(\.self) }

    /// Reads the file again.
    ///
    /// As long as anything in it is wrong, the last good settings stay in force. Where it cannot be
    /// read for a moment, everything stays as it is.
    func read() async -> InForce {
        await onDisk { [self] now in
            refresh(&now)
            return now
        }
    }

    /// Reads the user's folders again.
    func readFolders() async -> StandardFolders { await onDisk { _ in .current() } }

    /// Changes a setting; the change is durable on return.
    ///
    /// - Returns: The settings in force afterwards, and why the change failed: `StoreFailed`, also
    ///   while a mistake hides which proxy the user wants, because the new file would lose the
    ///   proxy.
    func change(
        _ setting: Setting,
        to content: Setting.Content
    ) async -> (now: InForce, failure: (any Error)?) {
        await onDisk { [self] now in
            guard !now.hasEnded else { return (now, ServiceRefusal.stopping) }
            refresh(&now)
            let old = now.settings[setting]
            // Get hides a password, so the value that it returned counts as unchanged.
            guard content != old, content != setting.shown(old) else { return (now, nil) }
            do {
                if let unread = now.unread { throw unread }
                if setting.isHidden(content) {
                    throw ManagerError(
                        .invalidArguments,
                        "\(setting.rawValue) has `***` in place of a password. Give the password."
                    )
                }
                if let unknownProxy = now.unknownProxy {
                    throw ManagerError(
                        .storeFailed,
                        "Nothing was changed: the settings file has a mistake (\(unknownProxy))."
                            + " Mend it first."
                    )
                }
                var changed = now.settings
                changed[setting] = content
                try file.write(changed, now: WallTime.now)
                (now.settings, now.lastGood) = (changed, changed)
                return (now, nil)
            } catch {
                return (now, error)
            }
        }
    }

    /// Refuses further changes, and returns when those under way are made.
    func end() async { await onDisk { $0.hasEnded = true } }

    private func onDisk<Output: Sendable>(
        _ body: @escaping @Sendable (inout InForce) -> Output
    ) async -> Output {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                // Only the queue changes the value; the lock protects those who read it meanwhile.
                var now = now
                now.version += 1
                let output = body(&now)
                inForce.withLock { $0 = now }
                continuation.resume(returning: output)
            }
        }
    }

    private func refresh(_ now: inout InForce) {
        var reading = file.read(lastGood: now.lastGood)
        for _ in 0..<Self.longestAbsence / 50 where reading.isAbsent && now.hadFile {
            usleep(50_000)
            reading = file.read(lastGood: now.lastGood)
        }
        let wasUnread = now.unread != nil
        now.unread = reading.passingFailure
        // There may be no mistake in the file, for which downloads would have to wait.
        if let unread = now.unread, now.lastGood != nil {
            if !wasUnread { log.warning("the settings file is read again soon: \(unread)") }
            return
        }
        settle(reading, &now)
        if now.unknownProxy != nil, reading.failure == nil {
            log.notice("the settings file is mended, and downloads go on")
        }
        if now.settings != reading.settings { log.notice("the settings file has changed") }
        (now.settings, now.unknownProxy) = (reading.settings, reading.unknownProxy)
    }

    /// Logs what is wrong in the file, once, and keeps settings without a mistake as the last good
    /// ones.
    private func settle(_ reading: SettingsReading, _ now: inout InForce) {
        if reading.failure == nil { now.lastGood = reading.settings }
        now.hadFile = !reading.isAbsent
        let unusable = file.unusableProxy(in: reading, isProxy: Engine.isProxy)
        let failures = [reading.unknownProxy, reading.failure, unusable]
            .map { $0?.description ?? "" }
        if now.told != failures + reading.notes {
            for note in reading.notes { log.warning("\(file.path): \(note); it has no effect") }
            if let failure = reading.unknownProxy {
                log.error("downloads wait until the settings file is mended: \(failure)")
            } else if let failure = reading.failure {
                log.error("the last good settings stay in force: \(failure)")
            }
            if let unusable { log.error("downloads fail: \(unusable)") }
            now.told = failures + reading.notes
        }
        do {
            try file.keep(reading)
        } catch {
            log.warning("the last good settings could not be kept: \(error)")
        }
    }
}
