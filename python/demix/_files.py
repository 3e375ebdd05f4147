"""Files, as the program reads them."""
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import _arguments as check
from . import _core
from ._model import Model
from ._progress import shown


@dataclass(eq=False)
class Recording:
    """What a file holds.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_channels)
    rate : float
        Samples per second; 0 = unknown.
    names, units : list of str
        Of the channels; [] = unknown.
    annotations : list of (onset, duration, text)
        In seconds; duration -1 = not told.
    width, height : int
        Of pictures, whose samples are their pixels, row by row; else 0.
    notes : list of str
        What was left out or guessed.
    start : str
        "2024-03-31T13:45:00", or "" = unknown.
    """

    data: np.ndarray
    rate: float = 0.0
    names: list = field(default_factory=list)
    units: list = field(default_factory=list)
    annotations: list = field(default_factory=list)
    width: int = 0
    height: int = 0
    notes: list = field(default_factory=list)
    start: str = ""

    def __repr__(self):
        rate = f", {self.rate:g} Hz" if self.rate else ""
        return f"<demix.Recording: {self.data.shape[0]} samples of {self.data.shape[1]} channels{rate}>"


def _reading(channels, rate, variable, orientation, planes, join, time_column, delimiter):
    if len(check.text("delimiter", delimiter)) > 1:
        raise ValueError(f"delimiter: expected one character, got {delimiter!r}")
    return {"channels": check.integer("channels", channels, least=0), "rate": check.real("rate", rate, least=0),
            "variable": check.text("variable", variable),
            "orientation": check.choice("orientation", orientation, ["automatic", "frames", "channels"]),
            "planes": check.flag("planes", planes), "join": check.choice("join", join, ["channels", "frames"]),
            "time_column": None if time_column is None else check.integer("time_column", time_column, least=0),
            "delimiter": delimiter}


def _texts(name, given):
    return [check.text(name, one) for one in ([given] if isinstance(given, str) else given)]


def _spans(given):
    try:
        return [(check.real("bad", start, least=0), check.real("bad", end, least=0)) for start, end in given]
    except (TypeError, ValueError):
        raise ValueError(f"bad: expected pairs (from, to), got {given!r}") from None


def _paths(name, given):
    if isinstance(given, (str, bytes, os.PathLike)):
        given = [given]
    try:
        given = list(given)
    except TypeError:
        raise TypeError(f"{name}: expected a path or paths, got {given!r}") from None
    if not given:
        raise ValueError(f"{name}: expected at least one file")
    return [check.path(name, p) for p in given]


def read(path, *more, channels=0, rate=0.0, variable="", orientation="automatic", planes=False, join="channels",
         time_column=None, delimiter=""):
    """Reads what the program reads: sound, EDF, BDF, BrainVision, GDF, XDF, EEGLAB, text, NumPy, MATLAB, pictures,
    raw numbers.

    Parameters
    ----------
    path, *more : path-like
        One file, or several; see `join`.
    channels : int, default=0
        Of raw numbers (.f32, .f64, .s16, .s32): how many.
    rate : float, default=0
        Samples per second, where the file does not say.
    variable : str, default=''
        Of .npz and .mat: which, if there are several.
    orientation : {'automatic', 'frames', 'channels'}, default='automatic'
        What the rows of a matrix are.
    planes : bool, default=False
        Colour pictures: each plane a channel of its own, else grey.
    join : {'channels', 'frames'}, default='channels'
        What several files are: channels of one recording, or parts of it, one after the other.
    time_column : int, optional
        Of text: which column, from 1, is the time; 0: none; found if not given.
    delimiter : str, default=''
        Of text: what is between columns; found if not given.

    Returns
    -------
    recording : Recording

    Raises
    ------
    FileError
        An OSError and a ValueError, naming the path, the place in it and what is wrong.
    """
    return Recording(**_core.read(_paths("path", (path, *more)),
                                  _reading(channels, rate, variable, orientation, planes, join, time_column,
                                           delimiter)))


@dataclass(eq=False)
class SeparatedFiles:
    """What `separate_files` wrote.

    Attributes
    ----------
    sources : list of Path
        One file, or one for each source (sound, pictures).
    model_file, summary_file : Path
    report_file : Path or None
        A page to look at and listen to.
    model : Model
    gains : list of float
        What the sources were multiplied by for their files; [] = as they are.
    strongest_on : list of str
        Of each component: the channel it matters most to.
    summary : dict
        What `summary_file` holds.
    notes : list of str
        What was left out or guessed.
    """

    sources: list
    model_file: Path
    summary_file: Path
    report_file: Path
    model: Model
    gains: list
    strongest_on: list
    summary: dict
    notes: list = field(default_factory=list)


