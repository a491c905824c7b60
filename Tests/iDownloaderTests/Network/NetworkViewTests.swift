// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownloader

@Suite struct NetworkViewTests {
    // The kernel's numbers (linux/rtnetlink.h, linux/if_link.h, linux/if.h), written out so that
    // the test does not agree with a wrong constant.
    private static let (newLink, newAddress, newRoute) = (UInt16(16), UInt16(20), UInt16(24))
    private static let (up, loopback, running) = (UInt32(1), UInt32(8), UInt32(64))

    private static func message(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        bytes(UInt32(16 + payload.count)) + bytes(type) + bytes(UInt16(0)) + bytes(UInt32(1))
            + bytes(UInt32(0)) + payload
    }

    private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }

    private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        return bytes(UInt16(4 + value.count)) + bytes(type) + value + padding
    }

    private static func link(
        _ index: Int32,
        _ flags: UInt32,
        kind: String? = nil,
        in master: UInt32? = nil
    ) -> [UInt8] {
        let info =
            (kind.map { attribute(18, attribute(1, Array($0.utf8) + [0])) } ?? [])
            + (master.map { attribute(10, bytes($0)) } ?? [])
        let head = bytes(UInt16(0)) + bytes(UInt16(1)) + bytes(index) + bytes(flags)
        return message(newLink, head + bytes(UInt32(0)) + attribute(3, Array("eth".utf8)) + info)
    }

    private static func address(on index: UInt32, scope: UInt8 = 0) -> [UInt8] {
        message(newAddress, [2, 24, 0, scope] + bytes(index))
    }

    private static func route(
        by index: UInt32,
        prefix: UInt8 = 0,
        table: UInt8 = 254,
        type: UInt8 = 1,
        flags: UInt32 = 0
    ) -> [UInt8] {
        let head: [UInt8] = [2, prefix, 0, 0, table, 3, 0, type] + bytes(flags)
        return message(newRoute, head + attribute(4, bytes(index)))
    }

    private static func isOnline(_ messages: [[UInt8]]) -> Bool {
        var view = NetworkView()
        for message in messages {
            for message in NetlinkMessage.messages(in: message) { view.take(message) }
        }
        return view.isOnline
    }

    private static let lo = link(1, up | loopback | running)
    private static let eth = link(2, up | running)

    @Test(
        arguments: [
            ([], false),
            ([lo, address(on: 1)], false),
            ([lo, eth, address(on: 2)], true),
            ([lo, eth], false),
            ([lo, eth, address(on: 2, scope: 253)], false),
            // The cable is pulled, or the link is switched off.
            ([lo, link(2, up), address(on: 2)], false),
            ([lo, link(2, running), address(on: 2)], false),
            // Where there is a card, what containers leave behind is no way out by itself.
            ([lo, link(2, up), link(3, up | running, kind: "bridge"), address(on: 3)], false),
            ([lo, link(2, up), link(3, up | running, kind: "wireguard"), address(on: 3)], false),
            // A bridge or a bond with a card in it is, and so is a VLAN.
            (
                [
                    lo, link(3, up | running, kind: "bridge"), link(2, up | running, in: 3),
                    address(on: 3),
                ], true
            ),
            (
                [lo, link(3, up | running, kind: "bond"), link(2, up, in: 3), address(on: 3)],
                false
            ),
            ([lo, eth, link(3, up | running, kind: "vlan"), address(on: 3)], true),
            ([lo, link(2, up), link(3, up, kind: "vlan"), address(on: 3)], false),
            // A container has no card.
            ([lo, link(3, up | running, kind: "veth"), address(on: 3)], true),
            ([lo, link(3, up, kind: "veth"), address(on: 3)], false),
            ([lo, link(3, up | running, kind: "veth"), address(on: 3), route(by: 3)], true),
        ] as [([[UInt8]], Bool)]
    )
    func `links and addresses`(messages: [[UInt8]], isOnline: Bool) {
        #expect(Self.isOnline(messages) == isOnline)
    }

    @Test(
        arguments: [
            (route(by: 2), true),
            (route(by: 2, table: 52), true),
            (route(by: 2, prefix: 24), false),
            (route(by: 2, type: 7), false),
            (route(by: 2, table: 255), false),
            (route(by: 2, flags: 16), false),
            (route(by: 2, flags: 1), false),
            (route(by: 1), false),
        ] as [([UInt8], Bool)]
    )
    func `a default route that leads out is a network`(route: [UInt8], isOnline: Bool) {
        #expect(Self.isOnline([Self.lo, Self.link(2, Self.up), route]) == isOnline)
    }

    @Test func `several messages come in one datagram`() {
        #expect(Self.isOnline([Self.lo + Self.eth + Self.address(on: 2)]))
    }

    @Test func `no bytes are a trap`() {
        let whole = Self.link(2, 65, kind: "veth") + Self.address(on: 2) + Self.route(by: 2)
        for count in 0...whole.count { _ = Self.isOnline([Array(whole.prefix(count))]) }
        var random = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            var broken = whole
            for _ in 0..<4 {
                broken[Int.random(in: broken.indices, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            _ = Self.isOnline([broken])
        }
    }

    @Test func `the kernel's own word can be read`() async {
        let network = KernelNetwork()
        var states = network.states.makeAsyncIterator()
        let first = await states.next()
        #expect(first == KernelNetwork.isOnline)
    }
}
