#!/usr/bin/python3
"""make_corpus.py DEMIX: small valid files of every kind into corpus/, for the fuzzers to start from.

DEMIX is the program: it makes the models. Sound is written by libsndfile, arrays by NumPy and SciPy, pictures by
Pillow, the rest by hand.
Inputs that once broke something are in the same folders and are left alone.
"""
import ctypes
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
from PIL import Image

CORPUS = pathlib.Path(__file__).parent / "corpus"


def put(kind, name, data):
    folder = CORPUS / kind
    folder.mkdir(parents=True, exist_ok=True)
    assert len(data) < 4096, (kind, name, len(data))
    (folder / name).write_bytes(data)


def saved(save, *arguments, **options):
    """What save(file, ...) writes."""
    file = io.BytesIO()
    save(file, *arguments, **options)
    return file.getvalue()


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def wav(tag, channels, bits, data, rate=8000, extra=b"", before=b""):
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * block, block, bits) + extra
    chunks = before + chunk(b"fmt ", form) + chunk(b"data", data)
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def make_wav():
    numbers = bytes(range(48))
    for tag, bits in [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)]:
        put("wav", f"{'float' if tag == 3 else 'pcm'}{bits}", wav(tag, 2, bits, numbers))
    guid = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
    put("wav", "extensible", wav(0xFFFE, 1, 16, numbers, extra=struct.pack("<HHIH", 22, 16, 0, 1) + guid))
    put("wav", "odd_chunk", wav(1, 3, 16, numbers, before=chunk(b"LIST", b"odd")))
    unknown = bytearray(wav(1, 2, 16, numbers))
    unknown[40:44] = b"\xff\xff\xff\xff"
    put("wav", "length_unknown", bytes(unknown))
    sizes = chunk(b"ds64", struct.pack("<QQQI", 124, len(numbers), 12, 0))
    large = bytearray(b"RF64\xff\xff\xff\xff" + wav(1, 2, 16, numbers, before=sizes)[8:])
    large[-len(numbers) - 4:-len(numbers)] = b"\xff\xff\xff\xff"
    put("wav", "rf64", bytes(large))


def make_text():
    rows = [[0.5 * t, (-1) ** t * 1e-3 * t, 7 - t] for t in range(8)]
    dialects = {"commas": (",", "\n"), "semicolons": (";", "\r\n"), "tabs": ("\t", "\n"), "blanks": ("  ", "\n")}
    for name, (mark, end) in dialects.items():
        put("csv", name, end.join(mark.join(f"{v:g}" for v in row) for row in rows).encode())
    put("csv", "names",
        b"\xef\xbb\xbf# a comment\n\ntime,\"Fp1\",C\xe9z\n0,1,2\n1,2,4\n2,1,inf\n3,nan,1e400\n")
    put("csv", "one_column", b"x\n1\n-2\n+3.5e-10\n")
    put("csv", "rate_beyond_doubles", b"0;1\n5e-324;2\n1e-323;3\n")
    put("csv", "ragged", b"1 2 3\n4 5 6\n7 8\n")


def make_numpy():
    for kind in ["<f8", ">f8", "<f4", "<i2", ">i4", "u1", "<u8", "?"]:
        name = kind.strip("<>?") + ("_swapped" if kind[0] == ">" else "") or "bool"
        put("npy", name, saved(np.save, (np.arange(12) % 5).reshape(6, 2).astype(kind)))
    fortran = saved(np.save, np.asfortranarray(np.arange(12.0).reshape(6, 2)))
    put("npy", "fortran", fortran)
    put("npy", "type_of_two_lines", fortran.replace(b"<f8", b"<\n8"))
    put("npy", "one_dimension_v2", saved(np.lib.format.write_array, np.arange(5.0), version=(2, 0)))


