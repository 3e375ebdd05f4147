"""Bad files, each given to every command that reads files."""
import gzip
import io
import os
import struct
import threading
import zipfile
import zlib

import numpy as np

import recordings
from trial import Folder, attempt, device, in_parallel

CORPUS = os.path.join(os.path.dirname(__file__), "..", "..", "fuzz", "corpus")


def bomb():
    """An archive of a few kilobytes whose array would take gigabytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("x.npy", "w", force_zip64=True) as member:
            member.write(recordings.npy_header((1 << 27, 2)))
            block = bytes(1 << 20)
            for _ in range(64):  # and it ends early
                member.write(block)
    return file.getvalue()


def mat(name, rows, columns, data, compressed=False, claimed=None):
    """Version 5, one array of doubles. `claimed`: bytes of data the header speaks of."""
    def element(kind, body):
        return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)

    body = element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", rows, columns)) + element(1, name)
    body += struct.pack("<II", 9, len(data) if claimed is None else claimed) + data
    array = struct.pack("<II", 14, len(body)) + body
    if compressed:
        packed = zlib.compress(array)
        array = struct.pack("<II", 15, len(packed)) + packed
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4d49) + array


def damaged():
    """Name -> bytes."""
    X = recordings.mixtures(400)
    holes = X.copy()
    holes[7, 1] = np.nan
    text = "\n".join(",".join(f"{v:.6g}" for v in row) for row in X)
    saved = io.BytesIO()
    np.save(saved, X)
    npy = saved.getvalue()
    files = {"noise." + e: np.random.default_rng(5).bytes(3000)
             for e in ["csv", "npy", "npz", "mat", "set", "wav", "flac", "ogg", "aiff", "edf", "bdf", "f32", "f64",
                       "png", "jpg", "tif", "pgm", "json", "xyz"]}
    files.update({"empty." + e: b"" for e in ["csv", "npy", "npz", "mat", "wav", "edf", "f64", "png", "pgm", "json"]})
    files.update({"text." + e: text.encode() for e in ["npy", "wav", "mat", "png", "edf", "json", "npz", "f64"]})
    files.update({f"cut{k}.npy": npy[:n] for k, n in enumerate([5, 60, 127, 1001])})
    whole = recordings.wav(X)
    files.update({f"cut{k}.wav": whole[:n] for k, n in enumerate([10, 40, 44, 1003])})
    files.update({
        "cut.csv": text[:1000].encode(), "nan.csv": text.encode() + b"\n1,nan,2\n", "nan.wav": recordings.wav(holes),
        "all_nan.wav": recordings.wav(np.full((300, 2), np.nan)),
        "inf.npy": npy_of(np.where(np.isnan(holes), np.inf, X)),
        "all_nan.npy": npy_of(np.full((300, 2), np.nan)), "constant.csv": b"1,2\n" * 50,
        "zeros.npy": npy_of(np.zeros((99, 3))),
        "one_frame.csv": b"1,2,3\n", "names_only.csv": b"a,b,c\n", "one_column.csv": b"1\n2\n4\n",
        "blank.csv": b"\n\n\n",
        "overflow.csv": b"1e200,1\n-1e200,2\n3e199,5\n4,5\n1,7\n", "largest.npy": npy_of(X * 1e305),
        "least.npy": npy_of(X * 1e-305), "nul.csv": b"1,2\n\0,3\n4,5\n", "long_line.csv": b"1," * 2000000,
        "ragged.csv": b"1,2\n3\n4,5,6\n", "words.csv": b"the,quick\nbrown,fox\njumps,over\n",
        "escapes.csv": b"\x1b[31mred\x07,b\x0dc\n" + text.replace(",", ";").replace(";", ",", 1).encode(),
        "labels.csv": b"\x1b[31mred,\x07bell,c\x7f\n" + text.encode(),
        "labels.edf": recordings.edf(["\x1b[2Jwipe", "\x07bell", "EEG\rCz"], records=30),
        "huge.npy": recordings.npy_header((10 ** 15, 4)) + bytes(64),
        "huge2.npy": recordings.npy_header((1 << 62, 1 << 62)),
        "minus.npy": recordings.npy_header((-1, 4)) + bytes(64),
        "objects.npy": recordings.npy_header((4, 2), "|O") + bytes(64),
        "wide.npy": recordings.npy_header((3, 30000)) + bytes(8 * 90000),
        "huge.wav": recordings.wav(X[:50], 0xfffffff0),
        "huge.edf": recordings.edf(["a", "b"], claimed=99999999), "huge.pgm": b"P5 100000 100000 255\n" + bytes(100),
        "huge.png": png(60000, 60000), "flat.pgm": b"P5 0 0 255\n", "bomb.npz": bomb(),
        "huge.mat": mat(b"x", 1 << 30, 4, bytes(64), claimed=0xfffffff0),
        "bomb.mat": mat(b"x", 1 << 24, 4, bytes(1 << 24), compressed=True),
        "deep.json": b"[" * 100000, "list.json": b"[1,2,3]", "empty_object.json": b"{}",
        "packed.csv": gzip.compress(text.encode())})
    return files


def npy_of(X):
    file = io.BytesIO()
    np.save(file, X)
    return file.getvalue()


def png(width, height):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))


def commands(bad):
    """What is asked of a bad file, and the outputs that may come of it."""
    return [
        (["info", bad], []), (["info", bad, "--json"], []), (["fit", bad, "-o", "m.json"], ["m.json"]),
        (["fit", bad, "-o", "m.json", "-m", "fastica", "--channels", "2"], ["m.json"]),
        (["separate", bad, "-o", "sep"], ["sep"]), (["apply", "good.json", bad, "-o", "y.csv"], ["y.csv"]),
        (["apply", bad, "good.csv", "-o", "y.csv"], ["y.csv"]), (["stream", bad, "-o", "y.f64"], ["y.f64"]),
        (["score", "good.csv", "--truth", bad], []), (["generate", "--from", bad, "-o", "gen"], ["gen"]),
        (["fit", "good.csv", "--frame-weights", bad, "-o", "m.json"], ["m.json"]),
        # A link that leads nowhere is followed.
        (["stream", "good.csv", "-o", "y.f64", "--state", bad],
         ["y.f64", bad if bad != "dangling.csv" else "nowhere.csv"]),
        (["moments", bad, "-o", "m.sums"], ["m.sums"]), (["merge", bad, "-o", "m.json"], ["m.json"]),
        (["merge", "good.sums", bad, "-o", "m.json"], ["m.json"]),
        (["tune", "--data", bad, "--frames", "100", "--draws", "1", "--eta", "1e-3", "--tau", "1"], []),
        (["fit", "good.csv", "--positions", bad, "-o", "m.json"], ["m.json"]),
        (["stream", "good.csv", "-o", "y.f64", "--start", bad], ["y.f64"]),
        (["compare", "--data", bad, "--frames", "100", "--draws", "1", "--method", "easi"], []),
    ]


def prepare(folder):
    recordings.csv(folder / "good.csv", recordings.mixtures(400))
    attempt_quietly(folder, "fit", "good.csv", "-o", "good.json")
    attempt_quietly(folder, "moments", "good.csv", "-o", "good.sums")


def attempt_quietly(folder, *words):
    import trial
    result = trial.run(*words, cwd=folder)
    assert result.code == 0, result.err


def try_commands(trial, kind, folder, bad, without=(), **options):
    for words, outputs in commands(bad):
        if words[0] in without:
            continue
        existing = set(os.listdir(folder))
        kept = ["y.f64"] if words[0] == "stream" else []  # frames that were put out before the bad one
        result = attempt(trial, kind, words, folder, outputs, kept=kept, **options)
        if result.code == 0 and words[0] == "info" and any(c < 32 and c not in b"\n\t" or c == 127 for c in result.out):
            trial.check("control characters", False, f"{words} prints {result.out[:200]!r}")
        for name in filter(None, outputs):  # only what came of this run
            path = folder / name
            is_state = "--state" in words and name != "y.f64"
            if result.code == 0 and path.is_file() and "nan" not in bad and "inf" not in bad and not is_state:
                trial.check("finite outputs", recordings.is_finite(path), f"{words}: {name} is not finite")
            if name not in existing:
                remove(path)


def remove(path):
    import shutil
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def special(trial):
    """Names that are no files, or more than files."""
    def devices(which):
        def make(folder):
            names = ["device." + e for e in ["csv", "npy", "png", "wav", "json", "mat", "npz", "edf", "f64", "pgm"]]
            for name in names:
                device(folder, which, name)
            return names
        return make

    def odd(folder):
        (folder / "folder.csv").mkdir()
        os.symlink("nowhere.csv", folder / "dangling.csv")
        os.symlink("loop.csv", folder / "loop.csv")
        recordings.csv(folder / "unreadable.csv", recordings.mixtures(50))
        os.chmod(folder / "unreadable.csv", 0)
        names = ["folder.csv", "dangling.csv", "loop.csv", "nosuch.csv", "line\nbreak.csv", "\x1b[31m.csv", ""]
        return names + ([] if os.geteuid() == 0 else ["unreadable.csv"])

    def with_folder(job):
        make, without = job
        with Folder() as folder:
            prepare(folder)
            for name in make(folder):
                try_commands(trial, "special files", folder, name, without)

    in_parallel(with_folder, [(odd, ()), (devices("zero"), ("stream",)), (devices("null"), ("stream",))])
    with Folder() as folder:  # a state that never ends
        prepare(folder)
        device(folder, "zero", "state")
        attempt(trial, "special files", ["stream", "good.csv", "-o", "y.f64", "--state", "state"], folder, codes=(1, 2))
    with Folder() as folder:  # reading a pipe twice cannot work; reading it once waits for ever
        prepare(folder)
        for e in ["csv", "npy", "wav", "json"]:
            os.mkfifo(folder / f"pipe.{e}")
            try_commands(trial, "pipes", folder, f"pipe.{e}", ("stream",), seconds=5)


def run_all(trial):
    files = list(damaged().items())

    def one(item):
        name, data = item
        with Folder() as folder:
            prepare(folder)
            (folder / name).write_bytes(data)
            try_commands(trial, "bad files", folder, name)

    in_parallel(one, files)
    special(trial)
