"""demix: the independent sources behind mixed signals.

Estimators with scikit-learn's habits over a C++ core:

>>> ica = demix.ICA().fit(X)           # X: (n_samples, n_features), float32 or float64
>>> S = ica.transform(X)               # sources, by descending kurtosis
>>> print(ica.diagnosis_)              # how far to trust them

>>> live = demix.StreamICA()
>>> S = live.process(block)            # sources of these frames, by what was learned before each

Files (`read`, `Model.load`), the functions people call today (`fastica`, `picard`), networks and rules of one's own
(`SmIcaNetwork`, `NaturalNetwork`, `Network`, `Rule`, `compare`), metrics and synthetic sources. MNE's objects are in
`demix.mne`.
"""
from ._core import DivergedError, FileError, __version__
from ._diagnosis import (ClippedWarning, ConvolvedWarning, DemixWarning, DependentWarning, Diagnosis, DriftWarning,
                         FewSamplesWarning, GaussianWarning, GlitchWarning, NotConvergedWarning, ReducedRankWarning,
                         RefusedFramesWarning, UnresolvedWarning, UnstableWarning)
from ._files import Recording, SeparatedFiles, apply_to_files, read, separate_files
from ._functions import fastica, picard
from ._ica import ICA
from ._metrics import amari, bss_eval, md, mse, mutual_information_reduction, sir
from ._model import Model
from ._networks import Comparison, NaturalNetwork, Network, Rule, SmIcaNetwork, compare, methods
from ._stream import StreamICA
from ._synthetic import Mixture, make_mixing, make_scenario, make_sources, source_names

FileError.__doc__ = """A file that cannot be read or written: the message names it, the place and what is wrong."""
DivergedError.__doc__ = """A method that has found nothing: its weights grew without bound, say."""

__all__ = [
    "ICA", "StreamICA", "Model", "Diagnosis", "fastica", "picard", "methods",
    "SmIcaNetwork", "NaturalNetwork", "Network", "Rule", "compare", "Comparison",
    "amari", "md", "mse", "sir", "bss_eval", "mutual_information_reduction",
    "make_sources", "make_mixing", "make_scenario", "source_names", "Mixture",
    "read", "separate_files", "apply_to_files", "Recording", "SeparatedFiles", "FileError", "DivergedError",
    "DemixWarning", "ClippedWarning", "ConvolvedWarning", "DependentWarning", "DriftWarning", "FewSamplesWarning",
    "GaussianWarning", "GlitchWarning", "NotConvergedWarning", "ReducedRankWarning", "RefusedFramesWarning",
    "UnresolvedWarning", "UnstableWarning", "__version__",
]