def make_arrays():
    x = np.arange(12.0).reshape(6, 2)
    put("npz", "stored", saved(np.savez, x))
    put("npz", "deflated", saved(np.savez_compressed, x=x))
    put("npz", "several", saved(np.savez_compressed, x=x.astype("i2"), y=x, text=np.array("abc")))
    save = scipy.io.savemat
    put("mat", "plain", saved(save, {"x": x}))
    put("mat", "deflated", saved(save, {"x": x}, do_compression=True))
    several = {"x": x.astype("i2"), "a": "text", "s": {"f": 1.5, "g": [1, 2]}, "c": x * 1j}
    put("mat", "several", saved(save, several))
    put("mat", "version4", saved(save, {"x": x}, format="4"))
    labels = np.array([("Fp1",), ("Cz",)], dtype=[("labels", object)])
    events = np.array([("go", 2.0, 1.0), ("stop", 5.0, 0.0)],
                      dtype=[("type", object), ("latency", object), ("duration", object)])
    eeg = {"nbchan": 2.0, "pnts": 6.0, "trials": 1.0, "srate": 250.0, "chanlocs": labels, "event": events}
    put("set", "inside", saved(save, {"EEG": eeg | {"data": x.T.astype("f4")}}))
    put("set", "deflated", saved(save, {"EEG": eeg | {"data": x.T.astype("f4")}}, do_compression=True))
    put("set", "fields", saved(save, eeg | {"data": x.T.reshape(2, 3, 2), "pnts": 3.0, "trials": 2.0}))
    ica = {"icaweights": np.array([[1.0, 2], [3, 1]]), "icasphere": np.eye(2) / 2, "icachansind": np.array([[1.0, 2]]),
           "icawinv": 2 * np.linalg.inv([[1.0, 2], [3, 1]])}
    put("set", "ica", saved(save, {"EEG": eeg | ica | {"data": x.T.astype("f4")}}))
    put("set", "beside", saved(save, {"EEG": eeg | {"data": "a.fdt"}}))


def make_electrodes():
    """The place of the extension in read_electrodes.cpp, and a file."""
    put("electrodes", "loc", b"\0" b"1\t0 0.5\tFpz\n2\t-90\t0.511\tT7..\n3 90 0.5 T8\n")
    put("electrodes", "elc_labels", b"\1# ASA\nReferenceLabel\tavg\nUnitPosition\tmm\nNumberPositions=\t3\nPositions\n"
        b"-86.07 -19.98 -47.98\n85.79 -20.0 -48.03\n0.008 86.8 -39.98\nLabels\nLPA\nRPA\nNz\n")
    put("electrodes", "elc_names", b"\1UnitPosition mm\nPositions\nFp1 : -29 84 -7\nFp2 : 29.8 84.8 -7.0\n"
        b"HeadShapePoints\n1 2 3\n")
    put("electrodes", "sfp", b"\2FidNz\t0.0\t9.071\t-2.360\nE1\t5.787\t5.521\t-2.577\nheadshape 1 2 3\n")
    put("electrodes", "bids", b"\3name\tx\ty\tz\timpedance\nCz\t0.1\t0.2\t95\t5\nPz\tn/a\tn/a\tn/a\tn/a\n")


def edf(width, signals, records, plus=""):
    """signals: (label, samples per record); records: their bytes. EDF has 2 bytes to a number, BDF 3."""
    def text(size, *values):
        return b"".join(str(v).ljust(size)[:size].encode() for v in values)

    most = 2 ** (8 * width - 1) - 1
    n = len(signals)
    kind = f"{'EDF' if width == 2 else 'BDF'}+{plus}" if plus else "" if width == 2 else "24BIT"
    first = b"0       " if width == 2 else b"\xffBIOSEMI"
    return b"".join([
        first, text(80, "X X X X", "Startdate 02-JAN-2024 X X X"),
        text(8, "02.01.24", "03.04.05", 256 * (n + 1)),
        text(44, kind), text(8, len(records), 1), text(4, n), text(16, *(label for label, _ in signals)),
        text(80, *[""] * n), text(8, *["" if "Annotations" in label else "uV" for label, _ in signals]),
        text(8, *[-1000] * n), text(8, *[1000] * n), text(8, *[-most - 1] * n), text(8, *[most] * n),
        text(80, *[""] * n), text(8, *(samples for _, samples in signals)), text(32, *[""] * n), *records])


