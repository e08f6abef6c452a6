"""A page in headless Chromium, over the DevTools protocol on two pipes: its requests, its errors, the values of
expressions, and keyboard input."""

import json
import os
import select
import shutil
import subprocess
import time

from harness import PATIENCE_SECONDS, Failure, Skip, check, check_equal, until

# Keys without a character, and the space, which is pressed and typed.
ENTER, SPACE, TAB = "Enter", "Space", "Tab"
KEYS = {ENTER: {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
        TAB: {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
        SPACE: {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "}}


class Browser:
    def __init__(self, profile, size="1200,900"):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise Skip("there is no chromium")
        here, self.to = os.pipe()
        self.back, there = os.pipe()
        command = ["exec", program, "--headless", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", f"--window-size={size}",
                   "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        shell = " ".join(f"'{c}'" if i > 1 else c for i, c in enumerate(command))
        # The protocol uses descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f"{shell} 3<&{here} 4>&{there}"], pass_fds=(here, there),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(here)
        os.close(there)
        self.pending = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Network", "Runtime", "Log":
            self.call(f"{domain}.enable")

    def message(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
            part = os.read(self.back, 1 << 16) if ready else b""
            if not part:
                raise Failure("chromium does not reply")
            self.pending += part
        one, self.pending = self.pending.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            reply = self.message()
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise Failure(f"{method}: {reply['error']}")
                return reply["result"]
            self.events.append(reply)

    def open(self, url):
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def value(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        check("exceptionDetails" not in done, expression, done)
        return done["result"].get("value")

    def wait(self, expression, what):
        """Waits until the expression is true on the page; returns its value."""
        return until(lambda: self.value(expression),
                     lambda: f"{what}: {self.value('document.body.innerText')[:1000]}")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)}).innerText")

    def count(self, selector):
        return self.value(f"document.querySelectorAll({json.dumps(selector)}).length")

    def type(self, selector, *strokes):
        """Types at the keyboard: keys by name, other texts character by character."""
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.press(*strokes)

    def press(self, *strokes):
        """Presses a key at the focused element."""
        for stroke in strokes:
            for key in [KEYS[stroke]] if stroke in KEYS else [{"key": c, "text": c} for c in stroke]:
                self.call("Input.dispatchKeyEvent", type="keyDown", **key)
                self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def prefer(self, scheme):
        """Sets the preferred colour scheme, light or dark."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        return [e["params"] for e in self.events if e.get("method") in
                ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]

    def check_clean(self, *origins):
        """Checks that there were no errors and no requests to other hosts."""
        check_equal(self.complaints(), [], "complaints")
        for url in self.requests():
            check(url.startswith((*origins, "data:")), "another host:", url)

    def close(self):
        os.close(self.to)
        self.process.terminate()
        self.process.wait()
        os.close(self.back)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
