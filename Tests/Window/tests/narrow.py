# SPDX-License-Identifier: Apache-2.0
"""Nothing is wider than 360 pixels, whatever the language."""

import re

from session import wait
from tests.languages import InLanguage
from window import Role


class Narrow(InLanguage):
    def too_wide(self, frame, title):
        """What a window of this title cuts off."""
        self.window.place(0, 0, 360, 600, title)
        # What is inside gives way in one frame, and the window in the next.
        wait(lambda: frame.extents()[2] <= 360, f"a narrow {title}")

        def is_cut(node):
            left, _, width, _ = node.extents() or (0, 0, 0, 0)
            return (node.name and node.role != Role.PAGE_TAB_LIST and width > 1
                    and (left < 0 or left < 360 < left + width))
        # Of its pages' titles, libadwaita shows those above or those below. The chips are scrolled.
        def found():
            nodes = frame.walk(lambda node: node.role != Role.PAGE_TAB_LIST)
            return [f"{node} in {title}" for node in nodes
                    if is_cut(node) and not re.fullmatch(r"⟦.*⟧ \d+", node.name)]
        # The last frame may still be drawn.
        try:
            wait(lambda: not found(), "nothing that is cut off", 3)
        except AssertionError:
            return found()
        return []

    def test_the_window(self):
        self.fill()
        self.use("xx")
        self.window.row("kept name.bin", "⟦")
        self.assertEqual(self.too_wide(self.window.frame, "^idown$"), [])
        self.window.row("running.bin", "⟦").act("row.details")
        self.window.find(lambda name: name.startswith("127.0.0.1") and "HTTP" in name.upper())
        self.assertEqual(self.too_wide(self.window.frame, "^idown$"), [])

    def test_details_of_nothing_do_not_cover_the_list(self):
        self.add("covered.bin", "paused")
        nothing = "⟦No download is selected ~ ~ ~⟧"
        self.use("xx")
        self.window.place(0, 0, 1000, 600)
        self.window.act("details")
        self.window.find(nothing)
        self.window.place(0, 0, 360, 600)
        self.window.gone(nothing)
        # Nor does a window that remembers them.
        self.window.place(0, 0, 1000, 600)
        self.window.act("details")
        self.window.find(nothing)
        self.window.close()
        self.open_again(is_new=False, LANGUAGE="xx")
        self.window.find(nothing)
        self.window.place(0, 0, 360, 600)
        self.window.gone(nothing)

    def test_the_dialogs(self):
        self.fill()
        self.use("xx")
        wrong = [found for dialog in self.dialogs()
                 for found in self.too_wide(dialog, re.escape(dialog.name))]
        self.assertEqual(wrong, [])
