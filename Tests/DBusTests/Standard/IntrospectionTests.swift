// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct IntrospectionTests {
    private let definition = "/usr/share/xml/dbus-1/introspect.dtd"

    @Test(arguments: ["/", "/org", "/org/example", "/org/example/Sample1"] as [ObjectPath])
    func `every prefix answers with a valid document`(_ path: ObjectPath) async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(
                client,
                await service.uniqueName,
                path,
                "org.freedesktop.DBus.Introspectable"
            )
            let document = try await proxy.call("Introspect", returning: String.self)
            let check = try await ChildProcess.run(
                "xmllint",
                ["--noout", "--nonet", "--dtdvalid", definition, "-"],
                input: document
            )
            #expect(check.succeeded, "\(check.standardError)\n\(document)")
            #expect(document.hasPrefix("<!DOCTYPE node PUBLIC"))
        }
    }

    @Test func `the document says what the table says`() async throws {
        try await withServiceAndClient { service, _, _ in
            try await service.export([sample()], at: samplePath)
            try await service.export([], at: "/org/example/Sample1/b")
            try await service.export([], at: "/org/example/Sample1/a")
            let document = try await service.introspection(at: samplePath)
            #expect(document == (try await service.introspection(at: samplePath)))
            let parts = [
                #"<interface name="org.example.Sample1">"#,
                #"<method name="Nothing"/>"#,
                """
                    <method name="Join">
                      <arg name="left" type="s" direction="in"/>
                      <arg name="right" type="s" direction="in"/>
                      <arg name="whole" type="s" direction="out"/>
                    </method>
                """,
                """
                    <property name="Version" type="s" access="read">
                      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
                    </property>
                    <property name="Size" type="u" access="readwrite"/>
                """,
                #"value="false"/>"#,
                #"value="invalidates"/>"#,
                """
                    <signal name="Changed">
                      <arg name="id" type="s"/>
                      <arg name="values" type="a{sv}"/>
                    </signal>
                """,
                #"<interface name="org.freedesktop.DBus.Properties">"#,
                #"<interface name="org.freedesktop.DBus.Introspectable">"#,
                #"<interface name="org.freedesktop.DBus.Peer">"#,
                "  <node name=\"a\"/>\n  <node name=\"b\"/>\n</node>",
            ]
            for part in parts { #expect(document.contains(part), "\(part)\n\(document)") }
        }
    }

    @Test func `busctl finds the object in the tree`() async throws {
        try await withServiceAndClient { service, _, bus in
            try await service.export([sample()], at: samplePath)
            let name = await service.uniqueName
            let tree = try await ChildProcess.run(
                "busctl",
                ["--address=\(bus.address)", "--list", "tree", name.rawValue]
            )
            #expect(
                tree.standardOutput.split(separator: "\n").contains("/org/example/Sample1"),
                "\(tree)"
            )
        }
    }

    @Test func `Peer is answered on every path`() async throws {
        try await withServiceAndClient { service, client, _ in
            for path: ObjectPath in [samplePath, "/nowhere"] {
                let peer = Proxy(
                    client,
                    await service.uniqueName,
                    path,
                    "org.freedesktop.DBus.Peer"
                )
                try await peer.call("Ping")
                #expect(try await peer.call("GetMachineId", returning: String.self).count == 32)
            }
        }
    }

    @Test func `prefixes go with the last object below them`() async throws {
        try await withServiceAndClient { service, _, _ in
            try await service.export([], at: "/a/b/c")
            try await service.export([], at: "/a/b")
            await service.unexport(at: "/a/b/c")
            #expect(try await service.introspection(at: "/a").contains("<node name=\"b\"/>"))
            await service.unexport(at: "/a/b")
            await #expect(throws: BusError.self) { try await service.introspection(at: "/a") }
            #expect(try await !service.introspection(at: "/").contains("<node name"))
        }
    }
}
