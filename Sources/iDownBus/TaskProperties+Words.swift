// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A word on the bus from a set that later versions may extend.
///
/// Unknown words are kept. Treat an unknown word as "something else".
public protocol WireWord: RawRepresentable, BusType, Hashable, CustomStringConvertible
where RawValue == String {
    /// Takes any word.
    init(rawValue: String)
}

extension WireWord {
    /// A plain string, `s`.
    public static var signature: Signature { String.signature }

    /// Reads any string.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self.init(rawValue: try String(from: &reader))
    }

    /// Appends the word.
    public func write(to writer: inout WireWriter) { rawValue.write(to: &writer) }

    /// The word itself.
    public var description: String { rawValue }
}

extension TaskProperties {
    /// The state of a task.
    public struct State: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The task starts as soon as a slot is free and nothing holds it.
        public static let waiting = State(rawValue: "waiting")
        /// The task is downloading.
        public static let downloading = State(rawValue: "downloading")
        /// The user paused the task; the bytes on disk are kept.
        public static let paused = State(rawValue: "paused")
        /// The file is complete and has its final name.
        public static let completed = State(rawValue: "completed")
        /// idown gave up; see ``TaskProperties/errorCode``.
        public static let failed = State(rawValue: "failed")
        /// The user cancelled the task; the partial file is deleted.
        public static let cancelled = State(rawValue: "cancelled")

        /// The states that this version knows, in the order of the contract.
        public static let known: [State] = [
            .waiting, .downloading, .paused, .completed, .failed, .cancelled,
        ]
    }

    /// The present activity of a downloading task.
    public struct Activity: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The task is not downloading.
        public static let none = Activity(rawValue: "")
        /// No byte has arrived yet.
        public static let connecting = Activity(rawValue: "connecting")
        /// Bytes arrive.
        public static let transferring = Activity(rawValue: "transferring")
        /// All bytes are there and are being checked, or a finished file is read again.
        public static let verifying = Activity(rawValue: "verifying")
        /// The file is being moved to another folder or name; the task may be in any state.
        public static let moving = Activity(rawValue: "moving")
    }

    /// The reason why a waiting task does not start.
    public struct Hold: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing holds the task.
        public static let none = Hold(rawValue: "")
        /// No slot is free.
        public static let queue = Hold(rawValue: "queue")
        /// The last attempt failed; the next one starts at ``TaskProperties/retryAt``.
        public static let retry = Hold(rawValue: "retry")
        /// There is no network, or it asks for a sign-in first.
        public static let offline = Hold(rawValue: "offline")
        /// The network is metered, and the user wants to wait for another one.
        public static let metered = Hold(rawValue: "metered")
        /// The battery is low, and the user wants to save it.
        public static let battery = Hold(rawValue: "battery")
        /// The disk has no room for the file.
        public static let space = Hold(rawValue: "space")
        /// The settings file has a mistake, so that the user's choice of proxy is unknown.
        public static let settings = Hold(rawValue: "settings")
    }

    /// How a finished file was checked.
    public struct Integrity: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file is not finished.
        public static let unknown = Integrity(rawValue: "")
        /// A digest matched.
        public static let checksum = Integrity(rawValue: "checksum")
        /// Every response had the same strong validator.
        public static let validators = Integrity(rawValue: "validators")
        /// The file has the length that the server announced.
        public static let length = Integrity(rawValue: "length")
        /// The file was not checked, because the server announced no length.
        public static let none = Integrity(rawValue: "none")
    }
}
