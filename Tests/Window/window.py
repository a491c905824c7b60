# SPDX-License-Identifier: Apache-2.0
"""The window as assistive technology sees it: a tree of nodes with names and actions."""

import enum
import os
import pathlib

from gi.repository import Gio, GLib

from session import wait


class Role(enum.IntEnum):
    """AtspiRole, as far as the window has them."""

    CHECK_BOX = 7
    COMBO_BOX = 11
    DIALOG = 16
    FRAME = 23
    ICON = 26
    IMAGE = 27
    LABEL = 29
    LIST = 31
    LIST_ITEM = 32
    MENU = 33
    MENU_ITEM = 35
    PAGE_TAB = 37
    PAGE_TAB_LIST = 38
    PASSWORD_TEXT = 40
    PROGRESS_BAR = 42
    PUSH_BUTTON = 43
    RADIO_BUTTON = 44
    SCROLL_BAR = 48
    SLIDER = 51
    SPIN_BUTTON = 52
    TEXT = 61
    TOGGLE_BUTTON = 62
    ENTRY = 79


PROGRAM = os.environ.get("IDOWN_WINDOW_PROGRAM", "")
CONTROLS = set(Role) - {Role.LABEL}
# AtspiStateType
INVALID, FOCUSED, PRESSED, SELECTED, SENSITIVE, SHOWING, INVALID_ENTRY = 0, 12, 20, 23, 24, 25, 36


def call(method, kinds, arguments, path="/org/idown/Window",
         interface="org.freedesktop.Application"):
    """Calls the program on the session bus, and starts none."""
    return Gio.bus_get_sync(Gio.BusType.SESSION).call_sync(
        "org.idown.Window", path, interface, method, GLib.Variant(kinds, arguments), None,
        Gio.DBusCallFlags.NO_AUTO_START, 5000, None).unpack()


def activate(name):
    """Carries out an action of the application or its window ("app.quit", "win.add") by its name.

    GTK tells them on the session bus. The tree has only places in a list, which move whenever
    another action can be carried out or not."""
    map, _, action = name.partition(".")

    def path():
        path = "/org/idown/Window"
        if map == "win":
            path += "/window"
            xml = call("Introspect", "()", (), path, "org.freedesktop.DBus.Introspectable")[0]
            path += "/" + Gio.DBusNodeInfo.new_for_xml(xml).nodes[0].path
        return path

    def place():
        try:
            found = path()
            is_enabled = call("Describe", "(s)", (action,), found, "org.gtk.Actions")[0][0]
            return found if is_enabled else None
        except (GLib.Error, IndexError):
            return None
    call("Activate", "(sava{sv})", (action, [], {}), wait(place, f"the action {name}"),
         "org.gtk.Actions")


class Bus:
    """The bus of assistive technology."""

    def __init__(self):
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, 5000, None)
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address[0], Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)

    def call(self, place, interface, method, kinds="", *values):
        arguments = GLib.Variant(f"({kinds})", values) if kinds else None
        answer = self.connection.call_sync(*place, interface, method, arguments, None, 0, 5000, None)
        return answer.unpack()

    def process(self, name):
        place = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
        return self.call(place, place[0], "GetConnectionUnixProcessID", "s", name)[0]


