"""Single promises: two streams on one state, arrays on their side, absurd sizes, frames that are no numbers."""
import json
import subprocess
import time

import numpy as np

import recordings
from kills import start
from trial import Folder, attempt, flaw, run


def two_streams(trial):
    with Folder() as folder:
        words = ["stream", "-", "--format", "f64", "--channels", 2, "-o", "y.f64", "--state", "s", "--save-every", 100]
        first = start(words, folder, stdin=subprocess.PIPE)
        first.stdin.write(recordings.mixtures(1000, 2).astype("<f8").tobytes())
        first.stdin.flush()
        time.sleep(1)
        recordings.mixtures(1000, 2).astype("<f8").tofile(folder / "x.f64")
        second = run("stream", "x.f64", "--channels", 2, "-o", "y.f64", "--state", "s", cwd=folder)
        trial.check("two streams", second.code == 1 and flaw(second) is None and str(first.pid) in second.err,
                    f"the second: exit {second.code}, {second.err!r}; the first is {first.pid}")
        first.communicate(timeout=20)
        trial.check("two streams", first.returncode == 0, f"the first: exit {first.returncode}")
        size = (folder / "y.f64").stat().st_size
        trial.check("two streams", size == 1000 * 2 * 8, f"the first has written {size} bytes")
        third = run("stream", "x.f64", "--channels", 2, "-o", "y.f64", "--state", "s", cwd=folder)
        trial.check("two streams", third.code == 0 and flaw(third) is None, f"after both: {third.code}, {third.err!r}")


def on_their_side(trial):
    with Folder() as folder:
        np.save(folder / "side.npy", recordings.mixtures(30504, 32).T.copy())
        seen = attempt(trial, "orientation", ["info", "side.npy", "--json"], folder, codes=(0,))
        notes = seen.err.count("note: ")
        right = seen.code == 0 and json.loads(seen.out)["channels"] == 32 and notes == 1
        trial.check("orientation", right, f"32 x 30504: {seen.out[:80]!r}, {seen.err!r}")
        attempt(trial, "orientation", ["fit", "side.npy", "-o", "m.json", "-m", "fobi"], folder, ["m.json"], codes=(0,))
        forced = attempt(trial, "orientation", ["info", "side.npy", "--orientation", "channels", "--json"], folder,
                         codes=(0,))
        right = forced.code == 0 and json.loads(forced.out)["channels"] == 32 and "note: " not in forced.err
        trial.check("orientation", right, f"--orientation channels: {forced.err!r}")
        refused = attempt(trial, "orientation", ["info", "side.npy", "--orientation", "frames"], folder, codes=(1,))
        trial.check("orientation", refused.seconds < 3 and "side.npy" in refused.err,
                    f"30504 channels: {refused.err!r}")
        with open(folder / "wide.npy", "wb") as file:
            head = recordings.npy_header((40000, 30000), "|i1")
            file.write(head)
            file.truncate(len(head) + 40000 * 30000)
        for words in [["info", "wide.npy"], ["fit", "wide.npy", "-o", "m.json"], ["separate", "wide.npy", "-o", "sep"]]:
            refused = attempt(trial, "orientation", words, folder, codes=(1,))
            trial.check("orientation", refused.seconds < 3 and "wide.npy" in refused.err,
                        f"{words}: 30,000 channels after {refused.seconds:.1f} s: {refused.err!r}")


def no_numbers(trial):
    with Folder() as folder:
        X = recordings.mixtures(5000, 3)
        X[::5, 0] = np.nan
        X.astype("<f8").tofile(folder / "x.f64")
        (folder / "nan.wav").write_bytes(recordings.wav(np.full((2000, 2), np.nan)))
        done = run("stream", "x.f64", "--channels", 3, "-o", "y.f64", "--model", "m.json", cwd=folder)
        trial.check("refused frames", done.code == 0 and "1000" in done.err,
                    f"1000 NaN frames: {done.code}, {done.err!r}")
        warned = done.code == 0 and json.loads((folder / "m.json").read_text())["warnings"]
        trial.check("refused frames", bool(warned) and "1000" in json.dumps(warned), f"in the model: {warned}")
        trial.check("refused frames", recordings.is_finite(folder / "y.f64"), "NaN is put out")
        done = run("stream", "nan.wav", "-o", "y.wav", cwd=folder)
        trial.check("refused frames", "2000" in done.err, f"nothing but NaN: {done.code}, {done.err!r}")


def misuse(trial):
    with Folder() as folder:
        X = recordings.mixtures(500)
        recordings.csv(folder / "x.csv", X)
        (folder / "cut.wav").write_bytes(recordings.wav(X)[:3001])
        attempt(trial, "misuse", ["fit", "x.csv", "-o", "m.json", "--seed", "18446744073709551616"], folder, codes=(2,))
        attempt(trial, "misuse", ["stream", "x.csv", "-o", "y.npy"], folder, codes=(1, 2))
        info = run("info", "cut.wav", cwd=folder)
        trial.check("misuse", info.code == 1, f"info of a cut WAV: exit {info.code}")
        stream = run("stream", "cut.wav", "-o", "y.wav", cwd=folder)
        trial.check("misuse", stream.code == 1, f"stream of a cut WAV: exit {stream.code}")
        (folder / "bad.json").write_text('{"quick": {"objective.')
        (folder / "list.json").write_text("[1]")
        for name in ["bad.json", "list.json", "x.csv"]:
            attempt(trial, "misuse", ["reproduce", "objective", "--quick", "--expect", name, "-o", "p"], folder,
                    codes=(1, 2), seconds=100)
        long = "x" * 5000
        for words in [[], [""], ["-"], ["--"], ["\x1b[31m"], ["info"], ["info", long], ["fit", "x.csv"],
                      ["fit", "x.csv", "-o", "m.json", "-m", "\x1b[2J"],
                      ["fit", "x.csv", "-o", "m.json", "--components", "nan"],
                      ["fit", "x.csv", "-o", "m.json", "--components", "-1"],
                      ["fit", "x.csv", "-o", "m.json", "--bad", "9-1"],
                      ["separate", "x.csv", "-o", ""], ["separate", "x.csv", "-o", "x.csv/below"],
                      ["fit", "x.csv", "-o", "."],
                      ["fit", "x.csv", "-o", "no/such/folder/m.json"], ["generate", "-o", "g", "--frames", "1e30"],
                      ["generate", "-o", "g", "--condition", "inf"],
                      ["stream", "x.csv", "--track", "1e300", "--rate", "1"],
                      ["stream", "x.csv", "--saturation", "inf"], ["tune", "--eta", "nan"],
                      ["tune", "--eta", "1e-3,,2", "--tau", "1", "--frames", "100", "--draws", "1"],
                      ["compare", "--method", "nosuch"], ["completion", "fish"], ["reproduce", "nosuch"],
                      ["fit", "x.csv", "-o", "m.json", "--threads", "0"],
                      ["fit", *["x.csv"] * 300, "-o", "m.json", "-m", "fobi"]]:
            attempt(trial, "misuse", words, folder, ["m.json"], codes=(0, 1, 2))


def run_all(trial):
    two_streams(trial)
    on_their_side(trial)
    no_numbers(trial)
    misuse(trial)
