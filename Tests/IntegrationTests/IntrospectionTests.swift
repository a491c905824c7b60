// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// What the running service says of itself, and what `dbus/org.idown.Manager1.xml` says.
@Suite(.timeLimit(.minutes(5)))
struct IntrospectionTests {
    /// Prints an interface as sorted lines: each member with its arguments in order, and every
    /// annotation of it but those for Qt's generator, which only reads files; what a property
    /// announces if nothing is said is written out.
    private static let reader = """
        import sys
        import xml.etree.ElementTree as tree

        EMITS = 'org.freedesktop.DBus.Property.EmitsChangedSignal'
        root = tree.parse(sys.stdin).getroot()
        interfaces = [i for i in root.iter('interface') if i.get('name') == sys.argv[1]]
        assert len(interfaces) == 1, [i.get('name') for i in root.iter('interface')]
        lines = []
        for member in interfaces[0]:
            if member.tag == 'annotation':
                lines.append(f'annotation {member.get("name")}={member.get("value")}')
                continue
            words = [member.tag, member.get('name')]
            notes = {n.get('name'): n.get('value') for n in member.findall('annotation')
                     if not n.get('name').startswith('org.qtproject.')}
            if member.tag == 'property':
                words += [member.get('type'), member.get('access')]
                notes.setdefault(EMITS, 'true')
            usual = 'in' if member.tag == 'method' else 'out'
            for argument in member.findall('arg'):
                direction = argument.get('direction', usual)
                words.append(f'{direction} {argument.get("type")} {argument.get("name")}')
            words += [f'{name}={value}' for name, value in sorted(notes.items())]
            lines.append(', '.join(words))
        print('\\n'.join(sorted(lines)))
        """

    private func members(of document: String, _ interface: String) async throws -> String {
        let read = try await ChildProcess.run(
            "/usr/bin/python3",
            ["-c", Self.reader, interface],
            input: document
        )
        try #require(read.succeeded, "\(read.standardError)")
        return read.standardOutput
    }

    private func documented(_ interface: String) throws -> String {
        // Links resolved: the sources may be linked into another package.
        let source = try #require(realpath(#filePath, nil))
        defer { free(source) }
        let file = String(cString: source)
        let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
        return try TestFile.text(of: "/\(root)/dbus/\(interface).xml")
    }

    private func introspection(
        _ service: ServiceUnderTest,
        _ path: String
    ) async throws -> String {
        let object = Proxy(
            service.connection,
            ServiceUnderTest.busName,
            try ObjectPath(validating: path),
            "org.freedesktop.DBus.Introspectable"
        )
        return try await object.call("Introspect", returning: String.self)
    }

    @Test(
        arguments: [
            ("org.idown.Manager1", "Manager1", "", "method, AddURL, in s url, out s id"),
            ("org.idown.Task1", "Task1", "/task/1", "method, Pause"),
            (
                "org.idown.Settings1", "Settings1", "",
                "property, WhenDoneCommand, as, read, "
                    + "org.freedesktop.DBus.Property.EmitsChangedSignal=invalidates"
            ),
            (
                "org.freedesktop.Application", "Manager1", "",
                "method, Activate, in a{sv} platform_data"
            ),
        ]
    )
    func `the running service is what the documented XML says`(
        interface: String,
        document: String,
        path: String,
        line: String
    ) async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            #expect(id == "1")
            let running = try await introspection(service, "/org/idown/Manager1" + path)
            let lines = try await members(of: running, interface)
            #expect(lines.contains(line), "\(lines)")
            let documented = try await members(
                of: try documented("org.idown.\(document)"),
                interface
            )
            #expect(lines == documented)
        }
    }

    @Test func `every prefix of an object's path leads to it`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            let steps = [
                ("/", "org"), ("/org", "idown"), ("/org/idown", "Manager1"),
                ("/org/idown/Manager1", "task"), ("/org/idown/Manager1/task", id),
            ]
            for (path, child) in steps {
                let text = try await introspection(service, path)
                #expect(text.contains("<node name=\"\(child)\""), "\(path): \(text)")
            }
        }
    }

    @Test func `every property has the value that the contract gives it at first`() async throws {
        try await withService { service in
            let properties = try await service.manager.getAll()
            #expect(
                Set(properties.keys) == [
                    "Version", "Capabilities", "MaxConcurrentDownloads",
                    "MaxConnectionsPerDownload", "SpeedLimit",
                    "DownloadDirectory", "HoldOnMetered", "HoldOnLowBattery", "KeepCompleted",
                    "TaskCount", "WaitingCount",
                    "ActiveCount", "Serial", "ListId", "Speed",
                ]
            )
            #expect(
                properties["Capabilities"] == Capability.allCases.map(\.rawValue).busValue
            )
            #expect(properties["MaxConcurrentDownloads"] == .uint32(3))
            #expect(properties["MaxConnectionsPerDownload"] == .uint32(8))
            #expect(properties["SpeedLimit"] == .uint64(0))
            #expect(properties["DownloadDirectory"] == .string(service.home.downloads))
            for name in ["TaskCount", "WaitingCount", "ActiveCount"] {
                #expect(properties[name] == .uint32(0))
            }
            #expect(properties["Speed"] == .uint64(0))
        }
    }
}
