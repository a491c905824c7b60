// SPDX-License-Identifier: Apache-2.0

/// Many objects one level below a path that come and go, exported as one entry.
///
/// All objects have the same interfaces; handlers learn from ``Call/path`` which one is called. The
/// handlers themselves must refuse a call of an object that does not exist, with `UnknownObject`.
public struct Subtree: Sendable {
    let object: ExportedObject
    let contains: @Sendable (ObjectPath) async throws -> Bool
    let children: @Sendable () async throws -> [String]

    /// Creates a subtree.
    ///
    /// - Parameters:
    ///   - interfaces: The interfaces of every object, which also gets Introspectable, Properties
    ///     and Peer.
    ///   - contains: Returns whether there is an object at a path one level below the subtree's. It
    ///     is asked for introspection, and when a call of Properties, or of a method that the
    ///     interfaces lack, is about to be refused; other calls go to their handlers without it, so
    ///     that a client's calls start in their order.
    ///   - children: Returns the last elements of all objects' paths, in the order of
    ///     introspection.
    public init(
        _ interfaces: [Interface],
        contains: @escaping @Sendable (ObjectPath) async throws -> Bool,
        children: @escaping @Sendable () async throws -> [String]
    ) {
        object = .object(interfaces)
        self.contains = contains
        self.children = children
    }

    /// Returns the outcome of a handler of Properties if the object exists; else `UnknownObject`.
    ///
    /// The subtree's own handlers check that the object exists. Those of Properties may refuse a
    /// call, or return nothing, without a check.
    func judged(
        _ outcome: Result<WireWriter, BusError>,
        at path: ObjectPath
    ) async -> Result<WireWriter, BusError> {
        switch outcome {
        case .failure(let error): return .failure(await refusal(error, at: path))
        case .success(let results):
            // An empty dictionary is its length and the padding after it: 8 bytes.
            guard results.signature == "a{sv}", results.bytes.count == 8 else { return outcome }
            let nothing = BusError.failed("The object tells nothing.")
            let error = await refusal(nothing, at: path)
            return error == nothing ? outcome : .failure(error)
        }
    }

    /// Returns the error to answer with instead of another one.
    ///
    /// - Returns: `UnknownObject` if there is no object at the path, otherwise the error as it is.
    func refusal(_ error: BusError, at path: ObjectPath) async -> BusError {
        guard (try? await contains(path)) == false else { return error }
        return .unknownObject("There is no object at \(path).")
    }
}
