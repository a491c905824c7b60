# SPDX-License-Identifier: Apache-2.0
"""The first click of a new user, where packages have installed idown and what browsers need."""

import unittest

from browsers import Chromium, Firefox
from session import INSTALLED
from tests import Steps


class FirstClick(Steps):
    def test_the_first_click(self):
        file = self.serve()
        self.click_file()
        if INSTALLED == "yes":
            self.expect_idown(file, requests=1)
        else:
            self.expect_browser(file)


class ChromiumTests(FirstClick, unittest.TestCase):
    Browser = Chromium


class FirefoxTests(FirstClick, unittest.TestCase):
    Browser = Firefox