def make_edf():
    for kind, width in [("edf", 2), ("bdf", 3)]:
        numbers = bytes(range(8 * width))
        two = [("EEG Fp1", 4), ("EEG Cz", 4)]
        put(kind, "plain", edf(width, two, [numbers] * 3))
        put(kind, "two_rates", edf(width, [("EEG Fp1", 6), ("Resp", 2)], [numbers] * 2))
        marks = [b"+%d\x14\x14\0+%d.5\x150.2\x14blink\x14\0" % (t, t) for t in range(3)]
        with_marks = two + [("EDF Annotations" if width == 2 else "BDF Annotations", 15)]
        records = [numbers + mark.ljust(15 * width, b"\0") for mark in marks]
        put(kind, "annotations", edf(width, with_marks, records, "C"))
        put(kind, "gaps", edf(width, with_marks, records[::2], "D"))


def gdf(version, signals, records, events=b""):
    """signals: (label, samples per record, type); records: their bytes."""
    n, new = len(signals), version >= "1.90"
    first = bytearray(256 * (n + 1))
    first[:8] = b"GDF " + version.encode()
    first[236:252] = struct.pack("<qII", len(records), 1, 1)
    if new:
        first[168:176] = struct.pack("<Q", 0x000B4800_00000000)
        first[184:186] = struct.pack("<H", n + 1)
    else:
        first[168:184] = b"2024010203040500"
        first[184:192] = struct.pack("<q", 256 * (n + 1))
    first[252:256] = struct.pack("<I", n)
    for i, (label, samples, kind) in enumerate(signals):
        for before, value in [(0, label.encode().ljust(16)),
                              (102 if new else 96, struct.pack("<H", 4275) if new else b"uV      "),
                              (104, struct.pack("<d", -1000)), (112, struct.pack("<d", 1000)),
                              (120, struct.pack("<d" if new else "<q", -32768)),
                              (128, struct.pack("<d" if new else "<q", 32767)),
                              (216, struct.pack("<I", samples)), (220, struct.pack("<I", kind))]:
            at = 256 + before * n + len(value) * i
            first[at:at + len(value)] = value
    return bytes(first) + b"".join(records) + events


def make_gdf_and_brainvision():
    numbers = bytes(range(16))
    two = [("Fp1", 4, 3), ("Cz", 4, 3)]
    old = b"\x03\x04\0\0" + struct.pack("<I2I2H2H2I", 2, 1, 5, 768, 769, 0, 0, 1, 2)
    put("gdf", "version1", gdf("1.25", two, [numbers] * 2, old))
    put("gdf", "version2", gdf("2.10", two, [numbers] * 2, b"\x01\x01\0\0" + struct.pack("<fIH", 4, 3, 768)))
    put("gdf", "floats", gdf("2.20", [("a", 2, 16), ("b", 1, 17)], [numbers] * 3))
    head = ("Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nDataFile={}\nMarkerFile=a.vmrk\n"
            "DataFormat=BINARY\nDataOrientation={}\nNumberOfChannels=2\nSamplingInterval=4000\n[Binary Infos]\n"
            "BinaryFormat={}\n[Channel Infos]\nCh1=Fp1,,0.5,uV\nCh2=a\\1b,,,\n"
            "[Coordinates]\nCh1=1,-90,-72\n[Comment]\n")
    put("vhdr", "multiplexed", head.format("a.eeg", "MULTIPLEXED", "INT_16").encode())
    itself = head.format("$b", "MULTIPLEXED", "INT_16").encode()  # the header as the numbers: a file that can be read
    put("vhdr", "itself", itself + b"x" * (-len(itself) % 4))
    put("vhdr", "vectorized", head.format("$b.eeg", "VECTORIZED", "IEEE_FLOAT_32").encode("latin1"))


