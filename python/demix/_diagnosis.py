"""How far a separation can be trusted, and the warnings that say so."""
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning


class DemixWarning(UserWarning):
    """Something to know before trusting a separation. `components` are counted from 0."""

    components = ()
    frames = ()


class UnresolvedWarning(DemixWarning):
    """Components too alike to tell apart with so many frames."""


class GaussianWarning(DemixWarning):
    """Components that nothing tells apart."""


class ReducedRankWarning(DemixWarning):
    """Constant, duplicated or dependent channels: fewer components than channels."""


class FewSamplesWarning(DemixWarning):
    """Too few frames for so many channels."""


class NotConvergedWarning(DemixWarning, ConvergenceWarning):
    """The method has not converged."""


class RefusedFramesWarning(DemixWarning):
    """Frames with NaN or Inf, which were not learned from."""


class ConvolvedWarning(DemixWarning):
    """Echoes or delays, which no instantaneous separation can undo."""


class DependentWarning(DemixWarning):
    """Components that go on and off together."""


class GlitchWarning(DemixWarning):
    """A few frames make most of a component, or were left out."""


class DriftWarning(DemixWarning):
    """Channels that drift more slowly than the recording can hold a few cycles of."""


class ClippedWarning(DemixWarning):
    """Channels that are cut off at their largest value."""


class UnstableWarning(DemixWarning):
    """Components not found again in halves of the recording."""


_CLASSES = {
    "unresolved": UnresolvedWarning, "gaussian": GaussianWarning, "reduced_rank": ReducedRankWarning,
    "few_samples": FewSamplesWarning, "not_converged": NotConvergedWarning, "refused_frames": RefusedFramesWarning,
    "convolved": ConvolvedWarning, "dependent": DependentWarning, "glitches": GlitchWarning, "drift": DriftWarning,
    "clipped": ClippedWarning, "unstable": UnstableWarning,
}


@dataclass(eq=False)
class Diagnosis:
    """How far a separation can be trusted, as far as the recording itself can tell.

    Attributes
    ----------
    expected, bound : float or None
        Crosstalk: power of all other sources in an output over that of its own, averaged over the outputs. One
        recording in two has less than `expected`, 19 in 20 less than `bound`. None if it cannot be told.
    pairs : ndarray of shape (n_components, n_components) or None
        (i, j): standard deviation of the amplitude of source j in output i.
    why_not : str
        Why the crosstalk cannot be told, if so.
    coherence : ndarray of shape (n_components, n_components) or None
        Magnitude-squared coherence of the outputs, whatever the lag between them, 0 to 1.
    magnitudes : ndarray of shape (n_components, n_components) or None
        Correlation of the magnitudes of the outputs.
    warnings : list of DemixWarning
        One for each doubt.
    converged : bool
        Whether the method came to rest.
    why : str
        Why this method was chosen, if it was left to demix.
    """

    expected: float = None
    bound: float = None
    pairs: np.ndarray = None
    why_not: str = ""
    coherence: np.ndarray = None
    magnitudes: np.ndarray = None
    warnings: list = field(default_factory=list)
    converged: bool = True
    why: str = ""

    def __str__(self):
        lines = [self.why] if self.why else []
        if self.expected is not None:
            bound = "" if self.bound is None else f", 19 times in 20 below {_decibel(self.bound)} dB"
            lines.append(f"crosstalk: {_decibel(self.expected)} dB to expect{bound}")
        elif self.why_not:
            lines.append(f"crosstalk: cannot be told: {self.why_not}")
        lines += [f"warning: {w}" for w in self.warnings]
        return "\n".join(lines)

    def warn(self, stacklevel=3):
        """Issues the warnings, as Python's warnings.

        Parameters
        ----------
        stacklevel : int, default=3
            Of `warnings.warn`.
        """
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=stacklevel)


def _decibel(power):
    return f"{10 * np.log10(power):.1f}" if power > 0 else "-inf"


def diagnosis_of(core_model, why=""):
    """The diagnosis of a model of the core."""
    d = core_model.diagnosis()
    found = []
    for kind, text, components, frames in d["warnings"]:
        warning = _CLASSES[kind](text)
        warning.components = tuple(components)
        warning.frames = tuple(frames)
        found.append(warning)
    return Diagnosis(expected=d.get("expected"), bound=d.get("bound"), pairs=d.get("pairs"),
                     why_not=d["no_crosstalk"], coherence=d.get("coherence"), magnitudes=d.get("magnitudes"),
                     warnings=found, converged=d["converged"], why=why)
