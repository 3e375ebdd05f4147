"""No command may replace a file it reads, whatever the name it is given: exit 2, one line, nothing changed."""
import os

import recordings
from bad_files import attempt_quietly
from trial import Folder, attempt, in_parallel

# What is read, what is asked, where "IN" is the input and "OUT" a name for the same file.
DIRECT = [
    ("i.csv", ["fit", "IN", "-o", "OUT"]), ("i.csv", ["apply", "m.json", "IN", "-o", "OUT"]),
    ("m.json", ["apply", "IN", "i.csv", "-o", "OUT"]), ("w.csv",
                                                        ["fit", "i.csv", "--frame-weights", "IN", "-o", "OUT"]),
    ("i.csv", ["stream", "IN", "-o", "OUT"]), ("i.csv", ["stream", "IN", "-o", "y.csv", "--model", "OUT"]),
    ("i.csv", ["stream", "IN", "-o", "y.csv", "--state", "OUT"]),
]
# The output is a folder; what is read is a file in it, under a name the command would write.
INSIDE = [
    ("sources.csv", ["separate", "IN", "-o", "d"]), ("sources.npy", ["separate", "IN", "-o", "d"]),
    ("sources.csv", ["separate", "i.csv", "--truth", "IN", "-o", "d"]),
    ("sources.npy", ["generate", "--from", "IN", "-o", "d"]), ("mixtures.npy", ["generate", "--from", "IN", "-o", "d"]),
    ("mixing.npy", ["generate", "--from", "IN", "-o", "d"]),
    ("runs.csv", ["compare", "--data", "IN", "--frames", "100", "--draws", "1", "--method", "easi", "-o", "d"]),
    ("cells.csv", ["tune", "--data", "IN", "--frames", "100", "--draws", "1", "--eta", "1e-3", "--tau", "1",
                   "-o", "d"]),
    ("numbers.json", ["reproduce", "objective", "--quick", "--expect", "IN", "-o", "d"]),
]


def named(folder, name, how):
    """Another name for the same file."""
    if how == "dotted":
        return "./" + name
    if how == "symbolic link":
        os.symlink(name, folder / ("soft_" + name))
        return "soft_" + name
    if how == "hard link":
        os.link(folder / name, folder / ("hard_" + name))
        return "hard_" + name
    return name


def prepare(folder):
    import numpy as np
    X = recordings.mixtures(300)
    recordings.csv(folder / "i.csv", X)
    recordings.csv(folder / "w.csv", np.ones((300, 1)))
    attempt_quietly(folder, "fit", "i.csv", "-o", "m.json")
    (folder / "d").mkdir()
    return X


def direct(trial, name, words):
    for how in ["same name", "dotted", "symbolic link", "hard link"]:
        with Folder() as folder:
            prepare(folder)
            other = named(folder, name, how)
            for seen, out in [(name, other)] + ([(other, name)] if other != name else []):
                asked = [seen if w == "IN" else out if w == "OUT" else w for w in words]
                attempt(trial, "overwriting", asked, folder, codes=(2,))


def inside(trial, name, words):
    import numpy as np
    for how in ["same name", "symbolic link", "hard link"]:
        with Folder() as folder:
            X = prepare(folder)
            path = folder / "d" / name
            if name.endswith(".npy"):
                np.save(path, X)
            elif name.endswith(".json"):
                path.write_text('{"quick": {}, "full": {}}')
            else:
                recordings.csv(path, X)
            seen = "d/" + name
            if how == "symbolic link":  # the input is elsewhere; the folder has a link to it
                os.rename(path, folder / name)
                os.symlink("../" + name, path)
                seen = name
            if how == "hard link":
                os.link(path, folder / ("hard_" + name))
                seen = "hard_" + name
            # tune reads what it has written: another file in its place is a search that cannot go on.
            codes = (1, 2) if words[0] == "tune" else (2,)
            attempt(trial, "overwriting", [seen if w == "IN" else w for w in words], folder, codes=codes)


def run_all(trial):
    in_parallel(lambda job: job[0](trial, *job[1]), [(direct, d) for d in DIRECT] + [(inside, i) for i in INSIDE])
