"""What the tests of the program share: running it, and what it must be like when it refuses."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

DEMIX = os.environ["DEMIX"]


def needs(there, what):
    """Decorates tests that need `there`: without it they are skipped; in CI everything must be there."""
    if there:
        return lambda test: test
    if os.environ.get("CI"):
        raise SystemExit(f"in CI a test that cannot run is a failure: {what}")
    return unittest.skip(what)


def run(*args, **kwargs):
    return subprocess.run([DEMIX, *map(str, args)], capture_output=True, text=True, timeout=600, **kwargs)


class Program(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.dir = Path(self._folder.name)

    def tearDown(self):
        self._folder.cleanup()

    def ok(self, *args):
        result = run(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refused(self, part, *args, code=1, **kwargs):
        """One clear line on stderr, nothing on stdout, the right exit code, no file left behind."""
        before = sorted(p.name for p in self.dir.rglob("*"))
        result = run(*args, **kwargs)
        self.assertEqual(result.returncode, code, (args, result.stderr))
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("demix: "), result.stderr)
        self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(before, sorted(p.name for p in self.dir.rglob("*")))
