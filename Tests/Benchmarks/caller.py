# SPDX-License-Identifier: Apache-2.0
"""A client of libdbus by ctypes: one in Python would measure itself."""

import ctypes
import time

NAME, PATH = "org.idown.Manager1", "/org/idown/Manager1"
ECHO = "org.example.Echo"


class Caller:
    """A private connection of libdbus that calls methods with strings."""

    def __init__(self, address):
        self.library = ctypes.CDLL("libdbus-1.so.3")
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        for name, result, arguments in [
            ("dbus_connection_open_private", pointer, [text, pointer]),
            ("dbus_bus_register", ctypes.c_uint, [pointer, pointer]),
            ("dbus_message_new_method_call", pointer, [text] * 4),
            ("dbus_message_iter_init_append", None, [pointer, pointer]),
            ("dbus_message_iter_append_basic", ctypes.c_uint, [pointer, ctypes.c_int, pointer]),
            ("dbus_message_iter_open_container", ctypes.c_uint, [pointer, ctypes.c_int, text, pointer]),
            ("dbus_message_iter_close_container", ctypes.c_uint, [pointer, pointer]),
            ("dbus_connection_send_with_reply_and_block", pointer, [pointer, pointer, ctypes.c_int, pointer]),
            ("dbus_connection_send", ctypes.c_uint, [pointer, pointer, pointer]),
            ("dbus_message_set_no_reply", None, [pointer, ctypes.c_uint]),
            ("dbus_message_get_reply_serial", ctypes.c_uint, [pointer]),
            ("dbus_message_get_error_name", text, [pointer]),
            ("dbus_connection_flush", None, [pointer]),
            ("dbus_connection_read_write", ctypes.c_uint, [pointer, ctypes.c_int]),
            ("dbus_connection_pop_message", pointer, [pointer]),
            ("dbus_message_get_type", ctypes.c_int, [pointer]),
            ("dbus_message_get_member", text, [pointer]),
            ("dbus_message_marshal", ctypes.c_uint, [pointer, pointer, pointer]),
            ("dbus_bus_add_match", None, [pointer, text, pointer]),
            ("dbus_free", None, [pointer]),
            ("dbus_message_unref", None, [pointer]),
        ]:
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        self.connection = self.library.dbus_connection_open_private(address.encode(), None)
        assert self.connection and self.library.dbus_bus_register(self.connection, None)

    def message(self, name, path, interface, method, *arguments):
        message = self.library.dbus_message_new_method_call(
            name.encode(), path.encode(), interface.encode(), method.encode())
        place = ctypes.create_string_buffer(256)
        self.library.dbus_message_iter_init_append(message, place)
        for argument in arguments:
            self.append(place, argument)
        return message

    def append(self, place, value):
        """Appends text as `s`, a number as `t`, a list of texts as `as`, and a dictionary as `a{sv}`."""
        library = self.library
        if isinstance(value, dict):
            array, entry, variant = (ctypes.create_string_buffer(256) for _ in range(3))
            library.dbus_message_iter_open_container(place, ord("a"), b"{sv}", array)
            for key, item in value.items():
                library.dbus_message_iter_open_container(array, ord("e"), None, entry)
                self.append(entry, key)
                kind = b"b" if isinstance(item, bool) else b"t" if isinstance(item, int) else b"s"
                library.dbus_message_iter_open_container(entry, ord("v"), kind, variant)
                self.append(variant, item)
                library.dbus_message_iter_close_container(entry, variant)
                library.dbus_message_iter_close_container(array, entry)
            library.dbus_message_iter_close_container(place, array)
        elif isinstance(value, list):
            array = ctypes.create_string_buffer(256)
            library.dbus_message_iter_open_container(place, ord("a"), b"s", array)
            for item in value:
                self.append(array, item)
            library.dbus_message_iter_close_container(place, array)
        elif isinstance(value, bool):
            library.dbus_message_iter_append_basic(
                place, ord("b"), ctypes.byref(ctypes.c_uint(value)))
        elif isinstance(value, int):
            library.dbus_message_iter_append_basic(
                place, ord("t"), ctypes.byref(ctypes.c_uint64(value)))
        else:
            library.dbus_message_iter_append_basic(
                place, ord("s"), ctypes.byref(ctypes.c_char_p(value.encode())))

    def call(self, *words):
        message = self.message(*words)
        reply = self.library.dbus_connection_send_with_reply_and_block(
            self.connection, message, 60000, None)
        assert reply, words
        self.library.dbus_message_unref(reply)
        self.library.dbus_message_unref(message)

    def send(self, *words, reply=True):
        """Sends a call; its serial."""
        message = self.message(*words)
        self.library.dbus_message_set_no_reply(message, not reply)
        return self.send_made(message)

    def send_made(self, message):
        serial = ctypes.c_uint()
        self.library.dbus_connection_send(self.connection, message, ctypes.byref(serial))
        self.library.dbus_message_unref(message)
        return serial.value

    def outcomes(self, serials):
        """What these calls are answered: the name of the error, or an empty text."""
        found, waiting = {}, set(serials)
        while waiting:
            self.library.dbus_connection_read_write(self.connection, 1000)
            while message := self.library.dbus_connection_pop_message(self.connection):
                serial = self.library.dbus_message_get_reply_serial(message)
                if serial in waiting:
                    waiting.remove(serial)
                    error = self.library.dbus_message_get_error_name(message)
                    found[serial] = (error or b"").decode().rsplit(".", 1)[-1]
                self.library.dbus_message_unref(message)
        return [found[serial] for serial in serials]

    def received(self, replies):
        """The messages that come, until so many of them were replies; each is released after use."""
        while replies:
            self.library.dbus_connection_read_write(self.connection, 1000)
            while message := self.library.dbus_connection_pop_message(self.connection):
                kind = self.library.dbus_message_get_type(message)
                assert kind != 3, "an error reply"
                replies -= kind == 2
                try:
                    yield message
                finally:
                    self.library.dbus_message_unref(message)

    def pipeline(self, calls):
        """Sends all, then takes all replies."""
        for words in calls:
            self.send(*words)
        for _ in self.received(len(calls)):
            pass

    def signals(self, sender, words, members):
        """Calls a method, and returns the bytes of those signals that came before its reply."""
        self.library.dbus_bus_add_match(
            self.connection, f"type='signal',sender='{sender}'".encode(), None)
        self.send(*words)
        return [self.marshalled(message) for message in self.received(1)
                if (self.library.dbus_message_get_member(message) or b"").decode() in members]

    def marshalled(self, message):
        start, size = ctypes.c_void_p(), ctypes.c_int()
        self.library.dbus_message_marshal(message, ctypes.byref(start), ctypes.byref(size))
        data = ctypes.string_at(start, size.value)
        self.library.dbus_free(start)
        return data

    def answer(self, *words):
        """How long a call's answer takes, in seconds, and its size in bytes."""
        start, size = time.perf_counter(), 0
        self.send(*words)
        for message in self.received(1):
            taken = time.perf_counter() - start
            size = len(self.marshalled(message))
        return taken, size
