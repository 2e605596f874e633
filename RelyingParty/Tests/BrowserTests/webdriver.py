# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven by the protocol WebDriver (W3C) over the standard library."""
import base64
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"tab": "\ue004", "enter": "\ue007", "escape": "\ue00c", "space": " ", "shift": "\ue008", "end": "\ue010"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """A browser with an empty profile. Only the user root needs a browser without its sandbox."""

    def __init__(self, dark=False, width=1280, height=900, reduced_motion=True):
        self.folder = tempfile.TemporaryDirectory()
        home = {"HOME": self.folder.name, "XDG_CONFIG_HOME": self.folder.name, "XDG_CACHE_HOME": self.folder.name}
        self.log = open(pathlib.Path(self.folder.name) / "log", "w")
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=os.environ | home)
        line = next(line for line in self.process.stdout if "successfully" in line)
        self.address = f"http://127.0.0.1:{re.search(r'port ([0-9]+)', line)[1]}"
        arguments = ["--headless=new", f"--window-size={width},{height}", "--hide-scrollbars", "--lang=en-GB",
                     "--disable-gpu", f"--user-data-dir={self.folder.name}/profile"]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")
        options = {"args": arguments}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
            "webauthn:virtualAuthenticators": True}}})
        self.session = f"/session/{session['sessionId']}"
        self.media(dark, reduced_motion)
        self.size(width, height)

    def call(self, method, path, body=None):
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def send(self, method, path, body=None):
        return self.call(method, self.session + path, body)

    def protocol(self, command, **parameters):
        """A command of Chromium's own protocol, for what WebDriver has no command."""
        return self.send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def media(self, dark=False, reduced_motion=True):
        self.protocol("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def size(self, width, height):
        self.protocol("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)

    def go(self, address):
        self.send("POST", "/url", {"url": address})

    def url(self):
        return self.send("GET", "/url")

    def run(self, script, *arguments):
        return self.send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """The last argument of the script is a function that ends it."""
        return self.send("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def find(self, selector, text=None):
        """The first element that is visible and contains the text; None if there is none."""
        return self.run("""
            const [selector, text] = arguments;
            return Array.from(document.querySelectorAll(selector)).find(element => element.checkVisibility()
                && (text === null || element.textContent.includes(text))) ?? null;""", selector, text)

    def wait(self, selector, text=None, seconds=20):
        return self.until(lambda: self.find(selector, text), f"{selector} {text or ''}", seconds)

    def until(self, condition, what, seconds=20):
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not appear in {self.url()}:\n{self.text()}")
            time.sleep(0.02)

    def text(self):
        return self.run("return document.body.innerText")

    def click(self, selector, text=None):
        element = self.wait(selector, text)
        self.send("POST", f"/element/{element[ELEMENT]}/click")

    def type(self, selector, text):
        element = self.wait(selector)
        self.send("POST", f"/element/{element[ELEMENT]}/value", {"text": text})

    def press(self, *names):
        """Presses keys one after the other; the name `shift` holds for the next one."""
        actions, held = [], False
        for name in names:
            value = KEYS.get(name, name)
            actions.append({"type": "keyDown", "value": value})
            if name == "shift":
                held = True
                continue
            actions.append({"type": "keyUp", "value": value})
            if held:
                actions.append({"type": "keyUp", "value": KEYS["shift"]})
                held = False
        self.send("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def picture(self, path):
        """A picture of the whole page, not only of the window."""
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return innerWidth")
        before = self.run("return innerHeight")
        self.size(width, max(before, min(height, 4000)))
        data = self.send("GET", "/screenshot")
        self.size(width, before)
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def console(self):
        """What the page wrote to the console since the last call, such as refusals of its policy."""
        return [entry["message"] for entry in self.send("POST", "/se/log", {"type": "browser"})]

    def close(self):
        try:
            self.send("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(20)
            self.process.stdout.close()
            self.log.close()
            self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
