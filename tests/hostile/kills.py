"""Killed at any moment: a stream goes on byte for byte, nothing is left behind."""
import collections
import os
import random
import signal
import subprocess
import time

import numpy as np

import recordings
from trial import DEMIX, Folder, contents, environment, in_parallel, run


def start(words, folder, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.DEVNULL)
    return subprocess.Popen([DEMIX, *map(str, words)], cwd=folder, env=environment(), **options)


def leftovers(folder, expected):
    return sorted(set(contents(folder)) - set(expected))


def kill_while_saving(process, state, delay):
    """SIGKILL so long after a state was saved, when the next is being written. False: it ended before."""
    def saved():
        try:
            return os.stat(state).st_mtime_ns
        except FileNotFoundError:
            return 0

    before = saved()
    end = time.monotonic() + 20
    while process.poll() is None and saved() == before and time.monotonic() < end:
        time.sleep(0.0005)
    time.sleep(delay)
    if process.poll() is not None:
        return False
    process.kill()
    process.wait()
    return True


FORMATS = ["f32", "f64", "wav", "csv"]
OPTIONS = [[], ["--track", 2], ["--robust"], ["--track", 2, "--robust"], ["--learn", "replay"]]


def killed_streams(trial, kills):
    """SIGKILL now and then until the end is reached: the joined output is that of a run in peace. Every format, with
    every set of options, until there were enough kills of each format."""
    frames, rate, stride = 60000, 8000, 500
    share = kills // len(FORMATS)
    counts = collections.Counter()

    def one(form):
        for seed in range(100):
            if counts[form] >= share and seed >= len(OPTIONS):
                return
            one_stream(form, seed)

    def one_stream(form, seed):
        chance = random.Random(f"{form} {seed}")
        with Folder() as folder:
            recordings.stream_input(folder / f"x.{form}", recordings.mixtures(frames, 4, seed), rate)
            words = ["stream", f"x.{form}", "--save-every", stride, *OPTIONS[seed % len(OPTIONS)]]
            words += ["--channels", 4] if form in ("f32", "f64") else []
            words += ["--rate", rate] if form != "wav" else []
            peace = run(*words, "-o", f"peace.{form}", cwd=folder, seconds=120)
            if not trial.check("kills", peace.code == 0, f"{words}, in peace: {peace.err}"):
                return
            words += ["-o", f"y.{form}", "--state", "s"]
            killed = 0
            while True:
                process = start(words, folder)
                if killed < 15 and kill_while_saving(process, folder / "s", chance.uniform(0, 0.03)):
                    killed += 1
                    continue
                if process.wait(timeout=120) == 0:
                    break
                trial.check("kills", False, f"{words}: exit {process.returncode} when going on")
                return
            counts[form] += killed
            same = (folder / f"y.{form}").read_bytes() == (folder / f"peace.{form}").read_bytes()
            trial.check("kills", same, f"{words}, seed {seed}: the joined output differs")
            left_over = leftovers(folder, [f"x.{form}", f"peace.{form}", f"y.{form}", "s"])
            trial.check("kills", not left_over, f"{words}: left behind {left_over}")

    in_parallel(one, FORMATS)
    print(f"  SIGKILL {counts.total()} times: " + ", ".join(f"{form} {counts[form]}" for form in FORMATS))
    for form in FORMATS:
        trial.check("kills", counts[form] >= share,
                    f"{form}: only {counts[form]} of {share} kills hit a running stream")


def repeated_pids(trial):
    """In a container every run has the same PID: what a dead one has left must not block the next."""
    container = ["unshare", "-pf", "--kill-child"]
    if subprocess.run([*container, "true"], capture_output=True).returncode != 0:
        return print("  no PID namespaces here: left out")
    with Folder() as folder:
        recordings.mixtures(60000, 4).astype("<f8").tofile(folder / "x.f64")
        words = [DEMIX, "stream", "x.f64", "--channels", "4", "-o", "y.f64", "--state", "s", "--save-every", "1"]
        for _ in range(8):
            process = subprocess.Popen([*container, *words], cwd=folder, stderr=subprocess.DEVNULL)
            kill_while_saving(process, folder / "s", 0.01)
        done = subprocess.run([*container, *words[:-1], "10000"], cwd=folder, capture_output=True, timeout=120)
        trial.check("kills", done.returncode == 0, f"as PID 1 after SIGKILL as PID 1: {done.stderr!r}")
        left_over = leftovers(folder, ["x.f64", "y.f64", "s"])
        trial.check("kills", not left_over, f"as PID 1: left behind {left_over}")


def interrupted(trial, signals_sent):
    """SIGINT and SIGTERM: the command ends soon, and what it had begun to write is gone."""
    with Folder() as folder:
        X = recordings.mixtures(200000, 8)
        np.save(folder / "x.npy", X)
        run("fit", "x.npy", "-o", "m.json", cwd=folder)
        commands = [["separate", "x.npy", "-o", "out"], ["fit", "x.npy", "-o", "out", "-m", "picard"],
                    ["apply", "m.json", "x.npy", "-o", "out.csv"], ["generate", "--from", "x.npy", "-o", "out"],
                    ["separate", "x.npy", "-o", "out", "-m", "fobi"]]
        complete = {"fit": {"out"}, "apply": {"out.csv"},
                    "generate": {"out", "out/mixing.npy", "out/mixtures.npy", "out/sources.npy"},
                    "separate": {"out", "out/model.json", "out/sources.npy", "out/summary.json"}}
        before = set(contents(folder))
        chance = random.Random(3)
        for k in range(signals_sent):
            words = commands[k % len(commands)]
            sent = [signal.SIGINT, signal.SIGTERM][k // len(commands) % 2]
            process = start(words + (["--no-report"] if words[0] == "separate" else []), folder)
            time.sleep(chance.uniform(0.02, 1.0))
            process.send_signal(sent)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                trial.check("interrupts", False, f"{words}: does not end within 20 s of {sent.name}")
                continue
            code = process.returncode
            trial.check("interrupts", code in (0, 1, 130, 143, -sent), f"{words}: {sent.name}, exit {code}")
            new = set(contents(folder)) - before
            done = code == 0 or new == complete[words[0]]  # a signal that came at the end changes nothing
            left_over = [name for name in sorted(new) if not done or ".part" in name]
            trial.check("interrupts", not left_over, f"{words}: {sent.name} leaves {left_over[:5]}")
            subprocess.run(["rm", "-rf", *[str(folder / name) for name in set(contents(folder)) - before]], check=True)


def stalled_reader(trial):
    """One SIGTERM ends a stream whose output nobody reads, and its state is saved."""
    with Folder() as folder:
        X = recordings.mixtures(100000, 4).astype("<f8")
        X.tofile(folder / "x.f64")
        reader, writer = os.pipe()
        process = start(["stream", "x.f64", "--channels", 4, "--state", "s"], folder, stdout=writer)
        os.close(writer)
        time.sleep(0.5)
        process.terminate()
        try:
            process.communicate(timeout=10)
            ended = process.returncode in (0, 1, 143, -signal.SIGTERM)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            ended = False
        trial.check("interrupts", ended, "a stream whose reader stalls does not end by one SIGTERM")
        trial.check("interrupts", (folder / "s").exists(), "a stream whose reader stalls loses its state on SIGTERM")
        os.close(reader)


def run_all(trial, kills=200, interrupts=20):
    killed_streams(trial, kills)
    repeated_pids(trial)
    interrupted(trial, interrupts)
    stalled_reader(trial)
