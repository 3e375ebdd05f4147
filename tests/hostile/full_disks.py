"""Disks that are full: a device that always is, a small one, a limit on the size of files."""
import os
import pathlib
import subprocess

import numpy as np

import recordings
from bad_files import attempt_quietly
from trial import Folder, attempt, contents, device, flaw, run

COMMANDS = [["fit", "i.csv", "-o", "OUT/m.json"], ["separate", "i.csv", "-o", "OUT/sep"],
            ["apply", "m.json", "i.csv", "-o", "OUT/y.csv"], ["stream", "i.csv", "-o", "OUT/y.csv"],
            ["generate", "--frames", "20000", "-o", "OUT/gen"],
            ["stream", "i.csv", "-o", "y.csv", "--state", "OUT/s", "--model", "OUT/m2.json", "--save-every", "500"]]


def prepare(folder, frames=20000):
    recordings.csv(folder / "i.csv", recordings.mixtures(frames))
    attempt_quietly(folder, "fit", "i.csv", "-o", "m.json")


def always_full(trial):
    with Folder() as folder:
        prepare(folder, 2000)
        for words in [["fit", "i.csv", "-o", "full.csv"], ["apply", "m.json", "i.csv", "-o", "full.csv"],
                      ["stream", "i.csv", "-o", "full.csv"]]:  # nor is the device replaced by a file
            (folder / "full.csv").unlink(missing_ok=True)
            device(folder, "full", "full.csv")
            attempt(trial, "full disk", words, folder, codes=(1, 2))
        for words in [["info", "i.csv"], ["methods"], ["--help"], ["fit", "--help"], ["info", "i.csv", "--json"],
                      ["score", "i.csv", "--truth", "i.csv"], ["completion", "bash"], ["stream", "i.csv"]]:
            attempt(trial, "full disk", words, folder, codes=(1,), shell=">/dev/full")


def try_in(trial, folder, out, **options):
    for words in COMMANDS:
        words = [w.replace("OUT", str(out)) for w in words]
        result = run(*words, cwd=folder, **options)
        wrong = flaw(result)
        if wrong is None and result.code != 1:
            wrong = f"exit {result.code}, expected 1"
        # Only what `stream` puts out frame by frame stays (and an empty folder may).
        stays = {"filler", "y.csv"} if words[0] == "stream" else {"filler"}
        left = {name for name in contents(out) if pathlib.Path(name).name not in stays and (out / name).is_file()}
        if wrong is None and left:
            wrong = f"left behind: {sorted(left)}"
        trial.check("full disk", wrong is None, f"{' '.join(words)} {options}: {wrong}")
        subprocess.run(["find", str(out), "-mindepth", "1", "-not", "-name", "filler", "-delete"], check=True)
        pathlib.Path(folder, "y.csv").unlink(missing_ok=True)


def fill(disk):
    """Until nothing fits."""
    with open(disk / "filler", "wb", buffering=0) as file:
        try:
            while file.write(bytes(1024)):
                pass
        except OSError:
            pass


def run_all(trial):
    always_full(trial)
    with Folder() as folder:
        prepare(folder)
        out = folder / "small"
        out.mkdir()
        mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(out)],
                                                       capture_output=True).returncode == 0
        if mounted:
            try:
                fill(out)
                try_in(trial, folder, out)
            finally:
                subprocess.run(["umount", str(out)], check=True)
        else:
            print("  no small disk could be mounted: only limits on the size of files")
        # What a limit would let through is no test: the smallest file of COMMANDS is larger.
        try_in(trial, folder, out, file_size=512)
