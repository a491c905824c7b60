// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc

/// Tells whether the computer is online, by the links and routes that the kernel knows.
///
/// No packet is sent, and links and routes are read again only when the kernel reports a change.
package actor KernelNetwork {
    /// Gives the present state, then the state after each change; true means online.
    ///
    /// If the kernel does not tell, for example in a sandbox, the state is true: a task that fails
    /// to connect is better than one that never tries.
    package nonisolated let states: AsyncStream<Bool>

    /// Receives the reports of the kernel while this object lives; nil if the kernel sends none.
    private let source: (any DispatchSourceRead)?

    package init() {
        let (states, post) = AsyncStream.makeStream(
            of: Bool.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.states = states
        // The socket listens before the first look, so that no change in between is missed.
        let listener = NetlinkSocket(groups: Self.groups)
        post.yield(Self.isOnline)
        guard let listener else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: listener.descriptor.number,
            queue: DispatchQueue(label: "org.idown.network")
        )
        source.setEventHandler {
            if listener.drain() { post.yield(Self.isOnline) }
        }
        source.activate()
        self.source = source
    }

    /// Whether another computer can be reached now.
    package static var isOnline: Bool {
        guard let socket = NetlinkSocket() else { return true }
        var view = NetworkView()
        for type in [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE] {
            let all = rtgenmsg(rtgen_family: UInt8(AF_UNSPEC))
            guard socket.dump(UInt16(type), all, { view.take($0) }) else { return true }
        }
        return view.isOnline
    }

    private static let groups = UInt32(
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR
            | RTMGRP_IPV6_ROUTE
    )
}
