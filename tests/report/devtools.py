# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over a pipe with the DevTools protocol.

    with Browser("/usr/bin/chromium") as browser:
        browser.open(path)
        browser.evaluate("document.title")
"""

import json
import os
import select
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, program, width=1500, height=1100):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.requests = os.pipe()
        self.answers, from_child = os.pipe()
        # --no-sandbox: a container has no user namespaces, and the page is our own.
        command = (f'exec "$0" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars '
                   f'--no-first-run --disable-background-networking --user-data-dir="$1" --remote-debugging-pipe '
                   f'--window-size={width},{height} about:blank 3<&{to_child} 4>&{from_child}')
        self.process = subprocess.Popen(["sh", "-c", command, program, self.profile.name],
                                        pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=120)
        os.close(self.requests)
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self, seconds=240):
        """The next message of the browser."""
        until = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, until - time.monotonic()))
            data = os.read(self.answers, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("no answer of the browser")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.requests, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def open(self, path):
        """Opens a file and waits until it is loaded."""
        self.events = []
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, key, text=None, code=None):
        event = {"key": key, "code": code or key}
        if key == "Enter":
            text = "\r"
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}
        if key in codes:
            event["windowsVirtualKeyCode"] = codes[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path, height=None):
        import base64
        clip = {}
        if height:
            width = self.evaluate("innerWidth")
            clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
                    "captureBeyondViewport": True}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", **clip)["data"]))
