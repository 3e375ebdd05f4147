"""Builds demix._core by CMake; the rest is in pyproject.toml.

    pip install .                       with pybind11 and setuptools from a package index, or
    pip install --no-build-isolation .  with those of the system (Debian: scripts/install-deps build python)

DEMIX_CORE names a compiled module to take instead of building one; CMAKE_BUILD_PARALLEL_LEVEL the number of jobs.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    """demix._core, by the project's own CMakeLists.txt, for the Python that runs this."""

    def build_extension(self, ext):
        to = Path(self.get_ext_fullpath(ext.name)).resolve()
        to.parent.mkdir(parents=True, exist_ok=True)
        compiled = os.environ.get("DEMIX_CORE")
        if not compiled:
            try:
                import numpy  # noqa: F401
            except ImportError:
                sys.exit(f"demix: {sys.executable} has no NumPy; install it for this Python (Debian: python3-numpy)")
            build = Path(self.build_temp).resolve() / "cmake"
            build.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), f"-DPython3_EXECUTABLE={sys.executable}",
                            "-DCMAKE_BUILD_TYPE=Release", "-DDEMIX_BUILD_PYTHON=ON", "-DDEMIX_BUILD_CLI=OFF",
                            "-DDEMIX_BUILD_TESTS=OFF", *self._pybind11()], check=True)
            jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
            subprocess.run(["cmake", "--build", str(build), "--target", "demix_python", "-j", jobs], check=True)
            compiled = next((build / "python" / "demix").glob("_core*"))
        shutil.copyfile(compiled, to)

    @staticmethod
    def _pybind11():
        # A pybind11 that pip brought says where it is; Debian's is found without.
        try:
            import pybind11
            return [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
        except ImportError:
            return []


version = re.search(r"project\(demix VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
setup(version=version, ext_modules=[Extension("demix._core", sources=[])], cmdclass={"build_ext": CMakeBuild})
