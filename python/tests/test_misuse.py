"""200 kinds of misuse: each a ValueError or TypeError in one line that names what was wrong, never a crash."""

import numpy as np
import pytest

import demix

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.random.default_rng(0).laplace(size=(200, 3))
NAN = X.copy()
NAN[7, 1] = np.nan
INF = X.copy()
INF[7, 1] = -np.inf
EYE = np.eye(3)


class Rule(demix.Rule):
    def learn(self, x, y):
        pass


class NoRule:
    def __init__(self, inputs, outputs, *, seed):
        pass


def sparse():
    from scipy import sparse
    return sparse.csr_matrix(X)


def ica(**options):
    return lambda: demix.ICA(**options).fit(X)


def stream(**options):
    return lambda: demix.StreamICA(**options).fit(X)


def fitted():
    return demix.ICA(method="fobi").fit(X)


def live():
    return demix.StreamICA().partial_fit(X)


# What data can be.
BAD_DATA = {
    "nan": NAN, "inf": INF, "one dimension": X[0], "three dimensions": X[None], "no samples": X[:0],
    "no channels": X[:, :0], "one channel": X[:, :1], "few samples": X[:3], "one sample": X[:1],
    "strings": [["a", "b"]], "complex": X + 1j, "none": None, "a number": 3.0, "a string": "X", "a dict": {"a": 1},
    "objects": [[object()] * 3] * 9, "ragged": [[1, 2], [3]], "huge": X * 1e200, "constant": np.ones((50, 3)),
    "tiny": X * 1e-200,
    "dates": np.zeros((9, 3), "M8[s]"),
}

CASES = {}
for what, data in BAD_DATA.items():
    CASES[f"ICA.fit: {what}"] = lambda data=data: demix.ICA().fit(data)
    CASES[f"fastica: {what}"] = lambda data=data: demix.fastica(data)
    if what not in ("few samples", "constant", "one sample", "huge", "tiny", "one channel", "no samples"):
        CASES[f"Model.apply: {what}"] = lambda data=data: demix.Model(EYE).apply(data)
        CASES[f"StreamICA.transform: {what}"] = lambda data=data: live().transform(data)
    if what not in ("few samples", "one sample", "constant", "huge", "tiny", "nan", "inf"):
        CASES[f"StreamICA.partial_fit: {what}"] = lambda data=data: demix.StreamICA().partial_fit(data)
    if what not in ("few samples", "one sample", "constant", "huge", "tiny", "nan", "inf", "no samples"):
        CASES[f"Network.process: {what}"] = lambda data=data: demix.Network("easi", 3).process(data)

# What options can be.
BAD_OPTIONS = {
    "n_components": [0, -1, 1.5, -0.5, "3", True, np.nan, [2], 2j],
    "method": ["nothing", "", 3, None, b"fobi", NoRule, int],
    "form": ["nothing", 3, b"exp"],
    "whiten": ["yes", 3, None],
    "order": ["size", 3],
    "max_iter": [0, -1, 1.5, "10", 10],  # auto has none
    "tol": [0, -1e-3, "small", np.inf, 1e-3],
    "eta": [0, -1, "fast", np.nan, 1e-3],
    "tau": [0, 1.0],
    "lambda_": [[1, 1], "abc", 3, [1, "2"], [np.nan]],
    "weight": ["heavy", 3],
    "passes": [0, -1, 1.5, 2],
    "shuffle": [1, "yes", True],
    "stability": [-1, 1.5, "2"],
    "start": [EYE, "x", np.zeros((2, 2)), [1, 2]],
    "random_state": [-1, 2**64, 1.5, "seed"],
    "n_jobs": [0, 1.5, "all"],
    "progress": [3, "yes"],
}
for name, values in BAD_OPTIONS.items():
    for value in values:
        CASES[f"ICA({name}={value!r})"] = ica(**{name: value})
