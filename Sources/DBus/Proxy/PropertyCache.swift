// SPDX-License-Identifier: Apache-2.0

/// A cache of an interface's properties, kept current by the bus's signals.
///
/// If PropertiesChanged contains a new value, the cache takes that value. If it comes without a
/// value, or the destination gets a new owner, the cache asks for all properties again when they
/// are next needed. A property that changes without a signal (`EmitsChangedSignal` is `false`) gets
/// out of date here: use ``Proxy/get(_:as:)`` for it.
///
/// The cache listens to the bus until the last reference to it is gone.
public final class PropertyCache: Sendable {
    /// The proxy of the interface; its timeout applies to the cache's calls, too.
    public let proxy: Proxy
    /// A stream with an element at the start, and after each change of a property or of the owner.
    ///
    /// Several changes may share one element. The stream ends when the connection does.
    public let changes: AsyncStream<Void>
    private let follower: Task<Void, Never>
    private let state: State

    /// The cached values, shared with the task that listens to the bus.
    private actor State {
        var values: [String: Value]?
        /// The number of changes so far; an answer to a question asked before the last change is
        /// not kept.
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
                // Too many signals came: from now on every read asks the service.
            }
            await state.end()
            change.finish()
        }
    }

    deinit { follower.cancel() }

    /// Returns the last known value of a property.
    ///
    /// - Throws: The errors of ``all()``; `UnknownProperty`; `InconsistentMessage` if the value has
    ///   another type.
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

    /// Returns the last known values of all properties.
    ///
    /// - Throws: The errors of ``Proxy/getAll()``, if the cache has to ask.
    public func all() async throws(BusError) -> [String: Value] {
        if let values = await state.values { return values }
        let version = await state.version
        let values = try await proxy.getAll()
        await state.keep(values, of: version)
        return values
    }
}
