"""The corpus of the fuzzers, damaged, through the program: with sanitizers, where build-asan has one."""
import pathlib
import random

from bad_files import prepare
from trial import DEMIX, Folder, attempt, in_parallel

CORPUS = pathlib.Path(__file__).parents[2] / "fuzz" / "corpus"
OTHERS = {"model", "state", "cells", "expect", "arguments", "info", "fit"}  # not files of signals


def damaged(data, chance):
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(max(1, len(data)))
        how = chance.randrange(5)
        if how == 0:
            del data[at:]
        elif how == 1:
            del data[at:at + chance.randint(1, 16)]
        elif how == 2:
            data[at:at] = data[at:at + chance.randint(1, 16)]
        elif how == 3:
            data[at:at + chance.choice([1, 2, 4, 8])] = chance.choice([b"\0", b"\xff",
                                                                       b"\x7f"]) * chance.choice([1, 2, 4, 8])
        elif data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
    return bytes(data)


def run_all(trial, damages=3):
    sanitized = pathlib.Path(DEMIX).resolve().parents[1] / "build-asan" / "demix"
    program = str(sanitized) if sanitized.exists() else None
    print(f"  the program: {program or DEMIX}")
    files = [p for p in sorted(CORPUS.glob("*/*")) if p.parent.name not in OTHERS]

    def one(path):
        chance = random.Random(str(path.relative_to(CORPUS)))
        with Folder() as folder:
            prepare(folder)
            for _ in range(damages):
                bad = f"x.{path.parent.name}"
                (folder / bad).write_bytes(damaged(path.read_bytes(), chance))
                words = chance.choice([["info", bad], ["fit", bad, "-o", "m.json"], ["stream", bad, "-o", "y.f64"],
                                       ["separate", bad, "-o", "sep", "--no-report"]])
                kept = ["y.f64"] if words[0] == "stream" else []
                attempt(trial, "mutated corpus", words, folder, words[3:4], kept=kept, program=program, seconds=60)
                for name in [bad, "y.f64"]:
                    (folder / name).unlink(missing_ok=True)

    in_parallel(one, files)
    for path in sorted((CORPUS / "model").iterdir()):
        chance = random.Random(path.name)
        with Folder() as folder:
            prepare(folder)
            for _ in range(damages):
                (folder / "bad.json").write_bytes(damaged(path.read_bytes(), chance))
                attempt(trial, "mutated corpus", ["apply", "bad.json", "good.csv", "-o", "y.csv"], folder, ["y.csv"],
                        program=program, seconds=60)