def make_xdf():
    def chunk(tag, content):
        return b"\x04" + struct.pack("<IH", len(content) + 2, tag) + content

    def header(number, name, kind, channels, rate, values):
        labels = "".join(f"<channel><label>E{k}</label><unit>uV</unit><type>EEG</type></channel>"
                         for k in range(channels))
        return chunk(2, struct.pack("<I", number) + (
            f"<?xml version='1.0'?><info><name>{name}</name><type>{kind}</type>"
            f"<channel_count>{channels}</channel_count>"
            f"<nominal_srate>{rate}</nominal_srate><channel_format>{values}</channel_format><desc><channels>{labels}"
            "</channels></desc></info>").encode())

    samples = b"".join((b"\x08" + struct.pack("<d", 10 + t / 4) if t % 3 == 0 else b"\0") + struct.pack("<2h", t, -t)
                       for t in range(6))
    mark = b"\x08" + struct.pack("<d", 10.5) + b"\x01\x02go"
    offsets = [chunk(4, struct.pack("<Idd", 1, t, v)) for t, v in ((10, 5), (15, 5.001), (3, 90), (8, 90.001))]
    put("xdf", "two_streams", b"XDF:" + chunk(1, b"<info><version>1.0</version></info>") +
        header(1, "amp", "EEG", 2, 4, "int16") + header(2, "marks", "Markers", 1, 0, "string") + offsets[0] +
        chunk(3, struct.pack("<I", 1) + b"\x01\x06" + samples) + chunk(3, struct.pack("<I", 2) + b"\x01\x01" + mark) +
        offsets[1] + offsets[2] + chunk(5, bytes(16)) + offsets[3] + chunk(6, struct.pack("<I", 1) + b"<info/>"))


