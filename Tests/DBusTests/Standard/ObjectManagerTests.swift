// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct ObjectManagerTests {
    private let manager: Interface = .objectManager { call in
        [try call.path.appending("a"): ["org.example.Room1": ["Name": Value.string("A")]]]
    }

    @Test func `the objects come with their interfaces and properties`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([manager], at: samplePath)
            let proxy = Proxy(
                client,
                await service.uniqueName,
                samplePath,
                "org.freedesktop.DBus.ObjectManager"
            )
            let objects = try await proxy.call(
                "GetManagedObjects",
                returning: [ObjectPath: [String: [String: Value]]].self
            )
            #expect(
                objects == [
                    try samplePath.appending("a"): ["org.example.Room1": ["Name": .string("A")]]
                ]
            )
        }
    }

    @Test func `comings and goings have the specification's signatures`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([manager], at: samplePath)
            let signals = try await SignalLog(MatchRule(path: samplePath), on: client)
            let path = try samplePath.appending("b")
            try await service.emit(
                Interface.interfacesAdded,
                at: samplePath,
                path,
                ["org.example.Room1": [:]]
            )
            let names = ["org.example.Room1"]
            try await service.emit(Interface.interfacesRemoved, at: samplePath, path, names)
            try await signals.first("the object's going") { $0.member == "InterfacesRemoved" }
            let shapes = signals.signals.map { $0.arguments.map(\.signature.rawValue).joined() }
            #expect(shapes == ["oa{sa{sv}}", "oas"])
            let document = try await service.introspection(at: samplePath)
            for shape in ["a{oa{sa{sv}}}", "a{sa{sv}}", "\"as\""] {
                #expect(document.contains(shape), "\(document)")
            }
        }
    }
}
