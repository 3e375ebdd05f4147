"""No command may replace a file it reads, whatever the name it is given: exit 2, one line, nothing changed."""
import os
import shutil

import recordings
from bad_files import CORPUS, attempt_quietly
from trial import Folder, attempt, in_parallel

# What is read, what is asked, where "IN" is the input and "OUT" a name for the same file.
DIRECT = [
    ("i.csv", ["fit", "IN", "-o", "OUT"]), ("i.csv", ["apply", "m.json", "IN", "-o", "OUT"]),
    ("m.json", ["apply", "IN", "i.csv", "-o", "OUT"]), ("w.csv",
                                                        ["fit", "i.csv", "--frame-weights", "IN", "-o", "OUT"]),
    ("i.csv", ["stream", "IN", "-o", "OUT"]), ("i.csv", ["stream", "IN", "-o", "y.csv", "--model", "OUT"]),
    ("i.csv", ["stream", "IN", "-o", "y.csv", "--state", "OUT"]),
    ("i.csv", ["moments", "IN", "-o", "OUT"]), ("w.csv", ["moments", "i.csv", "--frame-weights", "IN", "-o", "OUT"]),
    ("i.sums", ["merge", "IN", "-o", "OUT"]), ("p_electrodes.tsv", ["fit", "b.vhdr", "--positions", "IN", "-o", "OUT"]),
    ("am/W", ["fit", "i.csv", "-o", "OUT", "--amica", "am"]),
]
# What is replaced is a file that is opened with the one that is named.
BESIDE = [
    (name, words) for name in ["b.bin", "b.marks"]
    for words in [["fit", "b.vhdr", "-o", "OUT"], ["moments", "b.vhdr", "-o", "OUT"],
                  ["fit", "i.csv", "--frame-weights", "b.vhdr", "-o", "OUT"],
                  ["stream", "b.vhdr", "-o", "OUT", "--output-format", "f32"]]
] + [
    ("S.FDT", ["fit", "S.SET", "-o", "OUT"]), ("S.FDT", ["stream", "S.SET", "-o", "OUT", "--output-format", "f32"]),
    ("sub-01_channels.tsv", ["fit", "sub-01_eeg.vhdr", "-o", "OUT"]),
    ("sub-01_channels.tsv", ["apply", "b.json", "sub-01_eeg.vhdr", "-o", "OUT"]),
    ("sub-01_events.tsv", ["fit", "sub-01_eeg.vhdr", "-o", "OUT"]),
    ("p_coordsystem.json", ["fit", "b.vhdr", "--positions", "p_electrodes.tsv", "-o", "OUT"]),
    ("am/W", ["stream", "i.csv", "--start", "am", "-o", "y.csv", "--model", "OUT"]),
    ("am/mean", ["stream", "i.csv", "--start", "am", "-o", "y.csv", "--state", "OUT"]),
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
    other = ("soft_" if how == "symbolic link" else "hard_") + os.path.basename(name)
    if name.endswith("electrodes.tsv"):
        other = other[:5] + name  # it tells its kind by its name
    if how == "symbolic link":
        os.symlink(name, folder / other)
        return other
    if how == "hard link":
        os.link(folder / name, folder / other)
        return other
    return name


def prepare(folder):
    import numpy as np
    X = recordings.mixtures(300)
    recordings.csv(folder / "i.csv", X)
    recordings.csv(folder / "w.csv", np.ones((300, 1)))
    attempt_quietly(folder, "fit", "i.csv", "-o", "m.json")
    (folder / "d").mkdir()
    return X


def prepare_all(folder):
    """Sums, a model as AMICA writes it, and recordings that are several files."""
    X = prepare(folder)
    attempt_quietly(folder, "moments", "i.csv", "-o", "i.sums")
    attempt_quietly(folder, "fit", "i.csv", "-o", "a.json", "--amica", "am")
    recordings.brainvision(folder / "b.vhdr", X, "b.bin", "b.marks")
    recordings.brainvision(folder / "sub-01_eeg.vhdr", X, "sub-01_eeg.EEG", "sub-01_eeg.VMRK")
    attempt_quietly(folder, "fit", "b.vhdr", "-o", "b.json")
    (folder / "sub-01_channels.tsv").write_text("name\ttype\nC1\tEEG\n")
    (folder / "sub-01_events.tsv").write_text("onset\tduration\ttrial_type\n0.1\t0\ta\n")
    (folder / "p_electrodes.tsv").write_text("name\tx\ty\tz\nC1\t0\t0.09\t0\nC2\t0\t0\t0.09\nC3\t0.09\t0\t0\n")
    (folder / "p_coordsystem.json").write_text('{"EEGCoordinateUnits": "m"}')
    shutil.copy(os.path.join(CORPUS, "set", "beside"), folder / "S.SET")
    X[:6, :2].astype("<f4").tofile(folder / "a.fdt")  # as its header calls it
    os.link(folder / "a.fdt", folder / "S.FDT")


def direct(trial, name, words):
    for how in ["same name", "dotted", "symbolic link", "hard link"]:
        with Folder() as folder:
            prepare_all(folder)
            other = named(folder, name, how)
            for seen, out in [(name, other)] + ([(other, name)] if other != name else []):
                asked = [seen if w == "IN" else out if w == "OUT" else w for w in words]
                attempt(trial, "overwriting", asked, folder, codes=(2,))


def beside(trial, name, words):
    for how in ["same name", "dotted", "symbolic link", "hard link"]:
        with Folder() as folder:
            prepare_all(folder)
            other = named(folder, name, how)
            if words[0] == "apply":  # its output tells the kind by its name
                os.symlink(other, folder / "out.csv")
                other = "out.csv"
            attempt(trial, "overwriting", [other if w == "OUT" else w for w in words], folder, codes=(2,))


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
    in_parallel(lambda job: job[0](trial, *job[1]), [(direct, d) for d in DIRECT] +
                [(beside, b) for b in BESIDE] + [(inside, i) for i in INSIDE])