def make_pictures():
    grey = (np.arange(35) * 7 % 256).astype("u1").reshape(5, 7)
    pictures = {"grey": Image.fromarray(grey), "deep": Image.fromarray(grey.astype("u2") * 257),
                "colour": Image.fromarray(np.dstack([grey, 255 - grey, grey // 2])),
                "alpha": Image.fromarray(np.dstack([grey, grey, grey, 255 - grey])),
                "palette": Image.fromarray(grey // 64).convert("P"), "bits": Image.fromarray(grey > 99),
                "float": Image.fromarray(grey.astype("f4"))}
    for name, picture in pictures.items():
        if name != "float":
            put("png", name, saved(picture.save, format="PNG"))
        if name not in ("alpha", "palette"):
            put("tif", name, saved(picture.save, format="TIFF"))
    for name in ["grey", "colour"]:
        put("jpg", name, saved(pictures[name].save, format="JPEG"))
        put("jpg", name + "_progressive", saved(pictures[name].save, format="JPEG", progressive=True))
        put("pgm", name, saved(pictures[name].save, format="PPM"))
        for packing in ["tiff_lzw", "tiff_deflate", "packbits"]:
            put("tif", f"{name}_{packing}", saved(pictures[name].save, format="TIFF", compression=packing))
    put("pgm", "digits", b"P2\n# a comment\n3 2\n15\n0 1 2\n13 14 15\n")
    put("pgm", "deep", b"P5 3 2 65535\n" + bytes(range(12)))


def make_raw():
    values = np.array([0, 1, -1.5, np.inf, np.nan, 1e-40])
    put("f32", "six", values.astype("<f4").tobytes())
    put("f64", "six", values.astype("<f8").tobytes())
    whole = np.array([0, 1, -1, 2**15 - 1, -2**15, 5])
    put("s16", "six", whole.astype("<i2").tobytes())
    put("s32", "six", (whole * 2**16).astype("<i4").tobytes())


class Info(ctypes.Structure):
    _fields_ = [("frames", ctypes.c_int64), ("rate", ctypes.c_int), ("channels", ctypes.c_int),
                ("format", ctypes.c_int), ("sections", ctypes.c_int), ("seekable", ctypes.c_int)]


def make_sound():
    library = ctypes.CDLL("libsndfile.so.1")
    library.sf_open.restype = ctypes.c_void_p
    kinds = [("flac", "pcm16", 0x170002), ("flac", "pcm24", 0x170003), ("flac", "pcm8", 0x170001),
             ("aiff", "pcm16", 0x020002), ("aiff", "pcm24", 0x020003), ("aiff", "float", 0x020006),
             ("aiff", "double", 0x020007), ("aiff", "ulaw", 0x020010), ("aiff", "ima_adpcm", 0x020012),
             ("aiff", "little_endian", 0x10020002), ("ogg", "vorbis", 0x200060), ("ogg", "opus", 0x200064)]
    for kind, name, code in kinds:
        channels = 1 if kind == "ogg" else 2
        info = Info(0, 8000, channels, code, 0, 0)
        frames = np.sin(np.arange(60 * channels) ** 1.5 / 9).reshape(60, channels)
        with tempfile.NamedTemporaryFile() as file:
            sound = library.sf_open(file.name.encode(), 0x20, ctypes.byref(info))
            assert sound, (kind, name)
            library.sf_writef_double(ctypes.c_void_p(sound), frames.ctypes, ctypes.c_int64(len(frames)))
            library.sf_close(ctypes.c_void_p(sound))
            data = pathlib.Path(file.name).read_bytes()
        if len(data) < 4096:
            put(kind, name, data)
        else:
            print(f"{kind}/{name}: {len(data)} bytes, left out")


def make_model(program):
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mixed = random.laplace(size=(400, 2)) @ random.normal(size=(2, 2))
        np.savetxt(folder / "in.csv", mixed, delimiter=",", header="left,right", comments="")
        subprocess.run([program, "fit", folder / "in.csv", "-o", folder / "m.json"], check=True,
                       capture_output=True)
        model = (folder / "m.json").read_text()
        put("model", "two_channels", model.encode())
        # Less to keep right, and so more to play with; the fuzzer puts in the checksum.
        small = json.loads(model) | {"names": [], "options": {}, "mean": [0], "kurtosis": [4],
                                     "unmixing": [[2]], "mixing": [[0.5]],
                                     "warnings": [{"kind": "few_samples", "text": "t", "components": [0]}]}
        put("model", "one_channel", json.dumps(small).encode())
        for key in ["format_version", "samples"]:
            put("model", key + "_beyond_integers", json.dumps(small | {key: 1e300}).encode())


def make_state():
    """Which state to begin with, and changes to it: see restore_state.cpp."""
    def edit(how, place, value):
        return bytes([how]) + place.to_bytes(3, "little") + value

    for which in range(10):
        put("state", f"unchanged{which}", bytes([which]))
    minus, far = struct.pack("<q", -1), struct.pack("<q", 1 << 40)
    put("state", "minus_one", bytes([1]) + edit(0, 90, minus))
    put("state", "far_and_nan", bytes([3]) + edit(0, 120, far) + edit(4, 5000, struct.pack("<d", float("nan"))))
    put("state", "flag", bytes([4]) + edit(3, 33, b"\2" * 8))
    put("state", "sample_apart", bytes.fromhex("009a4b7cb02a8988030000000084acab81000000000000f0bf"))
    put("state", "itself", bytes([10]) + b"demix stream state 4\n" + bytes(200))


def make_sums(demix):
    with tempfile.TemporaryDirectory() as folder:
        for name, channels in (("two_channels", 2), ("five_channels", 5)):
            x, out = pathlib.Path(folder) / "x.csv", pathlib.Path(folder) / "x.sums"
            np.savetxt(x, np.random.default_rng(1).laplace(size=(200, channels)), delimiter=",",
                       header=",".join("abcde"[:channels]), comments="")
            subprocess.run([demix, "moments", x, "-m", "jade", "-o", out], check=True, stdout=subprocess.DEVNULL)
            put("sums", name, out.read_bytes())


def make_commands():
    rows = ["0.001,0.8,5,4,0,0.01", "0.002,0.8,5,0,5,inf", "0.001,1.5,5,5,0,1e-05"]
    put("cells", "three", "".join(row + "\n" for row in rows).encode())
    put("cells", "cut", "\n".join(rows).encode())
    put("cells", "absurd", b"1e-3,0.8,99999999999999999999,7,-1,nan\n0.001,0.8,5,9,0,-1\n")
    entry = {"value": 1, "tolerance": 0.1}
    numbers = {"figure.a": entry, "figure.b": [{"data": "stand-ins", "value": 2, "absolute": 1},
                                               {"value": "inf", **entry}]}
    put("expect", "two", json.dumps({"quick": numbers, "full": {"figure.a": entry, "figure.b": entry}}).encode())
    put("expect", "odd", json.dumps({"quick": {"figure.a": [[]], "figure.b": 7}, "full": []}).encode())
    lines = {
        "fit": "fit a.csv b.wav -o m.json -m fastica --components 0.9 --bad 1-2,annotations --threads 2 --seed 7",
        "separate": "separate a.edf -o d --truth t.csv --no-report --activity-weight log --order power --stability 3",
        "stream": "stream - --format f64 --channels 4 --track 2.5 --rate 100 --robust --state s --save-every 10",
        "moments": "moments a.f32 b.f32 --channels 4 -m jade --bad 1-2 -o a.sums",
        "merge": "merge a.sums b.sums -o m.json",
        "apply": "apply m.json a.npy -o y.npy --remove 1,3", "info": "info --json --variable x a.mat",
        "tune": "tune -m easi --eta 1e-3,2e-3 --tau 1 --scenario 2 --draws 2 --frames 100",
        "compare": "compare --method easi@0.01,sm-ica:natural --sources sine,laplace --whiten yes --measure now",
        "generate": "generate --sources square,sine --frames 10 --condition 3 -o d", "score": "score a --truth b --raw",
        "reproduce": "reproduce figure1 --quick --expect e.json", "methods": "methods --json", "help": "fit --help",
        "demo": "demo --frames 5000 --seed 3", "completion": "completion zsh", "version": "--version",
        "misused": "fit --seed 18446744073709551616 --components nan"}
    for name, line in lines.items():
        put("arguments", name, line.replace(" ", "\n").encode())


def make_runs():
    """An extension (its place in run_commands.cpp) and a file; for fit a method first."""
    extensions = ["csv", "npy", "f64", "f32", "wav", "npz", "mat", "set", "edf", "bdf", "flac", "png", "pgm", "tif",
                  "jpg"]
    random = np.random.default_rng(2)
    mixed = random.laplace(size=(120, 2)) @ random.normal(size=(2, 2))
    text = "\n".join(",".join(f"{v:.4g}" for v in row) for row in mixed).encode()
    files = {"csv": text, "npy": saved(np.save, mixed.astype("<f4")), "f64": mixed.astype("<f8").tobytes(),
             "f32": mixed.astype("<f4").tobytes(), "wav": wav(3, 2, 32, mixed.astype("<f4").tobytes()),
             "npz": saved(np.savez_compressed, x=mixed.astype("<f4")),
             "mat": saved(scipy.io.savemat, {"x": mixed[:90]})}
    for extension, data in files.items():
        place = bytes([extensions.index(extension)])
        put("info", extension, place + data)
        for method, name in enumerate(["auto", "fobi", "fastica", "picard", "jade"]):
            if extension == "csv" or method == len(extension) % 5:
                put("fit", f"{extension}_{name}", bytes([method]) + place + data)
    for name, rows in {"overflow": b"1e200,1\n-1e200,2\n3e199,5\n4,5\n1,7\n", "constant": b"1,2\n" * 9,
                       "one_frame": b"1,2\n", "control_characters": b"\x1b[31ma,b\n1,2\n3,5\n5,1\n"}.items():
        put("info", name, b"\0" + rows)
        put("fit", name, b"\1\0" + rows)
    put("fit", "csv_stability_power", bytes([5 * 12 + 2, 0]) + text)
    put("fit", "csv_one_component", bytes([5 + 3, 0]) + text)
    for extension in ["edf", "png", "pgm", "flac"]:
        for path in sorted((CORPUS / extension).iterdir())[:2]:
            put("info", f"{extension}_{path.name}", bytes([extensions.index(extension)]) + path.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make_wav()
    make_text()
    make_numpy()
    make_arrays()
    make_electrodes()
    make_edf()
    make_gdf_and_brainvision()
    make_xdf()
    make_raw()
    make_pictures()
    make_sound()
    make_model(sys.argv[1])
    make_state()
    make_sums(sys.argv[1])
    make_commands()
    make_runs()
