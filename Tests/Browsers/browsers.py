# SPDX-License-Identifier: Apache-2.0
"""Chromium by its debugging pipe, and Firefox by Marionette: both with the extension, in a window."""

import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import threading
import time

from session import EXTENSION, INSTALLED, wait

CHROMIUM_ID = "dofnlljjpebfojmpiecjbnkaemhcdfpm"


class Browser:
    """What both can do."""

    def kill(self):
        """Ends the browser with all its processes at once."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()

    @contextlib.contextmanager
    def extension_page(self, name):
        """A page of the extension behind the page that is shown: gives a function that runs a script."""
        page = self.open_behind(name)
        try:
            wait(lambda: self.run_in(page, "document.getElementById('state')?.textContent"), name)
            yield lambda script: self.run_in(page, script)
        finally:
            self.close_behind(page)

    def saved(self):
        """The finished files that the browser has saved by itself."""
        return [path for path in self.session.saved.iterdir()
                if path.suffix not in (".crdownload", ".part") and not path.name.startswith(".")]

    def close(self):
        # One that has ended already, or does not answer, is killed all the same.
        with contextlib.suppress(OSError, RuntimeError, queue.Empty):
            self.end()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            pass
        self.kill()


class Chromium(Browser):
    name = "Chromium"

    def __init__(self, session, extension=EXTENSION, prompt=False, private=False):
        self.session, self.profile = session, session.work / "chromium"
        preferences = self.profile / "Default/Preferences"
        if not preferences.exists():
            preferences.parent.mkdir(parents=True, exist_ok=True)
            preferences.write_text("{}")
        settings = json.loads(preferences.read_text())
        settings.setdefault("download", {}).update(
            default_directory=str(session.saved), prompt_for_download=prompt)
        # Several downloads of one page without asking.
        settings.setdefault("profile", {}).setdefault(
            "default_content_setting_values", {})["automatic_downloads"] = 1
        settings.setdefault("savefile", {})["default_directory"] = str(session.saved)
        # A fresh profile knows nothing of the extension, as a user's.
        if private or "extensions" in settings:
            settings.setdefault("extensions", {}).setdefault("settings", {}).setdefault(
                CHROMIUM_ID, {})["incognito"] = private
        preferences.write_text(json.dumps(settings))
        to_browser, self.pipe = os.pipe()
        reading, from_browser = os.pipe()
        options = ["--no-first-run", "--disable-gpu", "--password-store=basic", "--disable-sync",
                   "--disable-background-networking", "--remote-debugging-pipe",
                   "--disable-component-update", "--no-default-browser-check",
                   f"--user-data-dir={self.profile}"]
        # Another one than the package's would hide it.
        if not INSTALLED:
            options.append(f"--load-extension={extension}")
        words = " ".join(["exec", "chromium", *options, "about:blank",
                          f"3<&{to_browser}", f"4>&{from_browser}"])
        self.child = session.start(["bash", "-c", words], "chromium", start_new_session=True,
                                   pass_fds=[to_browser, from_browser])
        os.close(to_browser)
        os.close(from_browser)
        self.answers, self.last, self.attached = {}, 0, {}
        threading.Thread(target=self.read, args=[reading], daemon=True).start()
        if INSTALLED != "removed":
            self.worker = wait(self.ready_worker, "the extension in Chromium", 90)
        page = wait(lambda: self.targets("page"), "a page of Chromium", 60)[0]
        self.page = self.attach(page["targetId"])

    def read(self, pipe):
        rest = b""
        try:
            while data := os.read(pipe, 1 << 16):
                *messages, rest = (rest + data).split(b"\0")
                for message in map(json.loads, messages):
                    if "id" in message:
                        self.answers[message["id"]].put(message)
        except OSError:
            pass
        os.close(pipe)

    def call(self, method, where=None, **parameters):
        self.last += 1
        number, self.answers[self.last] = self.last, queue.Queue()
        message = {"id": number, "method": method, "params": parameters}
        if where:
            message["sessionId"] = where
        os.write(self.pipe, json.dumps(message).encode() + b"\0")
        answer = self.answers[number].get(timeout=60)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def targets(self, kind):
        return [target for target in self.call("Target.getTargets")["targetInfos"]
                if target["type"] == kind]

    def find_worker(self):
        for target in self.targets("service_worker"):
            if CHROMIUM_ID in target["url"]:
                return target["targetId"]
        return None

    def end_worker(self):
        """Ends the extension's worker, and waits until it is gone: it would still take the next event."""
        worker = self.find_worker()
        self.call("Target.closeTarget", targetId=worker)
        wait(lambda: self.find_worker() != worker, "the end of the worker")

    def ready_worker(self):
        worker = self.find_worker()
        script = "globalThis.chrome?.runtime?.onMessage?.hasListeners()"
        try:
            return worker if worker and self.in_worker(worker, script) else None
        except RuntimeError:
            # It has ended meanwhile, and another one begins.
            return None

    def attach(self, target):
        return self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def in_worker(self, worker, script):
        """Runs a script in the extension's worker, which would never sleep while it is debugged."""
        where = self.attach(worker)
        try:
            return self.evaluate(where, script)
        finally:
            self.call("Target.detachFromTarget", sessionId=where)

    def evaluate(self, where, script):
        result = self.call("Runtime.evaluate", where, expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def run(self, script):
        return self.evaluate(self.page, script)

    def extension(self, script):
        """Runs a script in the extension."""
        return self.in_worker(self.find_worker() or self.worker, script)

    def records(self):
        """The states of the downloads that it has on record, by the path of their links."""
        return json.loads(self.extension(
            "chrome.downloads.search({}).then((all) => JSON.stringify(Object.fromEntries("
            "all.map(({ finalUrl, state }) => [new URL(finalUrl).pathname, state]))))"))

    def open(self, url):
        self.call("Page.navigate", self.page, url=url)
        wait(lambda: self.run(f"location.href == {json.dumps(url)} && document.readyState") ==
             "complete", f"the page {url}")

    def open_behind(self, name):
        url = f"chrome-extension://{CHROMIUM_ID}/{name}"
        target = self.call("Target.createTarget", url=url, background=True)["targetId"]
        return target, self.attach(target)

    def run_in(self, page, script):
        return self.evaluate(page[1], script)

    def close_behind(self, page):
        self.call("Target.closeTarget", targetId=page[0])

    def badge(self):
        return self.extension("chrome.action.getBadgeText({})")

    @contextlib.contextmanager
    def private_window(self, url):
        """Shows a page in a private window."""
        # The browser that runs does it.
        subprocess.run(["chromium", f"--user-data-dir={self.profile}", "--incognito", url],
                       env=self.session.environment, capture_output=True, timeout=60)
        target, = wait(lambda: [target for target in self.targets("page") if target["url"] == url],
                       "the private page")
        page, self.page = self.page, self.attach(target["targetId"])
        try:
            wait(lambda: self.run(f"location.href == {json.dumps(url)} && document.readyState") ==
                 "complete", "the private page")
            yield
        finally:
            self.page = page
            self.call("Target.closeTarget", targetId=target["targetId"])

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *words], env=self.session.environment, capture_output=True,
                              text=True).stdout

    def save_by_dialog(self):
        """Answers the dialog that Chromium shows, also for each file of a private window."""
        wait(lambda: "Save File" in self.xdotool("getwindowfocus", "getwindowname"), "the dialog")

        def press():
            self.xdotool("key", "alt+s")
            time.sleep(0.3)
            return "Save File" not in self.xdotool("getwindowfocus", "getwindowname")
        wait(press, "the end of the dialog")

    def menu(self, selector, letter="d"):
        """Chooses an item in the menu of an element, idown's unless another is named.

        The menu is no part of the page: the item's letter is a key of the keyboard.
        """
        self.click(selector, button="right")
        self.run("globalThis.keys = 0, addEventListener('keydown', () => globalThis.keys++, true), 0")

        def press():
            """Until there is a menu, which takes the key, the page gets it."""
            before = self.run("globalThis.keys")
            time.sleep(0.5)
            self.xdotool("key", letter)
            time.sleep(0.5)
            return self.run("globalThis.keys") == before
        wait(press, "the menu")

    def click(self, selector, alt=False, button="left"):
        """A click of the user's mouse on an element.

        Chromium drops what comes before a page's first frame is on the screen, so that the page
        says whether it was clicked.
        """
        place = self.run(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {"
            f" const element = ({selector!r}).split('>>').reduce("
            "(d, s) => d.querySelector(s).contentDocument ?? d.querySelector(s), document);"
            " globalThis.clicks = 0; const note = () => globalThis.clicks++;"
            " for (const kind of ['mouseup', 'contextmenu'])"
            " element.ownerDocument.addEventListener(kind, note, { capture: true, once: true });"
            " return element.getBoundingClientRect().toJSON(); })")
        x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2

        def press():
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", self.page, type=kind, x=x, y=y, button=button,
                          clickCount=1, modifiers=1 if alt else 0)
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline:
                if self.run("globalThis.clicks") != 0:
                    return True
                time.sleep(0.02)
            return False

        wait(press, f"a click on {selector}")

    def end(self):
        self.call("Browser.close")
        os.close(self.pipe)

    def tabs(self):
        return len(self.targets("page"))

    def listed(self):
        """The downloads on the browser's own list, which the extension tells."""
        return [] if INSTALLED == "removed" else self.extension(
            "chrome.downloads.search({}).then(l => l.map(i => "
            "`${i.url} ${i.state}${i.paused ? ' paused' : ''} ${i.bytesReceived} ${i.danger} ${i.filename}`))")

    def forget(self):
        if INSTALLED != "removed":
            self.extension("chrome.downloads.erase({})")


