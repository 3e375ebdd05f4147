"""Opens pages in headless Chromium, through chromedriver's HTTP interface and nothing but the standard library."""
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
MISSING = None if CHROMIUM and DRIVER else "no Chromium: install the packages chromium and chromium-driver"

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic",
             "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
             "--host-resolver-rules=MAP * ~NOTFOUND"]  # a page that fetches anything is caught
PHONE = 375  # pixels

# Resolves when the metadata of every sound is there, or has failed.
MEDIA = """
const done = arguments[arguments.length - 1];
const sounds = [...document.querySelectorAll('audio')];
const ready = a => a.readyState > 0 || a.error ? Promise.resolve() : new Promise(resolve => {
  a.addEventListener('loadedmetadata', resolve, {once: true});
  a.addEventListener('error', resolve, {once: true});
});
Promise.all(sounds.map(ready)).then(() => done({
  durations: sounds.map(a => isFinite(a.duration) ? a.duration : null),
  widths: [...document.images].map(i => i.naturalWidth),
  fetched: [...document.querySelectorAll('[src], link[href]')].map(e => e.src || e.href)
    .concat(performance.getEntriesByType('resource').map(e => e.name)).filter(n => !n.startsWith('data:')),
}));
"""
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Browser:
    """with Browser() as browser: browser.open(path). With a host, pages of that address in numbers can be visited."""

    def __init__(self, host=None):
        self._arguments = [f"{a}, EXCLUDE {host}" if host and "resolver" in a else a for a in ARGUMENTS]

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = open(Path(self._folder.name) / "driver.log", "w+")
        self._driver = subprocess.Popen([DRIVER, "--port=0"], stdout=self._log, stderr=subprocess.STDOUT)
        self._session = None
        try:
            self._root = f"http://127.0.0.1:{self._port()}/session"
            options = {"binary": CHROMIUM,
                       "args": self._arguments + [f"--user-data-dir={self._folder.name}/profile"]}
            capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = self._call("POST", "", {"capabilities": {"alwaysMatch": capabilities}})
            self._session = answer["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self._session:
                self._call("DELETE", f"/{self._session}")
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=30)
            self._log.close()
            self._folder.cleanup()

    @property
    def driver(self):
        """The process that has started the browser."""
        return self._driver.pid

    def _port(self):
        for _ in range(300):
            self._log.flush()
            text = Path(self._log.name).read_text()
            if "successfully on port " in text:
                return int(text.split("successfully on port ")[1].split(".")[0])
            if self._driver.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError("chromedriver did not start: " + text)

    def _call(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, {"Content-Type": "application/json"}, method=verb)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever the environment says
        try:
            with direct.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def _post(self, path, **body):
        return self._call("POST", f"/{self._session}/{path}", body)

    def devtools(self, command, **parameters):
        return self._post("goog/cdp/execute", cmd=command, params=parameters)

    def run(self, script):
        return self._post("execute/sync", script=script, args=[])

    def open(self, page, width=1280, dark=False, media="screen"):
        """Loads a file as a window of this width shows it."""
        self.visit(Path(page).resolve().as_uri(), width, dark, media)

    def visit(self, address, width=1280, dark=False, media="screen"):
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.devtools("Emulation.setEmulatedMedia", media=media, features=scheme)
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
                      mobile=False)
        self._post("url", url="about:blank")  # the page before may still ask a stream that has ended
        self.errors()
        self._post("url", url=address)

    def errors(self):
        """What the console says since it was last asked."""
        return [entry["message"] for entry in self._post("se/log", type="browser")]

    def screenshot(self, path):
        """The whole page."""
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path):
        printed = self.devtools("Page.printToPDF", printBackground=False)
        Path(path).write_bytes(base64.b64decode(printed["data"]))

    def look(self, page, screenshot=None):
        """What there is to know of a page: errors of the console, durations of sounds (seconds, None if it cannot be
        played), widths of images (0 if it cannot be shown), addresses fetched beside the page itself, and by how many
        pixels it is too wide for a phone."""
        self.open(page)
        found = self._post("execute/async", script=MEDIA, args=[])
        if screenshot:
            self.screenshot(screenshot)
        found["errors"] = self.errors()
        self.open(page, width=PHONE)
        found["overflow"] = self.run(OVERFLOW)
        return found
