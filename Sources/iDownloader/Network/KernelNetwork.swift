// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc

/// Tells whether there is a network, by what the kernel knows of links and routes.
///
/// Nothing is asked of the network itself, and nothing is looked at before the kernel says that
/// something is different.
package actor KernelNetwork {
    /// What it is at present, and then every change, as long as somebody listens.
    ///
    /// Where the kernel does not tell, for example in a sandbox, the network is taken to be there:
    /// a task that tries in vain is better than one that never tries.
    package nonisolated let states: AsyncStream<Bool>

    /// Tells for as long as this object lives.
    private let source: (any DispatchSourceRead)?

    package init() {
        let (states, post) = AsyncStream.makeStream(
            of: Bool.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.states = states
        // It listens before it looks: what changes in between is looked at again.
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

    /// Whether there is a way to another computer at this moment.
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
