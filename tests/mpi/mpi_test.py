#!/usr/bin/python3
"""demix-mpi: the result of demix to the bit, on any number of ranks and threads; a rank that fails ends the job."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import numpy as np

from recordings import edf, gdf, mixtures, wav, whole_numbers
from two_hosts import Hosts

DEMIX = os.environ["DEMIX"]
DEMIX_MPI = os.environ["DEMIX_MPI"]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
KILLS = int(os.environ.get("KILLS", "20"))


def run(*command, timeout=300):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, env=ENV)


def ranks(n, *arguments, timeout=300):
    return run(*MPIRUN, "-n", n, DEMIX_MPI, *arguments, timeout=timeout)


def processes_of(folder):
    """Those of demix-mpi that work on files of this folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"demix-mpi") and any(str(folder).encode() in w for w in words):
            found.append(int(entry.name))
    return found


class Mpi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def files(self, channels, frames):
        X = mixtures(frames, channels)
        X.astype("<f8").tofile(self.dir / "x.f64")
        X.astype("<f4").tofile(self.dir / "x.f32")
        np.save(self.dir / "w.npy", np.random.default_rng(2).integers(0, 3, size=(frames, 1)).astype(float))

    def alone(self, *arguments):
        result = run(DEMIX, "fit", *arguments, "-o", self.dir / "alone.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.dir / "alone.json").read_bytes()

    def same(self, *arguments, jobs=tuple((n, threads) for n in (1, 2, 3, 4) for threads in (1, 2))):
        """Two jobs at a time: most of a short one is waiting for mpirun. Leaves the model in mpi.json."""
        def fit(job):
            n, threads = job
            out = self.dir / f"mpi-{n}-{threads}.json"
            out.unlink(missing_ok=True)
            own = self.dir / f"mpirun-{n}-{threads}"  # two of it that begin at once stumble over a common folder
            own.mkdir(exist_ok=True)
            return out, run(*MPIRUN, "--mca", "orte_tmpdir_base", own, "-n", n, DEMIX_MPI, "fit", *arguments,
                            "--threads", threads, "-o", out)

        one = self.alone(*arguments)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for job, (out, result) in zip(jobs, pool.map(fit, jobs)):
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(out.read_bytes(), one, (arguments, job))
                self.assertEqual(result.stdout.splitlines().count(str(out)), 1)  # rank 0 only
                out.rename(self.dir / "mpi.json")

    def test_every_method_of_files_kept_in_memory(self):
        self.files(5, 60000)
        for method in ("auto", "fobi", "jade", "fastica", "picard", "sm-ica-offline"):
            for file in ("x.f64", "x.f32"):
                with self.subTest(method=method, file=file):
                    self.same(self.dir / file, "--channels", 5, "--method", method)

    def test_weights_bad_segments_and_stability(self):
        self.files(5, 60000)
        channels = (self.dir / "x.f64", "--channels", 5, "--rate", 1000)
        self.same(*channels, "--frame-weights", self.dir / "w.npy")
        self.same(*channels, "--bad", "3-20,40-41", "--method", "picard")
        self.same(*channels, "--method", "fastica", "--stability", 2)

    def test_every_method_with_weights_and_bad_segments(self):
        self.files(5, 60000)
        for method in ("auto", "fobi", "jade", "fastica", "picard"):
            with self.subTest(method):
                self.same(self.dir / "x.f32", "--channels", 5, "--rate", 1000, "--method", method, "--frame-weights",
                          self.dir / "w.npy", "--bad", "3-20,40-41", jobs=((2, 2), (3, 1)))

    def test_files_that_follow_each_other(self):
        self.files(8, 2300000)
        data = np.fromfile(self.dir / "x.f32", "<f4").reshape(-1, 8)
        parts = []
        for k, (a, b) in enumerate([(0, 7), (7, 1000003), (1000003, 2299000), (2299000, 2300000)]):
            parts.append(self.dir / f"part{k}.f32")
            data[a:b].tofile(parts[-1])
        whole = self.alone(self.dir / "x.f32", "--channels", 8, "--method", "picard")
        self.same(*parts, "--join", "frames", "--channels", 8, "--method", "picard", jobs=((1, 2), (3, 1)))
        self.assertEqual((self.dir / "mpi.json").read_bytes(), whole)

    def eeg(self):
        """A recording of EEG, or a stand-in, as an EDF file of 64 records of 1 s."""
        data = os.environ.get("DEMIX_DATA")
        path = data and pathlib.Path(data) / "eeg_eeglab" / "eeglab_data.edf"
        if path and path.is_file():
            return path.read_bytes()
        print("NOTE no $DEMIX_DATA: a generated stand-in for EEG")
        return edf(whole_numbers(64 * 128, 16), 128)

    def test_a_recording_in_eight_edf_files(self):
        """The same samples in the same scale: the same model, to the bit."""
        whole = self.eeg()
        (self.dir / "whole.edf").write_bytes(whole)
        size, records = int(whole[184:192]), int(whole[236:244])
        record = (len(whole) - size) // records
        parts = []
        for k in range(8):
            first, end = k * records // 8, (k + 1) * records // 8
            parts.append(self.dir / f"part{k}.edf")
            parts[-1].write_bytes(whole[:236] + str(end - first).encode().ljust(8) + whole[244:size] +
                                  whole[size + first * record:size + end * record])
        for method in ("auto", "picard"):
            expected = self.alone(self.dir / "whole.edf", "--method", method)
            self.assertEqual(self.alone(*parts, "--join", "frames", "--method", method), expected)
            self.same(*parts, "--join", "frames", "--method", method, jobs=((1, 1), (2, 1), (4, 2)))
        sums = run(DEMIX, "moments", *parts, "-m", "fobi", "-o", self.dir / "eeg.sums")
        self.assertEqual(sums.returncode, 0, sums.stderr)

    def test_two_hosts(self):
        """Two network namespaces, each with an address and a name of its own; mpirun starts ranks on both."""
        self.files(5, 60000)
        self.files_of_shares = self.dir / "y.f32"
        mixtures(2300000, 8).astype("<f4").tofile(self.files_of_shares)
        with Hosts() as hosts:
            for arguments in ((self.dir / "x.f64", "--channels", 5),
                              (self.files_of_shares, "--channels", 8, "--method", "picard")):
                one = self.alone(*arguments)
                for ranks_on_each in (1, 2):
                    (self.dir / "mpi.json").unlink(missing_ok=True)
                    result = run(*hosts.mpirun(ranks_on_each, DEMIX_MPI, "fit", *arguments, "--threads", 1, "--verbose",
                                               "-o", self.dir / "mpi.json"))
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn(f"ranks: {2 * ranks_on_each};", result.stderr)
                    self.assertEqual((self.dir / "mpi.json").read_bytes(), one)

    def test_every_method_of_a_file_read_in_shares(self):
        self.files(8, 2300000)  # more than is kept in memory
        jobs = ((2, 1), (3, 1), (4, 2))
        for method in ("fobi", "jade", "fastica", "picard"):
            with self.subTest(method):
                self.same(self.dir / "x.f32", "--channels", 8, "--method", method, jobs=jobs)
        self.same(self.dir / "x.f64", "--channels", 8, jobs=jobs)
        self.same(self.dir / "x.f64", "--channels", 8, "--method", "fobi", "--stability", 2, jobs=((3, 2),))
        self.same(self.dir / "x.f64", "--channels", 8, "--method", "fastica", "--frame-weights", self.dir / "w.npy",
                  jobs=jobs)
        self.same(self.dir / "x.f32", "--channels", 8, "--rate", 1000, "--method", "fobi", "--bad", "3-20,400-410",
                  jobs=jobs)

    def test_large_files_of_other_formats_are_read_in_shares(self):
        """The same numbers as raw ones: the same model; each rank reads its part."""
        frames, n, rate = 2200000, 8, 1000
        X = whole_numbers(frames, n)
        parts = []
        for k in range(2):
            parts.append(self.dir / f"part{k}.edf")
            parts[-1].write_bytes(edf(X[k * frames // 2:(k + 1) * frames // 2], rate))
        files = {"x.edf": edf(X, rate), "x.bdf": edf(X, rate, bits=24), "x.gdf": gdf(X, rate), "x.wav": wav(X, rate),
                 "y.wav": wav(X, rate, floats=True)}
        models = {}
        for name, data in files.items():
            with self.subTest(name):
                (self.dir / name).write_bytes(data)
                whole = (self.dir / name, "--method", "fobi")
                models[name] = self.alone(*whole)
                read = []
                for n_ranks in (1, 3):
                    result = ranks(n_ranks, "fit", *whole, "--verbose", "-o", self.dir / "mpi.json")
                    self.assertEqual((self.dir / "mpi.json").read_bytes(), models[name])
                    read.append(int(re.search(r"read (\d+) MB", result.stderr)[1]))
                size = len(data) / 1e6
                faces = 0 if name.endswith(".wav") else 1.15 * size  # rank 0 looks at components of an EEG
                self.assertGreater(read[0], 2.9 * size)  # three passes
                self.assertLess(read[1] - faces, 0.4 * (read[0] - faces) + 5)
                os.remove(self.dir / name)
        self.same(*parts, "--join", "frames", "--method", "fobi", jobs=((3, 1),))
        self.assertEqual((self.dir / "mpi.json").read_bytes(), models["x.edf"])
        X.tofile(self.dir / "x.s16")
        raw = self.alone(self.dir / "x.s16", "--channels", n, "--rate", rate, "--method", "fobi")
        self.assertEqual(raw, models["x.wav"])
        self.assertEqual(raw, models["y.wav"])

    def test_separate_and_apply_and_info(self):
        self.files(4, 30000)
        inputs = (self.dir / "x.f64", "--channels", 4)
        self.assertEqual(run(DEMIX, "separate", *inputs, "-o", self.dir / "a").returncode, 0)
        result = ranks(3, "separate", *inputs, "-o", self.dir / "b")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("sources.f64", "model.json"):
            self.assertEqual((self.dir / "a" / name).read_bytes(), (self.dir / "b" / name).read_bytes())
        result = ranks(2, "apply", self.dir / "b/model.json", *inputs, "-o", self.dir / "y.f64")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.dir / "y.f64").read_bytes(), (self.dir / "a/sources.f64").read_bytes())
        self.assertEqual(ranks(2, "info", *inputs).stdout, run(DEMIX, "info", *inputs).stdout)

    def test_outputs_are_written_side_by_side(self):
        """Byte for byte as demix writes them: raw numbers and .npy, from files that are kept and such that are not."""
        self.files(8, 2300000)
        X = np.fromfile(self.dir / "x.f32", "<f4").reshape(-1, 8)
        small = X[:20000].copy()
        small[7, 2] = small[19999, 0] = np.nan
        small.tofile(self.dir / "small.f32")
        large = (self.dir / "x.f32", "--channels", 8)
        self.assertEqual(run(DEMIX, "separate", *large, "-m", "fobi", "-o", self.dir / "a").returncode, 0)
        for n in (2, 3):
            result = ranks(n, "separate", *large, "-m", "fobi", "--threads", 2, "-o", self.dir / "b")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual({p.name for p in (self.dir / "a").iterdir()}, {p.name for p in (self.dir / "b").iterdir()})
            for name in ("sources.f32", "model.json"):
                self.assertEqual((self.dir / "a" / name).read_bytes(), (self.dir / "b" / name).read_bytes())
        model = self.dir / "a/model.json"
        for inputs, names in ((large, ("y.npy",)), ((self.dir / "small.f32", "--channels", 8), ("y.f32", "y.csv"))):
            for name in names:
                for more in ((), ("--remove", "1")):
                    one = run(DEMIX, "apply", model, *inputs, *more, "-o", self.dir / f"one-{name}")
                    all_ranks = ranks(3, "apply", model, *inputs, *more, "-o", self.dir / f"all-{name}")
                    self.assertEqual(all_ranks.returncode, 0, all_ranks.stderr)
                    self.assertEqual(all_ranks.stderr, one.stderr)
                    self.assertEqual((self.dir / f"all-{name}").read_bytes(), (self.dir / f"one-{name}").read_bytes())
        for rows in (X[:20000], X):  # small ones have every frame damaged, large ones those of the last rank
            damaged = rows.copy()
            damaged[(0 if len(rows) < len(X) else 2000000):] = np.nan
            damaged.tofile(self.dir / "damaged.f32")
            command = ("apply", model, self.dir / "damaged.f32", "--channels", 8, "-o", self.dir / "m.f32")
            one, all_ranks = run(DEMIX, *command), ranks(3, *command)
            self.assertEqual(all_ranks.stderr.splitlines()[0], one.stderr.splitlines()[0])
            self.assertEqual(all_ranks.returncode, one.returncode)
            self.assertEqual((self.dir / "m.f32").exists(), len(rows) == len(X))
        self.assertEqual([p.name for p in self.dir.iterdir() if p.name.endswith(".part")], [])

    def test_a_full_disk_leaves_no_file(self):
        self.files(8, 2300000)
        out = self.dir / "out"
        limited = ("bash", "-c", 'trap "" XFSZ; ulimit -f 60000; exec "$@"', "-", DEMIX_MPI)  # files of 61 MB at most
        result = run(*MPIRUN, "-n", 2, *limited, "separate", self.dir / "x.f64", "--channels", 8, "-m", "fobi",
                     "-o", out)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("cannot write: File too large", result.stderr)
        self.assertFalse(out.exists())

    def test_says_that_it_is_alone(self):
        self.files(3, 5000)
        env = {k: v for k, v in ENV.items() if not k.startswith(("OMPI_COMM", "PMI"))}
        result = subprocess.run([DEMIX_MPI, "fit", self.dir / "x.f64", "--channels", "3", "-o", self.dir / "m.json"],
                                capture_output=True, text=True, timeout=60, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("not started by mpirun: one rank", result.stderr)

    def test_traffic(self):
        self.files(5, 60000)
        result = ranks(2, "fit", self.dir / "x.f64", "--channels", 5, "--verbose", "-o", self.dir / "m.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"ranks: 2; threads of a rank: \d+; rank 0 sent [1-9]\d* messages, [1-9]\d* ")

    def test_threads_fill_the_cores_of_a_rank(self):
        """By what mpirun binds each rank to, beside the other ranks of the host."""
        self.files(3, 5000)
        fit = [DEMIX_MPI, "fit", self.dir / "x.f64", "--channels", "3", "--verbose", "-o", self.dir / "m.json"]
        def threads(*command):
            result = run("mpirun", "--oversubscribe", *command)
            self.assertEqual(result.returncode, 0, result.stderr)
            return re.search(r"threads of a rank: ([^;]*);", result.stderr)[1]
        cores = len(os.sched_getaffinity(0))
        free = ("--bind-to", "none", "-n")
        self.assertEqual(threads(*free, 1, *fit), str(cores))
        self.assertEqual(threads(*free, cores, *fit), "1")
        self.assertEqual(threads(*free, 2 * cores, *fit), "1")
        self.assertEqual(threads(*free, 2, *fit, "--threads", 3), "3")
        self.assertIn(threads("--bind-to", "core", "-n", 1, *fit), ("1", "2"))  # a core may run two
        core = min(os.sched_getaffinity(0))
        self.assertEqual(threads(*free, 2, "taskset", "-c", core, *fit), "1")
        if cores > 1:  # one core is shared, the others are not
            part = str(max(1, cores - 1))
            expected = part if part == "1" else "1 to " + part
            self.assertEqual(threads(*free, 1, "taskset", "-c", core, *fit, ":", "-n", 1, *fit), expected)

    def failed(self, result, text):
        self.assertNotEqual(result.returncode, 0)
        lines = [line for line in result.stderr.splitlines() if line.startswith(("demix:", "demix-mpi:"))]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(text, lines[0])
        self.assertFalse((self.dir / "m.json").exists())

    def test_one_line_for_what_all_ranks_see(self):
        out = self.dir / "m.json"
        self.failed(ranks(3, "fit", self.dir / "none.f64", "--channels", 4, "-o", out), "none.f64")
        result = ranks(3, "fit", "--no-such-option", "-o", out)
        self.failed(result, "--no-such-option")
        self.assertEqual(result.returncode, 2)

    def test_a_value_that_one_rank_sees_ends_the_job(self):
        X = mixtures(2300000, 8)
        X[-10, 3] = np.nan
        X.astype("<f4").tofile(self.dir / "x.f32")
        begin = time.monotonic()
        result = ranks(3, "fit", self.dir / "x.f32", "--channels", 8, "-o", self.dir / "m.json")
        self.failed(result, "rank 2: " + str(self.dir / "x.f32") + ": value NaN in channel 4, frame 2299991")
        self.assertLess(time.monotonic() - begin, 60)

    def test_ranks_must_agree(self):
        self.files(3, 5000)
        (self.dir / "y.f64").write_bytes((self.dir / "x.f64").read_bytes()[:-24])
        def job(*of_the_other):
            first = ["fit", self.dir / "x.f64", "--channels", "3", "-o", self.dir / "m.json"]
            return run(*MPIRUN, "-n", 1, DEMIX_MPI, *first, ":", "-n", 1, DEMIX_MPI, *(of_the_other or first))
        self.assertEqual(job().returncode, 0)
        (self.dir / "m.json").unlink()
        self.failed(job("fit", self.dir / "x.f64", "--channels", "3", "--seed", "2", "-o", self.dir / "m.json"),
                    "rank 1")
        self.failed(job("fit", self.dir / "x.f64", "--channels", "3", "-o", self.dir / "m.json", "--verbose"), "rank 1")
        # The same program, but for its version.
        version = run(DEMIX_MPI, "--version").stdout.split()[-1].encode()
        other = self.dir / "other"
        other.write_bytes(pathlib.Path(DEMIX_MPI).read_bytes().replace(version + b"\0", b"9" * len(version) + b"\0"))
        other.chmod(0o755)
        fit = ["fit", self.dir / "x.f64", "--channels", "3", "-o", self.dir / "m.json"]
        self.failed(run(*MPIRUN, "-n", 1, DEMIX_MPI, *fit, ":", "-n", 1, other, *fit),
                    f"'version {'9' * len(version)}' where rank 0 has 'version {version.decode()}'")
        # The same name, another file: each rank in a folder of its own.
        for name, file in (("a", "x.f64"), ("b", "y.f64")):
            (self.dir / name).mkdir()
            (self.dir / name / "f.f64").write_bytes((self.dir / file).read_bytes())
        same = [DEMIX_MPI, "fit", "f.f64", "--channels", "3", "-o", self.dir / "m.json"]
        self.failed(run(*MPIRUN, "-n", 1, "-wdir", self.dir / "a", *same, ":", "-n", 1, "-wdir", self.dir / "b", *same),
                    "size of f.f64")

    def test_killed_at_any_moment(self):
        """While it learns, then while it writes."""
        self.files(8, 2300000)
        before = sorted(p.name for p in self.dir.iterdir())
        rng = random.Random(3)
        slowest = 0
        finished = 0
        for k in range(KILLS):
            learns = k < KILLS // 2
            options = ["--method", "picard", "--stability", "100"] if learns else ["--method", "fobi"]
            job = subprocess.Popen([*MPIRUN, "-n", "2", DEMIX_MPI, "separate", str(self.dir / "x.f64"), *options,
                                    "--threads", "1", "--channels", "8", "-o", str(self.dir / "out")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
            try:
                while len(processes_of(self.dir)) < 2 and job.poll() is None:
                    time.sleep(0.01)
                while not learns and not list(self.dir.glob("out/*.part")) and job.poll() is None:
                    time.sleep(0.002)
                time.sleep(rng.uniform(0, 2 if learns else 0.3))
                victims = processes_of(self.dir)
                if victims and job.poll() is None:
                    os.kill(rng.choice(victims), signal.SIGKILL)
                begin = time.monotonic()
                code = job.wait(timeout=10)
                while processes_of(self.dir) and time.monotonic() < begin + 10:
                    time.sleep(0.01)
                slowest = max(slowest, time.monotonic() - begin)
            finally:
                if job.poll() is None:
                    job.terminate()
                    job.wait(timeout=30)
            self.assertEqual(processes_of(self.dir), [])
            names = {p.name for p in self.dir.glob("out/*")}
            if names:  # it was done before
                self.assertEqual(names, {"sources.f64", "model.json", "report.html", "summary.json"})
                finished += 1
                shutil.rmtree(self.dir / "out")
            else:
                self.assertNotEqual(code, 0)
            self.assertEqual(sorted(p.name for p in self.dir.iterdir()), before)
        self.assertLess(finished, KILLS / 2 + 1)
        print(f"FIGURE a rank killed, {KILLS} times, {finished} of them too late: the last process was gone after "
              f"{slowest:.2f} s at most")


if __name__ == "__main__":
    unittest.main()