class Firefox(Browser):
    name = "Firefox"

    def __init__(self, session, extension=EXTENSION, prompt=False, private=False):
        self.session, self.profile = session, session.work / "firefox"
        self.profile.mkdir(exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        preferences = {
            "marionette.port": port, "browser.download.folderList": 2,
            "browser.download.dir": str(session.saved), "app.update.enabled": False,
            "browser.download.useDownloadDir": not prompt, "network.captive-portal-service.enabled": False,
            "browser.download.always_ask_before_handling_new_types": False,
            "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
            "toolkit.telemetry.reportingpolicy.firstRun": False, "network.connectivity-service.enabled": False,
            "browser.shell.checkDefaultBrowser": False, "services.settings.server": "data:,",
            "browser.safebrowsing.downloads.enabled": False, "dom.disable_open_during_load": False,
            "network.dns.localDomains": "plain.example",
        }
        (self.profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences.items()))
        self.child = session.start(
            ["firefox-esr", "--marionette", "--remote-allow-system-access", "--profile",
             str(self.profile), "--no-remote"], "firefox", start_new_session=True)

        def connect():
            try:
                return socket.create_connection(("127.0.0.1", port))
            except OSError:
                return None
        self.socket = wait(connect, "Marionette", 120)
        self.rest, self.last = b"", 0
        self.read()
        self.call("WebDriver:NewSession", acceptInsecureCerts=True)
        if not INSTALLED:
            self.call("Addon:Install", path=str(extension), temporary=True, allowPrivateBrowsing=private)

    def read(self):
        while b":" not in self.rest:
            self.rest += self.socket.recv(1 << 16)
        length, _, rest = self.rest.partition(b":")
        while len(rest) < int(length):
            rest += self.socket.recv(1 << 16)
        self.rest = rest[int(length):]
        return json.loads(rest[:int(length)])

    def call(self, method, **parameters):
        self.last += 1
        message = json.dumps([0, self.last, method, parameters]).encode()
        self.socket.settimeout(60)
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def run(self, script):
        return self.call("WebDriver:ExecuteScript", script=f"return ({script})", args=[])

    def chrome(self, script):
        """Runs a script in Firefox itself."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteAsyncScript", args=[], script=(
                "const done = arguments[arguments.length - 1];"
                f"Promise.resolve((async () => ({script}))()).then(done, e => done(String(e)))"))
        finally:
            self.call("Marionette:SetContext", value="content")

    def end_script(self):
        """Ends the extension's script, as Firefox does after some rest."""
        self.chrome("WebExtensionPolicy.getByID('browser@idown.org').extension.terminateBackground("
                    "{ ignoreDevToolsAttached: true, disableResetIdleForTest: true })")

    def open(self, url):
        self.call("WebDriver:Navigate", url=url)
        wait(lambda: self.run("[location.href, document.readyState]") == [url, "complete"],
             f"the page {url}")

    def enter(self, url):
        """Opens what the user types into the address bar."""
        self.chrome(f"gBrowser.fixupAndLoadURIString({json.dumps(url)}, {{ triggeringPrincipal: "
                    "Services.scriptSecurityManager.getSystemPrincipal() }) || 1")

    def open_behind(self, name):
        before = self.call("WebDriver:GetWindowHandles")
        self.chrome("gBrowser.addTab(WebExtensionPolicy.getByID('browser@idown.org').extension"
                    f".baseURI.resolve('{name}'), {{ triggeringPrincipal: "
                    "Services.scriptSecurityManager.getSystemPrincipal() }) && 1")
        return wait(lambda: set(self.call("WebDriver:GetWindowHandles")) - set(before), name).pop()

    @contextlib.contextmanager
    def in_window(self, handle):
        here = self.call("WebDriver:GetWindowHandle")
        self.call("WebDriver:SwitchToWindow", handle=handle, focus=False)
        try:
            yield
        finally:
            self.call("WebDriver:SwitchToWindow", handle=here, focus=False)

    def run_in(self, page, script):
        with self.in_window(page):
            return self.run(script)

    def close_behind(self, page):
        here = self.call("WebDriver:GetWindowHandle")
        self.call("WebDriver:SwitchToWindow", handle=page, focus=False)
        self.call("WebDriver:CloseWindow")
        self.call("WebDriver:SwitchToWindow", handle=here, focus=False)

    def badge(self):
        return self.chrome(
            "ChromeUtils.importESModule('resource://gre/modules/ExtensionParent.sys.mjs').ExtensionParent"
            ".apiManager.global.browserActionFor(WebExtensionPolicy.getByID('browser@idown.org').extension)"
            ".action.getContextData(null).badgeText")

    @contextlib.contextmanager
    def shown(self, window, url):
        """Shows a page in a window or tab, and closes that in the end."""
        here = self.call("WebDriver:GetWindowHandle")
        self.call("WebDriver:SwitchToWindow", handle=window)
        try:
            self.open(url)
            yield
        finally:
            self.call("WebDriver:CloseWindow")
            self.call("WebDriver:SwitchToWindow", handle=here)

    def private_window(self, url):
        """Shows a page in a private window."""
        return self.shown(self.call("WebDriver:NewWindow", type="window", private=True)["handle"], url)

    def container_tab(self, url):
        """Shows a page in a tab of a container, which has cookies of its own."""
        before = self.call("WebDriver:GetWindowHandles")
        self.chrome("(gBrowser.selectedTab = gBrowser.addTab('about:blank', { userContextId: 1, triggeringPrincipal:"
                    " Services.scriptSecurityManager.getSystemPrincipal() })) && 1")
        return self.shown(
            wait(lambda: set(self.call("WebDriver:GetWindowHandles")) - set(before), "another tab").pop(), url)

    def save_by_dialog(self):
        """Firefox asks nothing."""

    def menu(self, selector):
        """Chooses idown's item in the menu of an element."""
        self.click(selector, button=2)
        self.chrome(
            "(async () => { const menu = document.getElementById('contentAreaContextMenu');"
            " const find = () => [...menu.querySelectorAll('menuitem')].find("
            "(item) => item.label === 'Download with idown' && !item.hidden);"
            " while (menu.state !== 'open' || !find()) await new Promise((done) => setTimeout(done, 50));"
            " menu.activateItem(find()); })()")

    def click(self, selector, alt=False, button=0):
        *frames, selector = selector.split(">>")
        for frame in frames:
            element = self.call("WebDriver:FindElement", using="css selector", value=frame)
            self.call("WebDriver:SwitchToFrame", element=next(iter(element.values())))
        element = self.call("WebDriver:FindElement", using="css selector", value=selector)
        keys = {"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": "\ue00a"}, {"type": "pause"}, {"type": "pause"},
            {"type": "keyUp", "value": "\ue00a"}]}
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "origin": element, "x": 0, "y": 0},
            {"type": "pointerDown", "button": button}, {"type": "pointerUp", "button": button}]}
        self.call("WebDriver:PerformActions", actions=[keys, mouse] if alt else [mouse])
        if frames:
            self.call("WebDriver:SwitchToFrame", id=None)

    def kill(self):
        super().kill()
        self.socket.close()

    def end(self):
        self.call("Marionette:Quit", flags=["eAttemptQuit"])
        self.socket.close()

    def tabs(self):
        return len(self.call("WebDriver:GetWindowHandles"))

    def listed(self):
        return self.chrome(
            "ChromeUtils.importESModule('resource://gre/modules/Downloads.sys.mjs').Downloads"
            ".getList('{Downloads.ALL}').then(l => l.getAll()).then(l => l.map(i => i.source.url))")

    def forget(self):
        self.chrome(
            "ChromeUtils.importESModule('resource://gre/modules/Downloads.sys.mjs').Downloads"
            ".getList('{Downloads.ALL}').then(async l => { for (const i of await l.getAll()) await l.remove(i) })")
