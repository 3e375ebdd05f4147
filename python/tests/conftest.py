"""What the tests share."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import demix


def pytest_sessionfinish(session):
    """In CI a test that cannot run is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = 1


@pytest.fixture(scope="session")
def program():
    """Runs the program of the same build."""
    path = os.environ.get("DEMIX")
    if not path:
        pytest.skip("DEMIX does not name the program")

    def run(*arguments, **options):
        return subprocess.run([path, *map(str, arguments)], check=True, capture_output=True, **options)

    return run


@pytest.fixture(scope="session")
def data():
    """The folder of real recordings, or None: then stand-ins are generated."""
    path = os.environ.get("DEMIX_DATA")
    return Path(path) if path and Path(path).is_dir() else None


@pytest.fixture(scope="session")
def python():
    """Runs a script in a process of its own; what it printed."""

    def run(script, *arguments, **options):
        done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def speechlike():
    """Eight channels of signals that come and go, in time order."""
    rng = np.random.default_rng(7)
    envelope = np.repeat(np.exp(rng.normal(size=(200, 8))), 200, axis=0)
    S = envelope * rng.laplace(size=(40000, 8))
    A = demix.make_mixing(8, random_state=3)
    return S / S.std(axis=0), A, (S / S.std(axis=0)) @ A.T