def separate_files(paths, folder, *, method="auto", form=None, n_components=None, order=None, stability=0,
                   bad=(), bad_annotations=False, find_bad=False, frame_weights=None, pick=(), exclude=(),
                   find_bad_channels=False, average_reference=False, highpass=0.0, lowpass=0.0, notch=(), decimate=1,
                   filter_output=False, positions=None, truth=(), report=True, channels=0, rate=0.0, variable="",
                   orientation="automatic", planes=False, join="channels", time_column=None, delimiter="",
                   random_state=None, n_jobs=None, progress=None):
    """Separates files into files, as the program's `separate` does.

    Sources come in the kind of file that came in, beside model.json, report.html and summary.json. All appear, or none
    does; no file that is read is replaced.

    Parameters
    ----------
    paths : path-like or list of path-like
        One file, or several; see `join`. They may be larger than memory.
    folder : path-like
        Made if it is not there.
    method, form, n_components, order, stability, random_state, n_jobs, progress
        Of `ICA`; `method` by name.
    bad : list of (from, to), default=()
        Seconds, or frames where the rate is unknown, that are not learned from.
    bad_annotations : bool, default=False
        Do not learn from what the file annotates as bad.
    find_bad : bool, default=False
        Look for stretches far larger than the rest, and do not learn from them.
    frame_weights : path-like, optional
        A file of one number per frame: how much it counts.
    pick, exclude : str or list of str, default=()
        Channels to learn from, or not: types (`eeg`, `eog`, ...), names, patterns with * and ?. Without `pick`, of a
        biosignal: the EEG, where types are known.
    find_bad_channels : bool, default=False
        Leave out channels that are flat, much larger than the others, or unlike all others.
    average_reference : bool, default=False
        Learn from each channel less the mean of all that are learned from.
    highpass, lowpass : float, default=0
        Hz; filters of what is learned from. 0: none.
    notch : float or list of float, default=()
        Hz; frequencies to take out of what is learned from.
    decimate : int, default=1
        Learn from one frame of so many, after a lowpass.
    filter_output : bool, default=False
        Write the sources filtered as what was learned from.
    positions : path-like, optional
        A file of electrodes.
    truth : list of path-like, default=()
        Files of the true sources, for the report.
    report : bool, default=True
        Write report.html.
    channels, rate, variable, orientation, planes, join, time_column, delimiter
        Of `read`.

    Returns
    -------
    files : SeparatedFiles
    """
    notches = [notch] if np.isscalar(notch) else notch
    learn_from = {"bad": _spans(bad), "bad_annotations": check.flag("bad_annotations", bad_annotations),
                  "find_bad": check.flag("find_bad", find_bad),
                  "frame_weights": "" if frame_weights is None else check.path("frame_weights", frame_weights),
                  "pick": _texts("pick", pick), "exclude": _texts("exclude", exclude),
                  "find_bad_channels": check.flag("find_bad_channels", find_bad_channels),
                  "average_reference": check.flag("average_reference", average_reference),
                  "highpass": check.real("highpass", highpass, least=0),
                  "lowpass": check.real("lowpass", lowpass, least=0),
                  "notches": [check.real("notch", hz, above=0) for hz in notches],
                  "decimate": check.integer("decimate", decimate, least=1)}
    options = {"seed": check.seed("random_state", random_state), **check.components(n_components),
               "stability": check.integer("stability", stability, least=0)}
    if form is not None:
        options["form"] = check.text("form", form)
    if order is not None:
        options["order"] = check.text("order", order)
    with shown(progress) as told:
        (core, why, sources, gains, strongest, model_file, report_file, summary_file, summary,
         notes) = _core.separate_files(
            _paths("paths", paths), check.path("folder", folder), check.text("method", method), options,
            _reading(channels, rate, variable, orientation, planes, join, time_column, delimiter), learn_from,
            _paths("truth", truth) if truth else [], "" if positions is None else check.path("positions", positions),
            check.flag("filter_output", filter_output), check.flag("report", report), check.jobs(n_jobs), told)
    model = Model._of(core, why)
    model.diagnosis.warn()
    return SeparatedFiles(sources, model_file, summary_file, report_file if report else None, model, gains, strongest,
                          json.loads(summary), notes)


def apply_to_files(model, paths, output, *, remove=None, channels=0, rate=0.0, variable="", orientation="automatic",
                   planes=False, join="channels", time_column=None, delimiter="", n_jobs=None):
    """The sources of files by a model, or the channels without some components, to a file, as the program's `apply`.

    Parameters
    ----------
    model : Model or path-like
    paths : path-like or list of path-like
    output : path-like
        By its extension; several pictures get numbered names.
    remove : int or list of int, optional
        Give back the channels without these components (counted from 0).
    channels, rate, variable, orientation, planes, join, time_column, delimiter
        Of `read`.
    n_jobs : int or None, default=None

    Returns
    -------
    files : list of Path
    """
    if not isinstance(model, Model):
        model = Model.load(model)
    if remove is not None:
        remove = [check.integer("remove", k, least=0, most=len(model.kurtosis) - 1)
                  for k in ([remove] if np.isscalar(remove) else remove)]
    return _core.apply_to_files(model._core, _paths("paths", paths), check.path("output", output), remove,
                                _reading(channels, rate, variable, orientation, planes, join, time_column, delimiter),
                                check.jobs(n_jobs))
