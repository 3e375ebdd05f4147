"""Networks, rules by name, a rule of one's own, comparisons."""
import json

import numpy as np
import pytest

import demix

pytestmark = pytest.mark.filterwarnings("ignore::demix.DemixWarning")


@pytest.fixture(scope="module")
def scenario():
    return demix.make_scenario(1, 30000, random_state=2)


def published(x, W, M, eta, tau, inverse_lambda2):
    """Algorithm 1 in NumPy."""
    c = W @ x
    y = np.linalg.solve(M, c)
    W = W + 2 * eta * np.outer(y - (y @ y) * inverse_lambda2 * c, x)
    M = M + eta / tau * (np.outer(y, y) - np.eye(len(y)))
    return y, W, M


def test_the_papers_network(scenario):
    _, A, X = scenario
    lambda_ = [1, 1.5, 1.8]
    net = demix.SmIcaNetwork(3, eta=5e-3, tau=0.75, lambda_=lambda_)
    W, M = net.W, net.M
    for x in X[:200]:
        y, W, M = published(x, W, M, 5e-3, 0.75, np.array(lambda_))
        np.testing.assert_allclose(net.step(x), y, atol=1e-9)
    np.testing.assert_allclose(net.W, W, atol=1e-9)
    np.testing.assert_allclose(net.M, M, atol=1e-9)
    assert net.activity == pytest.approx(y @ y) and net.frames == 200 and net.c.shape == (3,)
    trace = net.trace(X[200:], every=1000)
    assert trace.W.shape == trace.M.shape == (30, 3, 3) and trace.Y.shape == (29800, 3)
    assert list(trace.frames[-2:]) == [29000, 29800]
    np.testing.assert_array_equal(trace.W[-1], net.W)
    assert demix.amari(net.unmixing, A) < 0.2 and net.failure == ""
    one, other = (demix.SmIcaNetwork(3, 5e-3, 0.75, lambda_) for _ in range(2))
    joined = np.concatenate([one.process(X[:777]), one.process(X[777:])])
    np.testing.assert_array_equal(joined, other.process(X))
    one.set_weights(np.eye(3), 2 * np.eye(3))
    np.testing.assert_allclose(one.unmixing, np.eye(3) / 2, atol=1e-15)


def test_it_says_when_it_fails(scenario):
    net = demix.SmIcaNetwork(3, eta=10, tau=20)
    Y = net.process(scenario[2])
    assert net.failure and (Y[-1] == 0).all()


def test_the_natural_network(scenario):
    _, A, X = scenario
    net = demix.NaturalNetwork(3)
    trace = net.trace(X, every=500)
    net.refresh()
    assert net.rank == 3 and demix.amari(net.unmixing, A) < 0.05
    assert trace.W.shape[1:] == (3, 3)


@pytest.mark.parametrize("name", [row["name"] for row in demix.methods() if row["online"]])
def test_every_rule_by_name(scenario, name):
    net = demix.Network(name, 3)
    Y = net.process(scenario[2][:2000])
    assert Y.shape == (2000, 3) and np.isfinite(Y).all()
    net.finish()
    assert net.unmixing.shape == (3, 3)


class Easi(demix.Rule):
    """EASI with cubic g, as the library has it."""

    eta = 1e-3

    def __init__(self, inputs, outputs, *, seed=0):
        super().__init__(inputs, outputs, seed=seed)
        self.W = np.eye(outputs, inputs)

    def learn(self, x, y):
        g = y**3
        self.W -= self.eta * (np.outer(y, y) - np.eye(len(y)) + np.outer(g, y) - np.outer(y, g)) @ self.W


class Diverging(demix.Rule):
    def learn(self, x, y):
        self.W = self.W * 1.1


def test_a_rule_of_ones_own(scenario):
    S, A, X = scenario
    net = demix.Network(Easi, 3)
    net.process(X)
    assert demix.amari(net.unmixing, A) < 0.1
    ica = demix.ICA(method=Easi, passes=2, shuffle=True).fit(X)
    assert demix.amari(ica.components_, A) < 0.1 and ica.model_.method == "own-rule"
    bad = demix.Network(Diverging, 3)
    bad.process(X)
    assert "without bound" in bad.failure
    with pytest.raises(demix.DivergedError, match="diverged"):
        demix.ICA(method=Diverging).fit(X)


def test_errors_of_a_rule_come_through(scenario):
    X = scenario[2][:100]

    class Broken(demix.Rule):
        def learn(self, x, y):
            raise KeyError("mine")

    class Short(demix.Rule):
        def respond(self, x):
            return x[:1]

        def learn(self, x, y):
            pass

    class Silent(demix.Rule):
        pass

    for run in (lambda rule: demix.Network(rule, 3).process(X), lambda rule: demix.ICA(method=rule).fit(X),
                lambda rule: demix.compare(1, [rule], n_samples=100, seeds=2)):
        with pytest.raises(KeyError, match="mine"):
            run(Broken)
        with pytest.raises(ValueError, match="expected 3 outputs"):
            run(Short)
        with pytest.raises(NotImplementedError, match="learn"):
            run(Silent)
    with pytest.raises(TypeError):
        demix.Network(int, 3)


def test_compare(program, tmp_path):
    found = demix.compare(1, [Easi, "easi", "sm-ica"], n_samples=3000, seeds=3)
    assert found.labels == ["Easi", "easi", "sm-ica"] and found.now["Easi"]["runs"] == 3
    assert found.now["sm-ica"]["separated"] >= 2 and "sm-ica" in str(found)
    many = demix.compare(1, ["easi", "sm-ica"], n_samples=3000, seeds=3, n_jobs=2)
    out = json.loads(program("compare", "--scenario", "1", "--method", "easi,sm-ica", "--frames", "3000", "--draws",
                             "3", "--json").stdout)
    out = out[0] if isinstance(out, list) else out
    problem = (out.get("problems") or [out])[0]
    for row in problem["methods"]:
        for f in found, many:
            np.testing.assert_allclose(f.now[row["method"]]["median"], row["mse"]["median"], rtol=1e-5)
    assert list(problem["frames"]) == list(found.frames)
    drawn = demix.compare(["laplace", "uniform"], "sm-ica", n_samples=500, seeds=2, condition=3)
    recorded = demix.compare(demix.make_sources(["laplace", "uniform"], 500), ["sm-ica"], seeds=2, shuffle=True)
    assert drawn.frames[-1] == recorded.frames[-1] == 500
