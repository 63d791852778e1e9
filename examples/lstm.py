"""Character LSTM with diagonal weights: two layers whose state is overwritten in place, 1024 steps long."""

import math
from pathlib import Path

import numpy as np
from _report import check, check_close, show_times

from s2sad import check_gradients, value_and_grad

DATA = Path(__file__).parent / "data"
WRT = ("main", "extra")


def read(path):
    """The arguments of `loss`: the file has l c b; main (l, 2, 4, b); extra (3, b); state (l, 2, b); sequence (c, b).

    main holds weights and biases of the forget, input and output gates and of the candidate; extra the weights of the
    input and the output and the bias of the output; state hidden and cell values.
    """
    words = path.read_text().split()
    layers, c, b = map(int, words[:3])
    cuts = np.cumsum([8 * layers * b, 3 * b, 2 * layers * b, c * b])
    main, extra, state, sequence, _ = np.split(np.array(words[3:], dtype=float), cuts)
    return main.reshape(layers, 2, 4, b), extra.reshape(3, b), state.reshape(layers, 2, b), sequence.reshape(c, b)


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def loss(main, extra, state, seq):
    """Mean negative log-probability of the next character."""
    b = main.shape[3]
    st = state.copy()
    inp = np.empty(b)
    ypred = np.empty(b)
    total = 0.0
    count = 0
    for t in range(seq.shape[0] - 1):
        for i in range(b):
            inp[i] = seq[t, i] * extra[0, i]
        for k in range(main.shape[0]):
            for i in range(b):
                h = st[k, 0, i]
                forget = sigmoid(inp[i] * main[k, 0, 0, i] + main[k, 1, 0, i])
                ingate = sigmoid(h * main[k, 0, 1, i] + main[k, 1, 1, i])
                outgate = sigmoid(inp[i] * main[k, 0, 2, i] + main[k, 1, 2, i])
                change = math.tanh(h * main[k, 0, 3, i] + main[k, 1, 3, i])
                st[k, 1, i] = st[k, 1, i] * forget + ingate * change
                st[k, 0, i] = outgate * math.tanh(st[k, 1, i])
            for i in range(b):
                inp[i] = st[k, 0, i]
        se = 2.0
        for i in range(b):
            ypred[i] = inp[i] * extra[1, i] + extra[2, i]
            se += math.exp(ypred[i])
        lse = math.log(se)
        for i in range(b):
            total += seq[t + 1, i] * (ypred[i] - lse)
        count += b
    return -total / count


def main():
    weights, extra, state, seq = args = read(DATA / "lstm_l2_c1024.txt")
    gradient = value_and_grad(loss, wrt=WRT)

    print("Checks:")
    value, grads = gradient(*args)
    reference = np.load(DATA / "lstm_reference.npz")
    check_close("value, against the hand-written C++", value, reference["value"], 1e-12)
    for name, g in zip(WRT, grads, strict=True):
        check_close(f"gradient by {name}, against the hand-written C++", g, reference["grad_" + name])
    print(" ", check_gradients(loss, weights, extra, state, seq[:6], wrt=WRT))

    print("Time:")
    show_times(gradient, *args)

    print("Fit:")
    rate, now, last, momentum = 2.0, [weights, extra], value, [0.0, 0.0]
    for _ in range(60):  # gradient steps with momentum
        last, grads = gradient(*now, state, seq)
        momentum = [0.9 * m - rate * g for m, g in zip(momentum, grads, strict=True)]
        now = [p + m for p, m in zip(now, momentum, strict=True)]
    check("60 gradient steps lower the loss", last < 0.9 * value, f"{value:.5f} -> {last:.5f}")


if __name__ == "__main__":
    main()
