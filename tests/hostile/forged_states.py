"""States of `demix stream` that it has not saved: edited, cut, flipped, forged with checksums that fit."""
import os
import pathlib
import random
import re
import subprocess

import recordings
from trial import DEMIX, Folder, attempt, flaw, run

FORGE = os.environ.get("FORGE_STATES", str(pathlib.Path(DEMIX).resolve().parent / "fuzz" / "forge_states"))


def checksum(data):
    """FNV-1a, as the program has it."""
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


INNER = b"demix stream state 4\n"


def refitted(data):
    """With checksums that fit: of the separator, and of the file around it."""
    at = data.find(INNER)
    if at >= 0 and len(data) >= at + len(INNER) + 8:
        body = at + len(INNER) + 8
        data = data[:body - 8] + checksum(data[body:]).to_bytes(8, "little") + data[body:]
    head = re.match(rb"demix stream file \d+\n[0-9a-f]{16}\n", data)
    if head:
        data = data[:head.end() - 17] + b"%016x\n" % checksum(data[head.end():]) + data[head.end():]
    return data


def in_process(trial, count):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    parts = [subprocess.Popen([FORGE, str(count // 2), str(seed)], text=True, **pipes) for seed in (1, 2)]
    for part in parts:
        out, err = part.communicate()
        print("  " + (out.strip().splitlines() or ["nothing"])[-1])
        harmful = [line for line in out.splitlines() if line.startswith("state ")]
        for line in harmful:
            trial.check("forged states", False, line[:300])
        summary = re.search(r"(\d+) refused, (\d+) taken, (\d+) harmful", out)
        if trial.check("forged states", summary is not None, f"{FORGE}: {out[-300:]}{err[-300:]}"):
            trial.passed["forged states"] += int(summary[1]) + int(summary[2]) - 1


def saved_state(folder, *options):
    """A stream that was stopped half way, and its files."""
    recordings.csv(folder / "all.csv", recordings.mixtures(2000))
    lines = (folder / "all.csv").read_text().splitlines(True)
    (folder / "half.csv").write_text("".join(lines[:1000]))
    done = run("stream", "half.csv", "-o", "y.csv", "--state", "s", *options, cwd=folder)
    assert done.code == 0, done.err
    return (folder / "s").read_bytes(), (folder / "y.csv").read_bytes()


def through_the_program(trial, count):
    chance = random.Random(2)
    with Folder() as folder:
        state, output = saved_state(folder)

        def goes_on(data, what):
            (folder / "s").write_bytes(data)
            (folder / "y.csv").write_bytes(output)
            result = run("stream", "all.csv", "-o", "y.csv", "--state", "s", cwd=folder)
            wrong = flaw(result)
            if wrong is None and result.code != 1:
                wrong = f"exit {result.code}: the state is taken"
            if wrong is None and (folder / "y.csv").read_bytes() != output:
                wrong = "the output was changed"
            if wrong is None and (folder / "s").read_bytes() != data:
                wrong = "the state was changed"
            trial.check("edited states", wrong is None, f"{what}: {wrong}")

        for old, new in [(rb'"read":1000', b'"read":1500'), (rb'"read":1000', b'"read":0   '),
                         (rb'"written":\d+', b'"written":0'), (rb'"format":"csv"', b'"format":"f64"'),
                         (rb'"read":1000', b'"read":-1')]:
            edited = re.sub(old, new, state, count=1)
            if edited != state:
                goes_on(edited, f"{old.decode()} -> {new.decode()}")
                goes_on(refitted(edited), f"{old.decode()} -> {new.decode()}, checksum refitted")
        for size in [0, 1, 10, 30, len(state) // 2, len(state) - 1]:
            goes_on(state[:size], f"cut to {size} bytes")
        goes_on(state + b"x", "a byte too many")
        goes_on(bytes(len(state)), "zeros")
        for k in range(count):
            at = chance.randrange(200) if k % 2 else chance.randrange(len(state))
            flipped = bytearray(state)
            flipped[at] ^= 1 << chance.randrange(8)
            goes_on(bytes(flipped), f"byte {at} flipped")
        start = state.find(INNER) + len(INNER) + 8
        for k in range(count // 5):  # taken or refused: no harm is done
            forged = bytearray(state)
            at = start + chance.randrange(400)
            forged[at:at + 8] = chance.choice([b"\xff" * 8, bytes(8), b"\0\0\0\0\0\1\0\0", chance.randbytes(8)])
            (folder / "s").write_bytes(refitted(bytes(forged)))
            (folder / "y.csv").write_bytes(output)
            attempt(trial, "forged states", ["stream", "all.csv", "-o", "y.csv", "--state", "s"], folder,
                    ["y.csv", "s"])
            trial.check("finite outputs", recordings.is_finite(folder / "y.csv"), f"forged at {at}: NaN is put out")
        # Finished output that is no longer there cannot be gone on with.
        (folder / "s").write_bytes(state)
        (folder / "y.csv").write_bytes(output[:-100])
        attempt(trial, "edited states", ["stream", "all.csv", "-o", "y.csv", "--state", "s"], folder, codes=(1,))


def run_all(trial, forged=5000, flips=150):
    in_process(trial, forged)
    through_the_program(trial, flips)
