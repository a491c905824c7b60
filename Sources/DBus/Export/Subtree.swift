// SPDX-License-Identifier: Apache-2.0

/// Objects one level below a path that come and go by the thousand: one entry stands for all.
///
/// All have the same interfaces; handlers learn from ``Call/path`` which one is meant. An object
/// that is not there is for them to refuse, with `UnknownObject`.
public struct Subtree: Sendable {
    let object: ExportedObject
    let contains: @Sendable (ObjectPath) async throws -> Bool
    let children: @Sendable () async throws -> [String]

    /// Makes a subtree.
    ///
    /// - Parameters:
    ///   - interfaces: Those of every object; Introspectable, Properties and Peer come along.
    ///   - contains: Whether there is an object at a path one level below the subtree's.
    ///   - children: The last elements of all objects' paths, in the order to show them.
    public init(
        _ interfaces: [Interface],
        contains: @escaping @Sendable (ObjectPath) async throws -> Bool,
        children: @escaping @Sendable () async throws -> [String]
    ) {
        object = .object(interfaces)
        self.contains = contains
        self.children = children
    }

    /// What a handler that is the same for all objects has answered, where its object is there.
    ///
    /// Handlers of its own know; these may refuse, or tell nothing, before they have looked.
    func judged(
        _ outcome: Result<WireWriter, BusError>,
        at path: ObjectPath
    ) async -> Result<WireWriter, BusError> {
        switch outcome {
        case .failure(let error): return .failure(await refusal(error, at: path))
        case .success(let results):
            // The length of an empty dictionary, and the padding behind it.
            guard results.signature == "a{sv}", results.bytes.count == 8 else { return outcome }
            let nothing = BusError.failed("The object tells nothing.")
            let error = await refusal(nothing, at: path)
            return error == nothing ? outcome : .failure(error)
        }
    }

    /// The subtree's answer to a member that its objects do not have.
    ///
    /// - Returns: `UnknownObject` where there is no such object, else the error as it is.
    func refusal(_ error: BusError, at path: ObjectPath) async -> BusError {
        guard (try? await contains(path)) == false else { return error }
        return .unknownObject("There is no object at \(path).")
    }
}
