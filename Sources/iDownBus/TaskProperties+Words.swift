// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A set of words on the wire that later versions may add to.
///
/// A word that is not known is kept and means "something else".
public protocol WireWord: RawRepresentable, BusType, Hashable, CustomStringConvertible
where RawValue == String {
    /// Takes any word.
    init(rawValue: String)
}

extension WireWord {
    /// A plain string, `s`.
    public static var signature: Signature { String.signature }

    /// Takes any string.
    public init(busValue: Value) throws(DecodingFailure) {
        self.init(rawValue: try String(busValue: busValue))
    }

    /// The value to send.
    public var busValue: Value { .string(rawValue) }

    /// The word itself.
    public var description: String { rawValue }
}

extension TaskProperties {
    /// Where a task stands.
    public struct State: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Starts as soon as it may.
        public static let waiting = State(rawValue: "waiting")
        /// Is under way.
        public static let downloading = State(rawValue: "downloading")
        /// Stopped by the user; the bytes are kept.
        public static let paused = State(rawValue: "paused")
        /// The file stands under its final name.
        public static let completed = State(rawValue: "completed")
        /// Given up.
        public static let failed = State(rawValue: "failed")
        /// Stopped for good; the partial data is deleted.
        public static let cancelled = State(rawValue: "cancelled")

        /// The states that this version knows, in the contract's order.
        public static let known: [State] = [
            .waiting, .downloading, .paused, .completed, .failed, .cancelled,
        ]
    }

    /// What a downloading task does now.
    public struct Activity: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The task does not download.
        public static let none = Activity(rawValue: "")
        /// No byte has come yet.
        public static let connecting = Activity(rawValue: "connecting")
        /// Bytes come.
        public static let transferring = Activity(rawValue: "transferring")
        /// All bytes are there and are checked.
        public static let verifying = Activity(rawValue: "verifying")
    }

    /// Why a waiting task does not start.
    public struct Hold: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing holds it.
        public static let none = Hold(rawValue: "")
        /// All slots are taken.
        public static let queue = Hold(rawValue: "queue")
        /// The last try failed; the next comes at ``TaskProperties/retryAt``.
        public static let retry = Hold(rawValue: "retry")
        /// There is no network.
        public static let offline = Hold(rawValue: "offline")
        /// The network costs by the byte, and the user wants to wait for another.
        public static let metered = Hold(rawValue: "metered")
        /// The battery is low, and the user wants to save it.
        public static let battery = Hold(rawValue: "battery")
        /// The file system has no room for the file.
        public static let space = Hold(rawValue: "space")
    }

    /// What is known of a finished file's bytes.
    public struct Integrity: WireWord {
        /// The word on the wire.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file is not finished.
        public static let unknown = Integrity(rawValue: "")
        /// A digest matched.
        public static let checksum = Integrity(rawValue: "checksum")
        /// Every response carried the same strong validator.
        public static let validators = Integrity(rawValue: "validators")
        /// The length is right.
        public static let length = Integrity(rawValue: "length")
        /// Nothing: the server gave no length.
        public static let none = Integrity(rawValue: "none")
    }
}
