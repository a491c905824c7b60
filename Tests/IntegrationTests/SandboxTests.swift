// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// What an application from a sandbox may do, and what not.
@Suite(.timeLimit(.minutes(2)))
struct SandboxTests {
    /// A client that is in a sandbox before it connects.
    ///
    /// Its root is a folder with a Flatpak's mark, which is all that tells one. It reaches the bus
    /// by a path from its working folder, which lies outside of that root. It prints a line for
    /// each call: the call's name, then the result or the name of the error.
    private static let client = """
        import codecs, json, os, sys
        import dbus
        import dbus.bus
        import dbus.exceptions

        root, own, other, url, downloads, outside = sys.argv[1:]
        bus_path = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('path=')[1].split(',')[0]
        os.chdir(os.path.dirname(bus_path))
        os.chroot(root)
        bus = dbus.bus.BusConnection('unix:path=' + os.path.basename(bus_path))
        os.chdir('/')
        path = '/org/idown/Manager1'
        thing = bus.get_object('org.idown.Manager1', path, introspect=False)
        manager = dbus.Interface(thing, 'org.idown.Manager1')
        properties = dbus.Interface(thing, 'org.freedesktop.DBus.Properties')
        objects = dbus.Interface(thing, 'org.freedesktop.DBus.ObjectManager')
        one = bus.get_object('org.idown.Manager1', path + '/task/' + other, introspect=False)

        def show(name, call):
            try:
                result = call()
            except dbus.exceptions.DBusException as error:
                result = error.get_dbus_name().split('.')[-1]
            print(name, result if result is not None else 'done')

        text = lambda value: dbus.String(value, variant_level=1)
        number = lambda value: dbus.UInt32(value, variant_level=1)
        paused = {'paused': dbus.Boolean(True, variant_level=1)}
        signature = lambda values: dbus.Dictionary(values, signature='sv')
        add = lambda url, **more: manager.AddURLWithOptions(url, signature({**paused, **more}))
        mine = None
        def add_own():
            global mine
            mine = add(own, directory=text(downloads + '/inside'))
            return 'added' if mine != other else 'the same'
        show('add', add_own)
        show('add-many', lambda: len(manager.AddURLs([own + '/2'], signature(paused))))
        one_more = signature({'url': text(own + '/4'), **paused})
        elsewhere = signature({'url': text(own + '/5'), 'directory': text(outside)})
        show('add-each', lambda: len(manager.AddMany(dbus.Array([one_more], signature='a{sv}'))))
        show(
            'each-outside',
            lambda: manager.AddMany(dbus.Array([one_more, elsewhere], signature='a{sv}')),
        )
        show('add-known', lambda: 'the same' if add(url) == other else 'added')
        show('outside', lambda: add(own, directory=text(outside)))
        show('up', lambda: add(own, directory=text(downloads + '/..')))
        application = dbus.Interface(thing, 'org.freedesktop.Application')
        uris = lambda *list: dbus.Array(list, signature='s')
        show('open', lambda: application.Open(uris(own + '/3'), signature({})))
        show('open-file', lambda: application.Open(uris('file:///a.meta4'), signature({})))
        show('add-metalink', lambda: manager.AddMetalink('/a.meta4', signature({})))
        show('probe', lambda: manager.Probe(own, signature({})))
        show('hand-over', lambda: manager.HandOver(own, signature({'token': text('t')})))
        show('confirm', lambda: manager.Confirm('t'))
        show('withdraw', lambda: manager.Withdraw('t'))
        show(
            'action',
            lambda: application.ActivateAction(
                'pause-all', dbus.Array([], signature='v'), signature({})
            ),
        )
        show('pause', lambda: manager.Pause(mine))
        show('priority', lambda: manager.SetPriority(mine, 5))
        show('explain', lambda: manager.Explain(mine)[0])
        show('history', lambda: len(manager.GetHistory(mine)))
        show('connections', lambda: len(manager.GetConnections(mine)))
        show('other-history', lambda: manager.GetHistory(other))
        show('other-connections', lambda: manager.GetConnections(other))
        for verb in ['Pause', 'Resume', 'Retry', 'Cancel', 'Remove']:
            show('other-' + verb, lambda: getattr(manager, verb)(other))
            show('object-' + verb, lambda: getattr(dbus.Interface(one, 'org.idown.Task1'), verb)())
        show('other-priority', lambda: manager.SetPriority(other, 5))
        show('other-link', lambda: manager.SetURL(other, own + '/x'))
        show('own-link', lambda: manager.SetURL(mine, own + '/fresh'))
        show('selection', lambda: manager.PauseTasks([mine, other]))
        show('removal', lambda: manager.RemoveTasks([other], signature({})))
        for verb in ['StartAll', 'PauseAll', 'ClearCompleted', 'Quit']:
            show(verb, lambda: getattr(manager, verb)())
        name = 'org.idown.Manager1'
        show('set', lambda: properties.Set(name, 'MaxConcurrentDownloads', number(5)))
        hidden = 'org.idown.Settings1'
        show('set-proxy', lambda: properties.Set(hidden, 'Proxy', text('http://127.0.0.1:9')))
        show('get-proxy', lambda: properties.Get(hidden, 'Proxy'))
        show('all-settings', lambda: properties.GetAll(hidden))
        def whole():
            found = properties.GetAll('')
            return 'Version' in found, 'Proxy' in found, 'LogLevel' in found
        show('all-interfaces', whole)
        task = dbus.Interface(one, 'org.freedesktop.DBus.Properties')
        five = dbus.Int32(5, variant_level=1)
        show('set-task', lambda: task.Set('org.idown.Task1', 'Priority', five))
        own = dbus.Interface(
            bus.get_object('org.idown.Manager1', path + '/task/' + mine, introspect=False),
            'org.freedesktop.DBus.Properties',
        )
        show('set-own', lambda: own.Set('org.idown.Task1', 'MaxConnections', number(2)))
        show('unknown', lambda: manager.Pause('99999'))
        secret = lambda value: 'SECRET' if 'SECRET' in str(value) else 'none'
        show('url', lambda: secret(manager.GetTask(other)))
        show('object-url', lambda: secret(task.Get('org.idown.Task1', 'URL')))
        show('object-all', lambda: secret(task.GetAll('org.idown.Task1')))
        many = lambda: manager.GetTasks([other], dbus.Array([], signature='s'))
        show('several', lambda: secret(many()) + ' ' + str(len(many())))
        show('list', lambda: secret(manager.ListTasks()))
        show('objects', lambda: secret(objects.GetManagedObjects()))
        show('find', lambda: int(manager.FindTasks(signature({'text': text('secret')}))[1]))
        mine_only = signature({'added-by': text('me')})
        adders = lambda: {str(task['AddedBy']) for task in manager.FindTasks(mine_only)[0]}
        show('found-own', lambda: adders() == {'org.example.Reader'})
        show('found-count', lambda: int(manager.FindTasks(mine_only)[1]) > 3)
        show('own-batch', lambda: int(manager.CancelTasks([mine])))
        show('own-remove', lambda: manager.Remove(mine))
        """

