// SPDX-License-Identifier: Apache-2.0

import Testing

/// A client in Python, by one of the libraries that programs on the desktop use.
struct PeerScript: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String

    var testDescription: String { name }

    static let all = [pythonDBus, jeepney, dasbus, objectManager]

    /// What all do at each state: `call` carries out a verb on the task's object.
    static let steps = """
        import sys

        NAME, PATH, TASK = 'org.idown.Manager1', '/org/idown/Manager1', 'org.idown.Task1'
        url, verbs = sys.argv[1], iter(['Pause', 'Resume', 'Remove'])
        last = ''
        def step(state, call):
            global last
            if state in ('downloading', 'paused') and state != last:
                print(state)
                last = state
                call(next(verbs))


        """

    private static let pythonDBus = PeerScript(
        name: "python3-dbus",
        text: """
            import dbus, dbus.mainloop.glib
            from gi.repository import GLib

            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            bus, loop = dbus.SessionBus(), GLib.MainLoop()
            manager = dbus.Interface(bus.get_object(NAME, PATH), NAME)
            def call(verb):
                task = bus.get_object(NAME, PATH + '/task/' + id)
                getattr(dbus.Interface(task, TASK), verb)()
            def changed(interface, values, invalidated, path):
                if path == PATH + '/task/' + id:
                    step(str(values.get('State', '')), call)
            def removed(path, interfaces):
                print('removed')
                loop.quit()
            bus.add_signal_receiver(
                changed, 'PropertiesChanged', 'org.freedesktop.DBus.Properties', NAME,
                path_keyword='path')
            bus.add_signal_receiver(
                removed, 'InterfacesRemoved', 'org.freedesktop.DBus.ObjectManager', NAME)
            manager.Subscribe()
            id = str(manager.AddURL(url))
            GLib.timeout_add_seconds(100, loop.quit)
            loop.run()
            """
    )

    private static let jeepney = PeerScript(
        name: "python3-jeepney",
        text: """
            from jeepney import DBusAddress, HeaderFields, MatchRule, message_bus, new_method_call
            from jeepney.io.blocking import open_dbus_connection

            bus = open_dbus_connection('SESSION')
            rule = MatchRule(type='signal', interface=NAME)
            bus.send_and_get_reply(message_bus.AddMatch(rule))
            manager = DBusAddress(PATH, bus_name=NAME, interface=NAME)
            with bus.filter(rule, bufsize=100) as signals:
                reply = bus.send_and_get_reply(new_method_call(manager, 'AddURL', 's', (url,)))
                id = reply.body[0]
                task = DBusAddress(PATH + '/task/' + id, bus_name=NAME, interface=TASK)
                call = lambda verb: bus.send_and_get_reply(new_method_call(task, verb))
                while True:
                    signal = bus.recv_until_filtered(signals, timeout=100)
                    member = signal.header.fields[HeaderFields.member]
                    if member == 'TaskChanged' and signal.body[0] == id:
                        step(signal.body[1], call)
                    elif member == 'TaskRemoved' and signal.body[0] == id:
                        print('removed')
                        break
            """
    )

    private static let dasbus = PeerScript(
        name: "python3-dasbus",
        text: """
            from dasbus.connection import SessionMessageBus
            from dasbus.loop import EventLoop
            from gi.repository import GLib

            bus, loop = SessionMessageBus(), EventLoop()
            manager = bus.get_proxy(NAME, PATH)
            def call(verb):
                getattr(bus.get_proxy(NAME, PATH + '/task/' + id), verb)()
            def removed(task):
                print('removed')
                loop.quit()
            manager.TaskChanged.connect(lambda task, state, values: step(state, call))
            manager.TaskRemoved.connect(removed)
            id = manager.AddURL(url)
            GLib.timeout_add_seconds(100, loop.quit)
            loop.run()
            """
    )

    private static let objectManager = PeerScript(
        name: "GDBusObjectManagerClient",
        text: """
            from gi.repository import Gio, GLib

            loop = GLib.MainLoop()
            objects = Gio.DBusObjectManagerClient.new_for_bus_sync(
                Gio.BusType.SESSION, Gio.DBusObjectManagerClientFlags.NONE, NAME, PATH,
                None, None, None)
            def call(verb):
                task = objects.get_object(PATH + '/task/' + id).get_interface(TASK)
                task.call_sync(verb, None, Gio.DBusCallFlags.NONE, -1, None)
            def changed(manager, thing, interface, values, invalidated):
                if thing.get_object_path() == PATH + '/task/' + id:
                    step(interface.get_cached_property('State').unpack(), call)
            def removed(manager, thing):
                print('removed')
                loop.quit()
            objects.connect('interface-proxy-properties-changed', changed)
            objects.connect('object-removed', removed)
            bus = objects.get_connection()
            id = bus.call_sync(
                NAME, PATH, NAME, 'AddURL', GLib.Variant('(s)', (url,)), None,
                Gio.DBusCallFlags.NONE, -1, None).unpack()[0]
            GLib.timeout_add_seconds(100, loop.quit)
            loop.run()
            """
    )
}
