"""ORICA as include/demix/rules/orica.hpp states it, in NumPy. Run as a program, it prints the time per frame in ns."""
import json
import time

import numpy as np


def orthogonalised(W, y, u):
    """(W - y u^T W), then symmetric orthogonalisation, to the letter."""
    W -= np.outer(y, u @ W)
    s, V = np.linalg.eigh(W @ W.T)
    return (V / np.sqrt(s)) @ (V.T @ W)


def rotated(W, y, u):
    """The same for an orthogonal W and u^T y < 1 (which can fail in the first frames, while lambda is large), as a
    rotation in the plane of y and u."""
    length = np.sqrt(y @ y)
    a = u @ y
    p = y / length
    q = u - a / length * p
    rest = np.sqrt(q @ q)
    if rest <= 1e-12 * np.sqrt(u @ u):
        return W
    q /= rest
    b = length * rest
    r = np.hypot(b, 2 - a)
    cosine, sine = (2 - a) / r, b / r
    plane = np.array([p, q])
    W += plane.T @ (np.array([[cosine - 1, -sine], [sine, cosine - 1]]) @ (plane @ W))
    return W


class Orica:
    def __init__(self, W, eta=.995):
        d = len(W)
        self.eta = eta
        self.W, self.P, self.frames = W.copy(), np.eye(d), 0
        self.sech2, self.power, self.slope = np.ones((3, d))

    def step(self, x, separated):
        self.frames += 1
        rate = min(.5, self.eta * self.frames ** -.6)
        v = self.P @ x
        y = self.W @ v

        f = np.tanh(y)
        self.sech2 += rate * (1 - f * f - self.sech2)
        self.power += rate * (y * y - self.power)
        self.slope += rate * (y * f - self.slope)
        f *= np.where(self.sech2 * self.power >= self.slope, -2, 2)
        self.W = separated(self.W, y, rate / (1 + rate * (f @ y - 1)) * f)

        self.P -= np.outer(v / ((1 - rate) / rate + v @ v), v @ self.P)
        self.P /= 1 - rate
        return y


def main():
    times = {}
    for d, frames in ((4, 2000), (32, 600), (128, 60)):
        rng = np.random.default_rng(1)
        A = rng.standard_normal((d, d)) / np.sqrt(d)
        rule = Orica(np.linalg.qr(rng.standard_normal((d, d)))[0])
        for x in rng.laplace(size=(2000, d)) @ A.T:
            rule.step(x, rotated)
        rule.frames = 100000
        for separated in (orthogonalised, rotated):
            X = rng.laplace(size=(frames, d)) @ A.T
            start = time.process_time()
            for x in X:
                rule.step(x, separated)
            times[f"{separated.__name__}/{d}"] = (time.process_time() - start) / frames * 1e9
    print(json.dumps(times))


if __name__ == "__main__":
    main()
