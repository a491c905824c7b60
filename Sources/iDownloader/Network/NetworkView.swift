// SPDX-License-Identifier: Apache-2.0

import CLinux

/// Collects links, addresses and routes of the kernel to decide whether the computer is online.
struct NetworkView {
    private var loopbacks: Set<UInt32> = []
    /// The hardware links that are up and have a carrier.
    private var outward: Set<UInt32> = []
    /// Other links with a carrier, which software has made.
    private var virtual: Set<UInt32> = []
    private var hasCard = false
    private var addressed: Set<UInt32> = []
    /// The links of default routes; 0 for a route over several links.
    private var defaultRoutes: Set<UInt32> = []

    /// Whether another computer can be reached.
    ///
    /// That is so with a default route, or else with a network card that has an address, because it
    /// may lead to a local network. The bridge or bond that a card belongs to counts like the card,
    /// and so does a VLAN. Other virtual links count only if there is no card, as in a container:
    /// those of containers and virtual machines stay up when every cable is unplugged.
    var isOnline: Bool {
        if !defaultRoutes.subtracting(loopbacks).isEmpty { return true }
        return !(hasCard ? outward : outward.union(virtual)).isDisjoint(with: addressed)
    }

    mutating func take(_ message: NetlinkMessage) {
        switch Int(message.type) {
        case Int(RTM_NEWLINK): takeLink(message)
        case Int(RTM_NEWADDR): takeAddress(message)
        case Int(RTM_NEWROUTE): takeRoute(message)
        default: break
        }
    }

    private mutating func takeLink(_ message: NetlinkMessage) {
        guard let link = message.head(ifinfomsg.self) else { return }
        let index = UInt32(bitPattern: link.ifi_index)
        if link.ifi_flags & Flag.loopback != 0 {
            loopbacks.insert(index)
            return
        }
        let attributes = message.attributes(after: ifinfomsg.self)
        let info = attributes[UInt16(IFLA_LINKINFO)]
        // Only a link that software has made has a kind.
        let kind = info.flatMap { NetlinkMessage.attributes(of: $0)[UInt16(IFLA_INFO_KIND)] }
        if kind == nil { hasCard = true }
        guard link.ifi_flags & Flag.up != 0, link.ifi_flags & Flag.running != 0 else { return }
        if kind == nil {
            outward.insert(index)
            if let master = attributes[UInt16(IFLA_MASTER)]?.read(UInt32.self) {
                outward.insert(master)
            }
        } else if kind?.elementsEqual("vlan\0".utf8) == true {
            outward.insert(index)
        } else {
            virtual.insert(index)
        }
    }

    private mutating func takeAddress(_ message: NetlinkMessage) {
        guard let address = message.head(ifaddrmsg.self) else { return }
        // Link-local addresses are ignored because every link assigns one to itself.
        guard address.ifa_scope < UInt8(RT_SCOPE_LINK.rawValue) else { return }
        addressed.insert(address.ifa_index)
    }

    private mutating func takeRoute(_ message: NetlinkMessage) {
        guard let route = message.head(rtmsg.self), route.rtm_dst_len == 0,
            Int(route.rtm_type) == Int(RTN_UNICAST),
            Int(route.rtm_table) != Int(RT_TABLE_LOCAL.rawValue),
            route.rtm_flags & (Flag.dead | Flag.linkDown) == 0
        else { return }
        let attributes = message.attributes(after: rtmsg.self)
        let link = attributes[UInt16(RTA_OIF.rawValue)]?.read(UInt32.self)
        defaultRoutes.insert(link ?? 0)
    }

    /// Flags of linux/rtnetlink.h and of linux/if.h, which conflicts with glibc's net/if.h.
    private enum Flag {
        static let up: UInt32 = 1 << 0
        static let loopback: UInt32 = 1 << 3
        static let running: UInt32 = 1 << 6
        static let dead: UInt32 = 1 << 0
        static let linkDown: UInt32 = 1 << 4
    }
}