class Node:
    """One widget; it may be gone at any time, which reads as an empty one."""

    def __init__(self, bus, place):
        self.bus, self.place = bus, tuple(place)

    def ask(self, interface, method, *arguments, other=None):
        try:
            return self.bus.call(self.place, f"org.a11y.atspi.{interface}", method, *arguments)[0]
        except GLib.Error:
            return other

    def read(self, name, other="", interface="Accessible"):
        try:
            return self.bus.call(self.place, "org.freedesktop.DBus.Properties", "Get", "ss",
                                 f"org.a11y.atspi.{interface}", name)[0]
        except GLib.Error:
            return other

    name = property(lambda self: self.read("Name"))
    description = property(lambda self: self.read("Description"))
    role = property(lambda self: self.ask("Accessible", "GetRole", other=0))
    value = property(lambda self: self.read("CurrentValue", None, "Value"))
    children = property(lambda self: [
        Node(self.bus, place) for place in self.ask("Accessible", "GetChildren", other=[])])
    # GTK's own are told in the user's language, with a capital.
    actions = property(lambda self: [
        action[0].lower() for action in self.ask("Action", "GetActions", other=[])])
    is_showing = property(lambda self: self.has(SHOWING))
    # GTK 4.8 tells "showing" of frames alone.
    is_seen = property(lambda self: min((self.extents() or (0, 0, 0, 0))[2:]) > 1)
    is_sensitive = property(lambda self: self.has(SENSITIVE))
    is_focused = property(lambda self: self.has(FOCUSED))
    is_pressed = property(lambda self: self.has(PRESSED))
    # GTK 4.8 tells the older one.
    is_wrong = property(lambda self: self.has(INVALID) or self.has(INVALID_ENTRY))
    is_text = property(lambda self: "org.a11y.atspi.EditableText" in self.ask(
        "Accessible", "GetInterfaces", other=[]))

    def has(self, state):
        words = self.ask("Accessible", "GetState", other=[0, 0])
        return bool(words[state // 32] >> (state % 32) & 1)

    def act(self, name):
        """Carries an action out once there is one; only for those of a widget whose actions stay."""
        def place():
            names = self.actions
            return 1 + names.index(name) if name in names else 0
        try:
            self.ask("Action", "DoAction", "i", wait(place, f"the action {name}", 5) - 1)
        except AssertionError as error:
            raise AssertionError(f"{error}; {self} has {self.actions}") from None

    def click(self):
        self.act("click")

    @property
    def text(self):
        return self.ask("Text", "GetText", "ii", 0, -1, other="")

    def write(self, text):
        self.ask("EditableText", "SetTextContents", "s", text)

    def select(self, place):
        self.ask("Selection", "SelectChild", "i", place)

    def extents(self):
        """Left, top, width and height in the window."""
        return self.ask("Component", "GetExtents", "u", 1)

    def place_at_rest(self):
        """Its extents, once six looks at them in turn are the same.

        A row that shows another download than before is told at its old place until the next frame."""
        seen = []

        def look():
            seen.append(self.is_seen and self.extents())
            return seen[-1] if seen[-1] and seen[-6:].count(seen[-1]) == 6 else None
        return wait(look, f"{self} at rest")

    def __repr__(self):
        role = self.role
        word = Role(role).name.lower() if role in [*Role] else role
        return f"<{word} {self.name!r} {self.description!r}>"

    def walk(self, enters=lambda node: True):
        """All nodes from this one down, the upper ones first."""
        level = [self]
        while level:
            following = []
            for node in level:
                yield node
                if enters(node):
                    following += node.children
            level = following


def wake_ups(pid):
    """How often each thread of a process went to sleep by itself: proc(5), voluntary_ctxt_switches."""
    return {path.parent.name: int(path.read_text().split("voluntary_ctxt_switches:")[1].split()[0])
            for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status")}


def wake_ups_since(before, pid):
    """How often the threads that are still there have woken up since."""
    return sum(count - before.get(thread, 0) for thread, count in wake_ups(pid).items())


def end_all(desktop):
    """Ends each process of the program, whatever state it is in: one that is left takes what others
    are started with."""
    for child in [*desktop.children]:
        if child.args[0] == PROGRAM:
            child.kill()
            child.wait()
            desktop.children.remove(child)


class Window:
    """A running idown-window."""

    def __init__(self, desktop, words=(), **environment):
        self.desktop, self.bus = desktop, Bus()
        usual = dict(desktop.environment)
        desktop.environment |= environment
        try:
            self.process = desktop.start([PROGRAM, *words], "window")
        finally:
            desktop.environment = usual
        try:
            self.look_again()
        except AssertionError:
            end_all(desktop)
            raise

    def look_again(self):
        """Finds the window of the process, which may have started anew."""
        def is_there():
            self.application = self.look()
            self.frame = self.application and self.seek("idown", Role.FRAME)
            return self.frame and self.frame.is_showing
        # The first start of all reads fonts and icons, beside a build.
        wait(is_there, "the window", 60)

    def look(self):
        registry = Node(self.bus, ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"))
        for application in registry.children:
            try:
                if self.bus.process(application.place[0]) == self.process.pid:
                    return application if application.children else None
            except GLib.Error:
                pass
        return None

    def nodes(self, within=None, rows=False):
        """All nodes; without those inside of rows, unless `rows`."""
        def enters(node):
            return rows or node.role != Role.LIST_ITEM
        return (within or self.application).walk(enters)

    def seek(self, name, role=None, within=None, rows=False):
        """The first node with a name, or whose name a function accepts; None if there is none."""
        fits = name if callable(name) else lambda found: found == name
        for node in self.nodes(within, rows):
            if (role is None or node.role == role) and fits(node.name):
                return node
        return None

    def find(self, name, role=None, within=None, rows=False, seconds=8):
        what = f"{role.name.lower() if role else 'a node'} {name}"
        try:
            return wait(lambda: self.seek(name, role, within, rows), what, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; there are: {[*self.nodes(within, rows)]}") from None

    def gone(self, name, role=None, seconds=8):
        wait(lambda: self.seek(name, role) is None, f"the end of {name}", seconds)

    def button(self, name, within=None):
        return self.find(name, Role.PUSH_BUTTON, within)

    def click(self, name, within=None):
        """Presses a button once it can be pressed."""
        def ready():
            button = self.seek(name, Role.PUSH_BUTTON, within)
            return button if button and button.is_sensitive else None
        try:
            wait(ready, f"the button {name}").click()
        except AssertionError as error:
            found = [node for node in self.nodes(within) if node.role == Role.PUSH_BUTTON]
            raise AssertionError(f"{error}; there are: {found}") from None

    def field(self, name, within=None):
        """What is typed into."""
        def fields():
            return [node for node in self.nodes(within, rows=True) if node.is_text]
        try:
            return wait(lambda: next((node for node in fields() if node.name == name), None),
                        f"a text field {name}")
        except AssertionError as error:
            raise AssertionError(f"{error}; there are: {fields()}") from None

    def switch(self, name, within=None):
        """Turns a switch on or off."""
        found = self.find(name, Role.CHECK_BOX, within, rows=True)
        found.act(found.actions[0])

    def turn_to(self, name, within):
        """Shows a page; a narrow window has its tabs in another place."""
        wait(lambda: next((node for node in within.walk() if node.role == Role.PAGE_TAB
                           and node.name == name and node.is_seen), None), f"the tab {name}").click()

    def unfold(self, name, within=None):
        self.find(name, Role.PUSH_BUTTON, within).act("activate")

    def pick(self, name, choice, within=None):
        """Chooses one of the buttons of a row."""
        row = self.find(name, Role.LIST_ITEM, within, rows=True)
        button = self.find(choice, Role.PUSH_BUTTON, row, rows=True)
        wait(lambda: button.is_pressed or button.click(), f"the choice {choice}")

    # By what it can do: its name is in the user's language.
    list = property(lambda self: next(
        (node for node in self.nodes() if node.role == Role.LIST
         and "list.unselect-all" in node.actions), None))

    @property
    def rows(self):
        found = self.list
        return [node for node in found.children if node.role == Role.LIST_ITEM] if found else []

    names = property(lambda self: [row.name for row in self.rows])

    def row(self, name, text="", seconds=10):
        """A row with this name, once its description has a text."""
        def look():
            for row in self.rows:
                if row.name == name and text in row.description:
                    return row
            return None
        try:
            return wait(look, f"the row {name} with {text!r}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; there are: {self.rows}") from None

    def has_no_row(self, name, seconds=10):
        wait(lambda: name not in self.names, f"the end of the row {name}", seconds)

    def act(self, name):
        activate(f"win.{name}")

    def choose(self, *names):
        """Selects exactly these rows; again if they have moved meanwhile, since they are selected
        by their places."""
        def are_selected():
            found = self.list
            if not found:
                return False
            found.act("list.unselect-all")
            for name in names:
                shown = self.names
                if name not in shown:
                    return False
                found.select(shown.index(name))
            return sorted(row.name for row in self.rows if row.has(SELECTED)) == sorted(names)
        wait(are_selected, f"{names} selected")

    def close(self):
        if self.process.poll() is None:
            activate("app.quit")
            self.process.wait(15)
        if self.process in self.desktop.children:
            self.desktop.children.remove(self.process)

    # What only a screen with a mouse has

    def numbered(self, title):
        """The X window of this program whose title a regular expression accepts."""
        return self.desktop.find_window(title, self.process.pid)

    number = property(lambda self: self.numbered("^idown$"))

    def focus(self):
        self.desktop.mouse("windowfocus", "--sync", self.number)

    def place(self, x, y, width, height, title="^idown$"):
        number = self.numbered(title)
        self.desktop.mouse("windowmove", number, x, y)
        self.desktop.mouse("windowsize", number, width, height)
