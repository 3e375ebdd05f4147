"""An sdist, a wheel of it, and what is installed from that. (`make python` compiles it all anew.)"""
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if "DEMIX_CORE" not in os.environ:
        pytest.skip("DEMIX_CORE does not name a compiled module")
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)], cwd=out,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_sdist_has_what_building_needs(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    tracked = subprocess.run(["git", "ls-files", "src", "include", "python/src", "python/demix", "CMakeLists.txt",
                              "python/CMakeLists.txt", "cmake"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:
        assert set(tracked.stdout.split()) <= names
    assert "pyproject.toml" in names and "setup.py" in names and "LICENSE" in names
    assert not any(name.endswith(".so") for name in names)


def test_wheel_installs(built):
    wheel = next(built.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert {"demix/__init__.py", "demix/__init__.pyi", "demix/py.typed", "demix/mne.py"} <= set(names)
    assert any(name.startswith("demix/_core") for name in names)
    venv = built / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(venv)], check=True)
    subprocess.run([venv / "bin" / "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    script = ("import demix, numpy as np; S, A, X = demix.make_scenario(4, 5000); "
              "assert demix.amari(demix.ICA().fit(X).components_, A) < .05; print(demix.__file__, demix.__version__)")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    out = subprocess.run([venv / "bin" / "python", "-c", script], cwd=built, env=env, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert str(venv) in out.stdout
    version = (ROOT / "CMakeLists.txt").read_text().split("project(demix VERSION ")[1].split()[0]
    assert out.stdout.split()[-1] == version and f"-{version}-" in wheel.name
