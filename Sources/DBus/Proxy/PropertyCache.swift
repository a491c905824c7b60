// SPDX-License-Identifier: Apache-2.0

/// The properties of an interface, asked for once and kept as long as they hold.
///
/// A change that PropertiesChanged tells with its value is taken in; one that comes without its
/// value, and a new owner of the destination, have all properties asked for again when they are next
/// needed. A property that changes without a signal (`EmitsChangedSignal` is `false`) is stale here:
/// ask for it by ``Proxy/get(_:as:)``.
///
/// The cache follows the bus until the last reference to it is gone.
public final class PropertyCache: Sendable {
    /// The interface; its timeout holds for the cache's questions.
    public let proxy: Proxy
    /// An element at the start, and after each change of a property or of the owner.
    ///
    /// Several changes may share one element. The stream ends when the connection does.
    public let changes: AsyncStream<Void>
    private let follower: Task<Void, Never>
    private let state: State

    /// What is known, shared with the task that follows the bus.
    private actor State {
        var values: [String: Value]?
        /// How often anything changed: an answer to an older question may not be kept.
        var version = 0
        var isFollowing = true

        func take(_ event: Proxy.Event, of interface: InterfaceName) -> Bool {
            switch event {
            case .owner: values = nil
            case .signal(let message):
                let contents = Interface.propertiesChanged.contents(of: message)
                guard let (name, changed, invalidated) = contents, name == interface.rawValue else {
                    return false
                }
                values = invalidated.isEmpty ? values?.merging(changed) { $1 } : nil
            }
            version += 1
            return true
        }

        func keep(_ new: [String: Value], of version: Int) {
            if isFollowing, version == self.version { values = new }
        }

        func end() {
            isFollowing = false
            values = nil
        }
    }

    init(_ proxy: Proxy, following events: SignalSequence<Proxy.Event>) {
        self.proxy = proxy
        let state = State()
        self.state = state
        let (changes, change) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.changes = changes
        follower = Task {
            do {
                for try await event in events {
                    if await state.take(event, of: proxy.interface) { change.yield() }
                }
            } catch {
                // Too many signals came: from now on every question is asked.
            }
            await state.end()
            change.finish()
        }
    }

    deinit { follower.cancel() }

    /// The value of a property, as it was last told.
    ///
    /// - Throws: What ``all()`` throws; `UnknownProperty`; `InconsistentMessage` if it is of another
    ///   type.
    public func get<Content: BusType>(
        _ property: MemberName,
        as type: Content.Type = Content.self
    ) async throws(BusError) -> Content {
        guard let value = try await all()[property.rawValue] else {
            throw .unknownProperty("\(proxy.interface) has no property \(property).")
        }
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw .inconsistentMessage("The property \(property) cannot be read: \(error).")
        }
    }

    /// All properties, as they were last told.
    ///
    /// - Throws: What ``Proxy/getAll()`` throws where they have to be asked for.
    public func all() async throws(BusError) -> [String: Value] {
        if let values = await state.values { return values }
        let version = await state.version
        let values = try await proxy.getAll()
        await state.keep(values, of: version)
        return values
    }
}
