#!/usr/bin/python3
"""make_corpus.py DEMIX: small valid files of every kind into corpus/, for the fuzzers to start from.

DEMIX is the program: it makes the models. Sound is written by libsndfile, the rest by hand or by NumPy.
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

CORPUS = pathlib.Path(__file__).parent / "corpus"


def put(kind, name, data):
    folder = CORPUS / kind
    folder.mkdir(parents=True, exist_ok=True)
    assert len(data) < 4096, (kind, name, len(data))
    (folder / name).write_bytes(data)


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
    for name, mark, end in [("commas", ",", "\n"), ("semicolons", ";", "\r\n"), ("tabs", "\t", "\n"), ("blanks", "  ", "\n")]:
        put("csv", name, end.join(mark.join(f"{v:g}" for v in row) for row in rows).encode())
    put("csv", "names", b"\xef\xbb\xbf# a comment\n\ntime,\"Fp1\",C\xe9z\n0,1,2\n1,2,4\n2,1,inf\n3,nan,1e400\n")
    put("csv", "one_column", b"x\n1\n-2\n+3.5e-10\n")
    put("csv", "rate_beyond_doubles", b"0;1\n5e-324;2\n1e-323;3\n")
    put("csv", "ragged", b"1 2 3\n4 5 6\n7 8\n")


def make_numpy():
    for kind in ["<f8", ">f8", "<f4", "<i2", ">i4", "u1", "<u8", "?"]:
        array = io.BytesIO()
        np.save(array, (np.arange(12) % 5).reshape(6, 2).astype(kind))
        put("npy", kind.strip("<>?") + ("_swapped" if kind[0] == ">" else "") or "bool", array.getvalue())
    array = io.BytesIO()
    np.save(array, np.asfortranarray(np.arange(12.0).reshape(6, 2)))
    put("npy", "fortran", array.getvalue())
    put("npy", "type_of_two_lines", array.getvalue().replace(b"<f8", b"<\n8"))
    array = io.BytesIO()
    np.lib.format.write_array(array, np.arange(5.0), version=(2, 0))
    put("npy", "one_dimension_v2", array.getvalue())


def make_raw():
    values = np.array([0, 1, -1.5, np.inf, np.nan, 1e-40])
    put("f32", "six", values.astype("<f4").tobytes())
    put("f64", "six", values.astype("<f8").tobytes())


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
        subprocess.run([program, "fit", folder / "in.csv", "-o", folder / "m.json"], check=True, capture_output=True)
        model = (folder / "m.json").read_text()
        put("model", "two_channels", model.encode())
        # Less to keep right, and so more to play with; the fuzzer puts in the checksum.
        small = json.loads(model) | {"names": [], "options": {}, "mean": [0], "kurtosis": [4],
                                     "unmixing": [[2]], "mixing": [[0.5]],
                                     "warnings": [{"kind": "few_samples", "text": "t", "components": [0]}]}
        put("model", "one_channel", json.dumps(small).encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make_wav()
    make_text()
    make_numpy()
    make_raw()
    make_sound()
    make_model(sys.argv[1])
