"""Chromium without a window, through the DevTools protocol and Python's standard library.

Methods and fields: https://chromedevtools.github.io/devtools-protocol/. With --remote-debugging-pipe the browser reads
messages from descriptor 3 and writes them to descriptor 4: JSON, each with a zero byte after it.
"""
import collections
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PATIENCE = 60  # seconds for one answer, on a machine with much else to do
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Escape": 27, "Tab": 9}


def find():
    """The program, or None with the reason why there is none that runs."""
    reason = "no Chromium is installed (Debian's package: chromium)"
    for name in NAMES:
        program = shutil.which(name)
        if program is None:
            continue
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=PATIENCE)
        if asked.returncode == 0:
            return program, asked.stdout.strip()
        reason = f"{program} does not start: {asked.stderr.strip()[:200]}"
    return None, reason


class Browser:
    def __init__(self, program):
        self._home = tempfile.mkdtemp(prefix="lethe_browser_")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Out of the way of 3 and 4, which the child makes copies at.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self._home}",
                   "--no-first-run", "--disable-gpu", "--disable-extensions", "--disable-dev-shm-usage",
                   "--disable-background-networking", "--hide-scrollbars"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # it refuses to start as root otherwise
        self._process = subprocess.Popen(command, close_fds=False, preexec_fn=place, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (to_browser, from_browser, *high):
            os.close(end)
        self._unread = b""
        self._last_id = 0
        self.events = collections.deque()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (EOFError, OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._home, ignore_errors=True)

    def _receive(self, until):
        while b"\0" not in self._unread:
            if not select.select([self._in], [], [], max(until - time.monotonic(), 0))[0]:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self._in, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self._unread += part
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        """The method's result. Events that arrive before it are kept in `events`."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(until)
            if answer.get("id") != self._last_id:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def wait_for(self, method, session):
        """Passes on in the events to the first of that name."""
        until = time.monotonic() + PATIENCE
        for event in self.events:
            if event.get("method") == method and event.get("sessionId") == session:
                return
        while True:
            event = self._receive(until)
            self.events.append(event)
            if event.get("method") == method and event.get("sessionId") == session:
                return


class Page:
    """A tab. Lengths are in CSS pixels of the window."""

    def __init__(self, browser):
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._target = target
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def resize(self, width, height=900, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, file):
        self.file = file
        self._browser.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(file))
        self._browser.wait_for("Page.loadEventFired", self._session)
        self.settle()

    def settle(self):
        """Waits until what has changed is painted; milliseconds since the page began to load."""
        return self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))")

    def value(self, script):
        """What an expression gives, as JSON carries it; a promise's value. Fails with what the script throws."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script[:80]}: {_thrown(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def complaints(self):
        """What the console would show in red since the page was opened: exceptions, errors, what was not loaded."""
        self.settle()
        found = []
        for event in self._browser.events:
            params = event.get("params", {})
            if event.get("sessionId") != self._session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                found.append(_thrown(params["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert", "warning"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
        return found


def _thrown(details):
    return details.get("exception", {}).get("description", details["text"]).split("\n")[0]