for name, values in {
    "n_components": [0, -1, 4, 1.5, "3", True, 0.99], "learn": ["all", 3, None], "memory": [0, -1, 10, "long", np.inf],
    "robust": [1, "yes"], "saturation": [0, -1, "much"], "replay": [0, -1, 1.5, "x"],
    "start": [3, "model.json", demix.Model(np.eye(4))], "freeze": [1, True], "random_state": [-1, 1.5],
}.items():
    for value in values:
        CASES[f"StreamICA({name}={value!r})"] = stream(**{name: value})

CASES.update({
    # Methods that cannot do what is asked.
    "eta of fastica": ica(method="fastica", eta=1e-3),
    "weights of fobi's rival": ica(method="jade", weight="log"),
    "lambda of fobi": ica(method="fobi", lambda_=[1, 2, 3]),
    "start of fobi": ica(method="fobi", start=EYE),
    "a start of another size": ica(method="fastica", start=np.eye(2)),
    "a start that is not finite": ica(method="fastica", start=EYE * np.nan),
    "tolerance of 1": ica(method="fastica", tol=1.0),
    "form of another method": ica(method="picard", form="exp"),
    "stability of online methods": ica(method="stream", stability=2),
    "order of online methods": ica(method="easi", order="power"),
    "passes of batch methods": ica(method="jade", passes=2),
    "components of a square rule": ica(method="easi", n_components=2),
    "a share of an online method": ica(method="sm-ica", n_components=0.5),
    "white input": lambda: demix.ICA(method="nonlinear-oja").fit(X @ np.diag([1, 10, 100])),
    "whiten=False of coloured data": lambda: demix.ICA(method="fobi", whiten=False).fit(X @ np.diag([1, 10, 100])),
    "too many components of jade": lambda: demix.ICA(method="jade").fit(
        np.random.default_rng(0).laplace(size=(200, 65))),
    "weights too short": lambda: demix.ICA().fit(X, sample_weight=np.ones(5)),
    "weights that are negative": lambda: demix.ICA().fit(X, sample_weight=-np.ones(200)),
    "weights that are nan": lambda: demix.ICA().fit(X, sample_weight=np.full(200, np.nan)),
    "weights that are 0": lambda: demix.ICA().fit(X, sample_weight=np.zeros(200)),
    "weights of two dimensions": lambda: demix.ICA().fit(X, sample_weight=np.ones((200, 2))),
    "weights of an online method": lambda: demix.ICA(method="stream").fit(X, sample_weight=np.ones(200)),
    "sparse data": lambda: demix.ICA().fit(sparse()),
    "sparse data for a model": lambda: demix.Model(EYE).apply(sparse()),
    # Estimators in the wrong order.
    "transform before fit": lambda: demix.ICA().transform(X),
    "remove before fit": lambda: demix.ICA().remove(X, 0),
    "inverse before fit": lambda: demix.ICA().inverse_transform(X),
    "stream: transform before fit": lambda: demix.StreamICA().transform(X),
    "stream: state before fit": lambda: demix.StreamICA().state(),
    "stream: status before fit": lambda: demix.StreamICA().status(),
    "stream: finish before fit": lambda: demix.StreamICA().finish(),
    "transform of other channels": lambda: fitted().transform(X[:, :2]),
    "inverse of other components": lambda: fitted().inverse_transform(X[:, :2]),
    "remove a component that is not": lambda: fitted().remove(X, 3),
    "remove a negative component": lambda: fitted().remove(X, [-1]),
    "remove a part of a component": lambda: fitted().remove(X, 0.5),
    "remove by name": lambda: fitted().remove(X, "first"),
    "stream: other channels": lambda: live().partial_fit(X[:, :2]),
    "stream: process other channels": lambda: live().process(X[:, :2]),
    "stream: inverse of other components": lambda: live().inverse_transform(X[:, :2]),
    "stream: a state that is none": lambda: demix.StreamICA.from_state(b"nothing"),
    "stream: an empty state": lambda: demix.StreamICA.from_state(b""),
    "stream: a state cut off": lambda: demix.StreamICA.from_state(live().state()[:-1]),
    "stream: a state as text": lambda: demix.StreamICA.from_state("state"),
    "stream: a state of None": lambda: demix.StreamICA.from_state(None),
    # Functions.
    "fastica: own function": lambda: demix.fastica(X, fun=np.tanh),
    "fastica: fun": lambda: demix.fastica(X, fun="tanh"),
    "fastica: fun_args": lambda: demix.fastica(X, fun_args={"alpha": 1.5}),
    "fastica: algorithm": lambda: demix.fastica(X, algorithm="serial"),
    "fastica: whiten": lambda: demix.fastica(X, whiten="warn"),
    "fastica: w_init": lambda: demix.fastica(X, w_init=np.eye(2)),
    "fastica: max_iter": lambda: demix.fastica(X, max_iter=0),
    "fastica: tol": lambda: demix.fastica(X, tol=-1),
    "fastica: whiten_solver": lambda: demix.fastica(X, whiten_solver="lu"),
    "picard: fun": lambda: demix.picard(X.T, fun="exp"),
    "picard: transposed": lambda: demix.picard(X),
    "picard: X that is not white": lambda: demix.picard(3 * X.T, whiten=False),
    "picard: ortho": lambda: demix.picard(X.T, ortho="yes"),
    "picard: w_init": lambda: demix.picard(X.T, w_init=np.eye(2)),
    "picard: extended": lambda: demix.picard(X.T, extended="yes"),
    # Models.
    "model: not a matrix": lambda: demix.Model([1, 2, 3]),
    "model: empty": lambda: demix.Model(np.zeros((0, 0))),
    "model: more components than channels": lambda: demix.Model(np.ones((3, 2))),
    "model: not finite": lambda: demix.Model(EYE * np.nan),
    "model: wrong mixing": lambda: demix.Model(EYE, 2 * EYE),
    "model: mixing of another shape": lambda: demix.Model(EYE, np.eye(2)),
    "model: mean of another length": lambda: demix.Model(EYE, mean=[1, 2]),
    "model: names of another number": lambda: demix.Model(EYE, names=["a"]),
    "model: names that are none": lambda: demix.Model(EYE, names=[1, 2, 3]),
    "model: singular": lambda: demix.Model(np.ones((3, 3))),
    "model: no JSON": lambda: demix.Model.from_json("nothing"),
    "model: other JSON": lambda: demix.Model.from_json("{}"),
    "model: bytes": lambda: demix.Model.from_json(b"{}"),
    "model: no file": lambda: demix.Model.load("/no/such/model.json"),
    "model: a folder": lambda: demix.Model.load("/tmp"),
    "model: no path": lambda: demix.Model.load(3),
    "model: saved nowhere": lambda: demix.Model(EYE).save("/no/such/folder/model.json"),
    "model: saved to a number": lambda: demix.Model(EYE).save(3),
    # Files.
    "read: no file": lambda: demix.read("/no/such/file.wav"),
    "read: join": lambda: demix.read("x.csv", join="rows"),
    "read: delimiter": lambda: demix.read("x.csv", delimiter=";;"),
    "separate_files: bad": lambda: demix.separate_files("x.csv", "out", bad=[3]),
    "separate_files: highpass": lambda: demix.separate_files("x.csv", "out", highpass=-1.0),
    "separate_files: decimate": lambda: demix.separate_files("x.csv", "out", decimate=0),
    "separate_files: pick": lambda: demix.separate_files("x.csv", "out", pick=[1]),
    "read: no kind": lambda: demix.read("/no/such/file.xyz"),
    "read: no extension": lambda: demix.read("file"),
    "read: a number": lambda: demix.read(3),
    "read: none": lambda: demix.read(None),
    "read: a zero in the path": lambda: demix.read("a\0b.wav"),
    "read: channels": lambda: demix.read("/tmp/x.f32", channels=-1),
    "read: rate": lambda: demix.read("/tmp/x.f32", rate=-1.0),
    "read: orientation": lambda: demix.read("/tmp/x.npy", orientation="rows"),
    "read: planes": lambda: demix.read("/tmp/x.png", planes=3),
    "read: variable": lambda: demix.read("/tmp/x.npz", variable=3),
    "separate_files: none": lambda: demix.separate_files([], "/tmp/none"),
    "separate_files: a number": lambda: demix.separate_files(3, "/tmp/none"),
    "separate_files: no file": lambda: demix.separate_files("/no/such/file.wav", "/tmp/none"),
    "separate_files: method": lambda: demix.separate_files("/no/such/file.wav", "/tmp/none", method=3),
    "separate_files: report": lambda: demix.separate_files("/no/such/file.wav", "/tmp/none", report="yes"),
    "apply_to_files: model": lambda: demix.apply_to_files(3, "/no/such/file.wav", "/tmp/none.wav"),
    "apply_to_files: remove": lambda: demix.apply_to_files(demix.Model(EYE), "/no/x.wav", "/tmp/x.wav", remove=3),
    # Networks.
    "network: no inputs": lambda: demix.SmIcaNetwork(0),
    "network: negative inputs": lambda: demix.SmIcaNetwork(-3),
    "network: too many inputs": lambda: demix.SmIcaNetwork(10**9),
    "network: eta": lambda: demix.SmIcaNetwork(3, eta=0),
    "network: tau below eta": lambda: demix.SmIcaNetwork(3, eta=1, tau=0.5),
    "network: equal lambdas": lambda: demix.SmIcaNetwork(3, lambda_=[1, 1, 2]),
    "network: negative lambdas": lambda: demix.SmIcaNetwork(3, lambda_=[1, -1, 2]),
    "network: two lambdas": lambda: demix.SmIcaNetwork(3, lambda_=[1, 2]),
    "network: reading": lambda: demix.SmIcaNetwork(3, lambda_=[1, 2, 3], reading="square"),
    "network: weight": lambda: demix.SmIcaNetwork(3, weight="heavy"),
    "network: dynamics": lambda: demix.SmIcaNetwork(3, dynamics="jump"),
    "network: autapses": lambda: demix.SmIcaNetwork(3, autapses=1),
    "network: more outputs than inputs": lambda: demix.SmIcaNetwork(3, outputs=4),
    "network: weights of another shape": lambda: demix.SmIcaNetwork(3).set_weights(np.eye(2), EYE),
    "network: M not positive definite": lambda: demix.SmIcaNetwork(3).set_weights(EYE, -EYE),
    "network: weights that are nan": lambda: demix.SmIcaNetwork(3).set_weights(EYE * np.nan, EYE),
    "network: a frame of another length": lambda: demix.SmIcaNetwork(3).step([1, 2]),
    "network: a frame of two dimensions": lambda: demix.SmIcaNetwork(3).step(X),
    "network: a frame of words": lambda: demix.SmIcaNetwork(3).step(["a", "b", "c"]),
    "network: trace every 0": lambda: demix.SmIcaNetwork(3).trace(X, every=0),
    "natural: lambdas": lambda: demix.NaturalNetwork(3, lambda_=[1, 2]),
    "natural: outputs": lambda: demix.NaturalNetwork(3, outputs=0),
    "online: a batch method": lambda: demix.Network("fobi", 3),
    "online: no method": lambda: demix.Network("nothing", 3),
    "online: a number": lambda: demix.Network(3, 3),
    "online: outputs of a square rule": lambda: demix.Network("easi", 3, outputs=2),
    "online: form": lambda: demix.Network("easi", 3, form="nothing"),
    "online: tau of a rule without": lambda: demix.Network("easi", 3, tau=1.0),
    "rule: a class that is none": lambda: demix.Network(NoRule, 3),
    "rule: an instance": lambda: demix.Network(Rule(3, 3), 3),
    "compare: no scenario": lambda: demix.compare(5, "easi"),
    "compare: true": lambda: demix.compare(True, "easi"),
    "compare: a name": lambda: demix.compare("laplace", "easi"),
    "compare: one source": lambda: demix.compare(["laplace"], "easi"),
    "compare: no such source": lambda: demix.compare(["laplace", "gauss"], "easi"),
    "compare: nan": lambda: demix.compare(NAN, "easi"),
    "compare: none": lambda: demix.compare(1, []),
    "compare: twice": lambda: demix.compare(1, ["easi", "easi"]),
    "compare: a batch method": lambda: demix.compare(1, "fobi"),
    "compare: a rate": lambda: demix.compare(1, "easi@fast"),
    "compare: a number": lambda: demix.compare(1, [3]),
    "compare: samples": lambda: demix.compare(1, "easi", n_samples=5),
    "compare: seeds": lambda: demix.compare(1, "easi", seeds=0),
    "compare: white scenario": lambda: demix.compare(1, "easi", white=True),
    "compare: condition": lambda: demix.compare(["laplace", "sine"], "easi", condition=0.5),
    # Metrics and sources.
    "amari: not square": lambda: demix.amari(np.ones((2, 3))),
    "amari: shapes": lambda: demix.amari(np.eye(3), np.eye(2)),
    "amari: nan": lambda: demix.amari(EYE * np.nan),
    "amari: words": lambda: demix.amari("P"),
    "md: empty": lambda: demix.md(np.zeros((0, 0))),
    "mse: shapes": lambda: demix.mse(X, X[:, :2]),
    "mse: lengths": lambda: demix.mse(X, X[:5]),
    "mse: nan": lambda: demix.mse(X, NAN),
    "sir: one dimension": lambda: demix.sir(X[0], X[0]),
    "mir: not square": lambda: demix.mutual_information_reduction(np.ones((2, 3)), X),
    "mir: constant": lambda: demix.mutual_information_reduction(EYE, np.ones((50, 3))),
    "sources: a name": lambda: demix.make_sources("laplace", 10),
    "sources: no such": lambda: demix.make_sources(["gauss"], 10),
    "sources: none": lambda: demix.make_sources([], 10),
    "sources: samples": lambda: demix.make_sources(["laplace"], 0),
    "sources: timing": lambda: demix.make_sources(["laplace"], 10, timing="slow"),
    "mixing: size": lambda: demix.make_mixing(0),
    "mixing: condition": lambda: demix.make_mixing(3, condition=0.1),
    "scenario: number": lambda: demix.make_scenario(5, 100),
    "scenario: samples": lambda: demix.make_scenario(1, 3),
    "scenario: seed": lambda: demix.make_scenario(1, 100, random_state="a"),
})


def test_there_are_200():
    assert len(CASES) >= 200


@pytest.mark.parametrize("case", CASES, ids=str)
def test_misuse(case):
    with pytest.raises((ValueError, TypeError)) as e:
        CASES[case]()
    text = str(e.value)
    assert 5 < len(text) and "incompatible function arguments" not in text, text
    assert len(text.splitlines()) <= (8 if "sklearn" in str(e.traceback[-1].path) else 1), text


def test_words_of_the_program(program, tmp_path):
    """What the program says after the name of the file is what Python says."""
    import subprocess
    for data in NAN, X[:3], np.ones((50, 3)), X * 1e200:
        np.save(tmp_path / "x.npy", data)
        with pytest.raises(subprocess.CalledProcessError) as theirs:
            program("fit", tmp_path / "x.npy", "--orientation", "frames", "-o", tmp_path / "m.json")
        with pytest.raises(ValueError) as ours:
            demix.ICA().fit(data)
        words = str(ours.value).removeprefix("X: ").split(";")[0]
        assert words in theirs.value.stderr.decode(), (words, theirs.value.stderr)
