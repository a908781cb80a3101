"""Chromium without a window, driven over its DevTools protocol through a pipe."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys


KEYS = {
    "Enter": {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Escape": {"code": "Escape", "windowsVirtualKeyCode": 27},
    "Tab": {"code": "Tab", "windowsVirtualKeyCode": 9},
    "Home": {"code": "Home", "windowsVirtualKeyCode": 36},
    "End": {"code": "End", "windowsVirtualKeyCode": 35},
    "ArrowLeft": {"code": "ArrowLeft", "windowsVirtualKeyCode": 37},
    "ArrowUp": {"code": "ArrowUp", "windowsVirtualKeyCode": 38},
    "ArrowRight": {"code": "ArrowRight", "windowsVirtualKeyCode": 39},
    "ArrowDown": {"code": "ArrowDown", "windowsVirtualKeyCode": 40},
    " ": {"code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}
CTRL = 2
PATIENCE = 60  # seconds for an answer

LOADED = """new Promise(done => {
    if (document.readyState === "complete") done(); else addEventListener("load", () => done());
})"""

# Becomes the browser, which reads from 3 and writes to 4.
LAUNCH = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 10) for pipe in sys.argv[1:3]]
for number, pipe in enumerate(pipes, 3):
    os.dup2(pipe, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


def chromium():
    """The browser's path, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def said(details):
    """What was thrown, in words: of errors their description, of what else a promise rejects with
    its value; a rejection may come without any of the two.
    """
    thrown = details.get("exception", {})
    value = thrown.get("value", thrown.get("unserializableValue"))
    return thrown.get("description") or f"{details['text']} {json.dumps(value)}"


class Browser:
    """One page of a browser; `with Browser(folder) as page: page.open(path)`."""

    def __init__(self, folder):
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        words = [chromium(), "--headless", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        words += ["--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")  # of which root has none
        self._process = subprocess.Popen(
            [sys.executable, "-ISc", LAUNCH, str(theirs_in), str(theirs_out), *words],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers, self._read, self._session = itertools.count(1), b"", None
        self.errors = []  # what scripts of the page raised
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.send("Page.enable")
        self.send("Runtime.enable")

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if self._process.poll() is None:
            self._session = None
            self.send("Browser.close")
            self._process.wait(timeout=PATIENCE)
        os.close(self._to)
        os.close(self._from)

    def send(self, method, **params):
        """Calls a method of the protocol, and waits for what it returns."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _next(self):
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            got = os.read(self._from, 1 << 16) if ready else None
            if not got:
                self._process.kill()
                self._process.wait()
                raise RuntimeError(f"the browser {'has ended' if ready else 'is silent'}")
            self._read += got
        one, _, self._read = self._read.partition(b"\0")
        message = json.loads(one)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(said(message["params"]["exceptionDetails"]))
        return message

    def open(self, path):
        """Loads a file, to the end of its scripts."""
        self.send("Page.navigate", url=path.absolute().as_uri())
        self.run(LOADED)

    def run(self, script):
        """The value of an expression in the page."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(said(found["exceptionDetails"]))
        return found["result"].get("value")

    def press(self, *keys, ctrl=False):
        """Presses and releases keys of the keyboard, one after the other."""
        for key in keys:
            known = KEYS.get(key, {"text": key})
            held = {"key": key, "modifiers": CTRL if ctrl else 0, **known}
            self.send("Input.dispatchKeyEvent", type="keyDown", **held)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def show(self, *, width=1280, height=800, scheme="light", phone=False):
        """Sets the window's size, and the colours that the system prefers."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone)
        prefers = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[prefers])

    def picture(self, path):
        """What is seen, as a PNG."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))
