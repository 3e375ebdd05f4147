"""What the comparisons share: programs that take turns, and NumPy with one or the other BLAS."""
import json
import os
import subprocess

ROUNDS = 5
SIZES = (4, 32, 128)
ROOT = "/usr/lib/x86_64-linux-gnu/"
LIBRARIES = {"NumPy": [ROOT + "blas", ROOT + "lapack"], "NumPy + OpenBLAS": [ROOT + "openblas-pthread"]}
LIBRARIES = {name: folders for name, folders in LIBRARIES.items() if all(map(os.path.isdir, folders))}


def numpy_times(library, arguments):
    """What a Python program prints, as JSON, run with this BLAS on one thread."""
    env = dict(os.environ, LD_LIBRARY_PATH=":".join(LIBRARIES[library]), OPENBLAS_NUM_THREADS="1")
    out = subprocess.run(["/usr/bin/python3"] + arguments, env=env, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def benchmarks(program, which):
    out = subprocess.run([program, "--benchmark_filter=" + which, "--benchmark_format=json",
                          "--benchmark_min_time=0.1"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["benchmarks"]


def show(times):
    return f"{min(times) / 1e3:9.3f} us (+{100 * (max(times) / min(times) - 1):3.0f} %)"
