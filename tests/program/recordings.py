"""Real recordings from $DEMIX_DATA, or generated stand-ins that say so."""
import os
from pathlib import Path

import numpy as np

DATA = Path(os.environ["DEMIX_DATA"]) if os.environ.get("DEMIX_DATA") else None


def real(name, what):
    """The file or folder of this name in $DEMIX_DATA, if it is there."""
    if DATA and (DATA / name).exists():
        return DATA / name
    print(f"NOTE: no {what} in $DEMIX_DATA: using a generated stand-in", flush=True)
    return None


def fields(values, width):
    return "".join(str(v).ljust(width) for v in values)


def edf_plus(path, digital, rate, names, units, physical, annotations):
    """EDF+ by the book: records of a second; annotations (onset, duration or None, text), one a record."""
    n, frames = digital.shape
    records, room = frames // rate, 40
    signals = n + 1
    head = ("0".ljust(8) + "X X X X".ljust(80) + "Startdate 02-MAR-2004 X X X".ljust(80) + "02.03.0405.06.07"
            + fields([256 * (signals + 1)], 8) + "EDF+C".ljust(44) + fields([records, 1], 8)
            + fields([signals], 4)
            + fields([*names, "EDF Annotations"], 16) + " " * 80 * signals + fields([*units, ""], 8)
            + fields([-physical] * n + [-1], 8) + fields([physical] * n + [1], 8)
            + fields([-32768] * signals, 8) + fields([32767] * signals, 8) + " " * 80 * signals
            + fields([rate] * n + [room], 8) + " " * 32 * signals)
    with open(path, "wb") as f:
        f.write(head.encode("ascii"))
        for r in range(records):
            f.write(digital[:, r * rate:(r + 1) * rate].astype("<i2").tobytes())
            tal = b"+%d\x14\x14\0" % r
            if r < len(annotations):
                onset, duration, text = annotations[r]
                lasts = "" if duration is None else "\x15%g" % duration
                tal += ("+%g%s\x14%s\x14\0" % (onset, lasts, text)).encode()
            f.write(tal.ljust(2 * room, b"\0"))


def eeg(folder):
    """32 channels at 128 Hz as EDF: recorded, or slow waves and bursts, mixed."""
    path = real("eeg_eeglab/eeglab_data.edf", "EEG")
    if path:
        return path
    rng = np.random.default_rng(18)
    n, frames = 32, 128 * 120
    S = rng.normal(size=(n, frames))
    for i in range(n):
        S[i] = np.convolve(S[i], 0.9 ** np.arange(40), "same")
        S[i] *= 1 + i * np.abs(np.sin(np.arange(frames) / (300 + 40 * i))) ** (1 + i)
    X = rng.normal(size=(n, n)) @ S
    edf_plus(folder / "eeg.edf", (30000 * X / np.abs(X).max()).astype(int), 128, [f"E{k + 1}" for k in range(n)],
             ["uV"] * n, 3276.7, [(0.5, None, "square"), (1.25, 1.5, "blink")])
    return folder / "eeg.edf"


def foetal_ecg(folder):
    """Eight electrodes on a pregnant woman, 10 s at 250 Hz, time in front: recorded, or two trains of pulses, mixed."""
    path = real("fecg_daisy/FOETAL_ECG.dat", "foetal ECG")
    if path:
        return path
    rng = np.random.default_rng(19)
    t = np.arange(2500)
    S = rng.normal(size=(8, 2500))
    for row, period, width in ((0, 185, 4), (1, 111, 2)):
        beats = np.cumsum(np.round(period * (1 + 0.02 * rng.normal(size=40)))) - period // 2
        S[row] = sum(np.exp(-0.5 * ((t - beat) / width) ** 2) for beat in beats)
    S /= S.std(axis=1, keepdims=True)
    X = rng.normal(size=(8, 8)) @ S
    np.savetxt(folder / "foetal.dat", np.column_stack([t / 250, X.T]), fmt="%.4f")
    return folder / "foetal.dat"
