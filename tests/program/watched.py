"""A stream with a page, for tests."""
import json
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np

from program import DEMIX

RATE = 2000


def sources(frames, seed=1):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.laplace(size=frames), rng.uniform(-1, 1, frames), np.sign(rng.standard_normal(frames)),
                            rng.laplace(size=frames)])


class Watched:
    """A stream with a page."""

    def __init__(self, *args, page="0", **kwargs):
        self.process = subprocess.Popen([DEMIX, "stream", *map(str, args), "--page", page], stderr=subprocess.PIPE,
                                        text=True, **kwargs)
        self.said = []
        line = self.process.stderr.readline()
        if "http" not in line:
            raise AssertionError(line + self.process.stderr.read())
        self.url = line.split()[-1]
        self.root, self.key = self.url.split("/?key=")
        self.port = int(self.root.rsplit(":", 1)[1])
        self._reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self._reader.start()

    def ask(self, path, method="GET", headers=None, key=None, **params):
        params["key"] = self.key if key is None else key
        url = f"{self.root}/{path}?" + urllib.parse.urlencode(params)
        request = urllib.request.Request(url, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def status(self):
        return json.loads(self.ask("status")[1])

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.status()
            if condition(status):
                return status
            time.sleep(.05)
        raise AssertionError(f"not within {seconds} s: {status}")

    def socket(self, text=b""):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        s.sendall(text)
        return s

    def get_line(self, path):
        return (f"GET /{path}{'&' if '?' in path else '?'}key={self.key} HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{self.port}\r\n\r\n").encode()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmRSS"))  # MB

    def stop(self):
        """Seconds it takes to end."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self._reader.join(5)
        return time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(5)
        self.process.stderr.close()
        if self.process.stdout:
            self.process.stdout.close()


TRIED = subprocess.run([DEMIX, "stream", "-", "--format", "f32", "--channels", "2", "--page", "0"],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr
BUILT_IN = "without cpp-httplib" not in TRIED