    private static let expected = """
        add added
        add-many 1
        add-each 1
        each-outside InvalidDestination
        add-known added
        outside InvalidDestination
        up InvalidDestination
        open done
        open-file AccessDenied
        add-metalink AccessDenied
        probe AccessDenied
        hand-over AccessDenied
        confirm AccessDenied
        withdraw AccessDenied
        action AccessDenied
        pause done
        priority done
        explain paused by the user
        history 0
        connections 0
        other-history AccessDenied
        other-connections AccessDenied
        other-Pause AccessDenied
        object-Pause AccessDenied
        other-Resume AccessDenied
        object-Resume AccessDenied
        other-Retry AccessDenied
        object-Retry AccessDenied
        other-Cancel AccessDenied
        object-Cancel AccessDenied
        other-Remove AccessDenied
        object-Remove AccessDenied
        other-priority AccessDenied
        other-link AccessDenied
        own-link done
        selection AccessDenied
        removal AccessDenied
        StartAll AccessDenied
        PauseAll AccessDenied
        ClearCompleted AccessDenied
        Quit AccessDenied
        set AccessDenied
        set-proxy AccessDenied
        get-proxy AccessDenied
        all-settings AccessDenied
        all-interfaces (True, False, False)
        set-task AccessDenied
        set-own AccessDenied
        unknown NoSuchTask
        url none
        object-url none
        object-all none
        several none 1
        list none
        objects none
        find 0
        found-own True
        found-count True
        own-batch 1
        own-remove done
        """

    @Test(.enabled(if: geteuid() == 0, "only root may give a process another root"))
    func `a Flatpak steers what it added, and nothing else`() async throws {
        try await withService { service in
            let url = "http://127.0.0.1:9/a?token=SECRET"
            let other = try await service.add(url) { $0.paused = true }
            let before = try await service.client.getTask(other)
            let root = service.home.path + "/sandbox"
            #expect(mkdir(root, 0o755) == 0)
            try TestFile.write(
                "[Application]\nname=org.example.Reader\n",
                to: root + "/.flatpak-info"
            )
            let client = try await ChildProcess.run(
                "/usr/bin/python3",
                [
                    "-c", Self.client, root, "http://127.0.0.1:9/own", other, url,
                    service.home.downloads, service.home.path,
                ],
                environment: service.environment
            )
            let lines = client.standardOutput.split(separator: "\n")
            let expected = Self.expected.split(separator: "\n")
            for (line, right) in zip(lines, expected) { #expect(line == right) }
            #expect(lines.count == expected.count, "\(client.standardError)")
            #expect(try await service.client.getTask(other) == before)
            #expect(try await service.client.value(of: .maxConcurrentDownloads) == .number(3))
            #expect(try await service.client.getTask(other).url.contains("SECRET"))
        }
    }
}
