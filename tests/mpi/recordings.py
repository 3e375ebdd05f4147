"""Files of mixtures for the tests of demix-mpi: the same whole numbers in several formats."""
import struct

import numpy as np


def mixtures(frames, channels, seed=1):
    rng = np.random.default_rng(seed)
    S = rng.laplace(size=(frames, channels))
    S[:, ::2] = rng.uniform(-1, 1, size=S[:, ::2].shape)
    return S @ rng.normal(size=(channels, channels)) + rng.normal(size=channels)


def whole_numbers(frames, channels):
    """Of 16 bits."""
    X = mixtures(frames, channels)
    return np.round(X * (20000 / np.abs(X).max())).astype("<i2")


def in_records(X, rate):
    """Records of a second: one channel after the other."""
    return X.reshape(-1, rate, X.shape[1]).transpose(0, 2, 1)


def fields(*columns):
    return b"".join(str(text).encode().ljust(size) for texts, size in columns for text in texts)


def edf(X, rate, bits=16):
    """EDF, or BDF of 24 bits."""
    n = X.shape[1]
    largest = 2 ** (bits - 1)
    head = b"0".ljust(8) if bits == 16 else b"\xffBIOSEMI"
    head += fields((["X X X X", "Startdate X X X X"], 80), (["01.01.20", "00.00.00"], 8), ([256 * (n + 1)], 8),
                   ([""], 44), ([len(X) // rate, 1], 8), ([n], 4))
    least, most = (-3276.8, 3276.7) if bits == 16 else (-largest, largest - 1)  # eight characters at most
    head += fields((range(n), 16), ([""] * n, 80), (["uV"] * n, 8), ([least] * n, 8), ([most] * n, 8),
                   ([-largest] * n, 8), ([largest - 1] * n, 8), ([""] * n, 80), ([rate] * n, 8), ([""] * n, 32))
    records = in_records(X, rate)
    if bits == 16:
        return head + records.astype("<i2").tobytes()
    return head + np.ascontiguousarray(records.astype("<i4")).view("u1").reshape(-1, 4)[:, :3].tobytes()


def gdf(X, rate):
    """Version 2.2, of 16 bits."""
    n = X.shape[1]
    head = bytearray(256)
    head[:8] = b"GDF 2.20"
    struct.pack_into("<H", head, 184, n + 1)
    struct.pack_into("<qIIH", head, 236, len(X) // rate, 1, 1, n)
    def column(code, value):
        return struct.pack(code, value) * n
    head += fields((range(n), 16)) + bytes(80 * n) + bytes(6 * n) + column("<H", 4275)
    head += column("<d", -3276.8) + column("<d", 3276.7) + column("<d", -32768) + column("<d", 32767)
    head += bytes(80 * n) + column("<I", rate) + column("<I", 3) + bytes(32 * n)
    return bytes(head) + in_records(X, rate).astype("<i2").tobytes()


def wav(X, rate, floats=False):
    data = (X / 32768).astype("<f4").tobytes() if floats else X.astype("<i2").tobytes()
    n = X.shape[1]
    width = 4 if floats else 2
    layout = struct.pack("<HHIIHH", 3 if floats else 1, n, rate, rate * n * width, n * width, 8 * width)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + layout +
            b"data" + struct.pack("<I", len(data)) + data)
