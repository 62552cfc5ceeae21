#!/usr/bin/env python3
"""Makes optimizers.h: 50 updates of a small network by each optimizer and schedule in PyTorch, in double precision.

  make_optimizers.py        (needs PyTorch)

The network is Dense 7, tanh, Dense 3 on rows of 5 features; rows, labels and first weights are formulas that
test_optimizers.c has too. LARS, SAM, the conservative objective and Keras' Adam, which torch.optim has not, and Muon,
which computes in bfloat16 there, are written out.
"""
import math, os

import torch
import torch.nn.functional as F
from torch.optim import lr_scheduler as schedulers

UPDATES, ROWS, FEATURES, HIDDEN, CLASSES = 50, 8, 5, 7, 3
torch.set_default_dtype(torch.float64)


def batch(update):
    x = [[math.sin(1 + 0.7 * update + 1.3 * n + 2.1 * i + 0.5 * n * i) for i in range(FEATURES)] for n in range(ROWS)]
    return torch.tensor(x), torch.tensor([(update * update + 2 * n) % CLASSES for n in range(ROWS)])


def first_weights():
    shapes, k, made = [(FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)], 0, []
    for shape in shapes:
        count = math.prod(shape)
        made.append(torch.tensor([0.6 * math.sin(k + i + 1) for i in range(count)]).reshape(shape).requires_grad_(True))
        k += count
    return made


def loss_of(p, data):
    x, labels = data
    return F.cross_entropy(torch.tanh(x @ p[0] + p[1]) @ p[2] + p[3], labels)


def groups(p, decay):
    """No decay on biases."""
    return [{"params": [p[0], p[2]], "weight_decay": decay}, {"params": [p[1], p[3]], "weight_decay": 0}]


def torch_update(optimizer, p, data, clip=0):
    """One update; the loss before it."""
    optimizer.zero_grad()
    loss = loss_of(p, data)
    loss.backward()
    if clip:
        torch.nn.utils.clip_grad_norm_(p, clip)
    optimizer.step()
    return loss.item()


def sam_update(optimizer, p, data, rho):
    """Foret et al. 2021, algorithm 1."""
    gradient = torch.autograd.grad(loss_of(p, data), p)
    norm = torch.sqrt(sum((g ** 2).sum() for g in gradient))
    with torch.no_grad():
        saved = [w.clone() for w in p]
        for w, g in zip(p, gradient):
            w += rho * g / (norm + 1e-12)
    optimizer.zero_grad()
    loss = loss_of(p, data)
    loss.backward()
    with torch.no_grad():
        for w, s in zip(p, saved):
            w.copy_(s)
        before = loss_of(p, data).item()
    optimizer.step()
    return before


def lars_update(optimizer, p, data, trust, decay):
    """You et al. 2017, algorithm 1, lr outside the velocity; biases keep their rate and do not decay."""
    optimizer.zero_grad()
    loss = loss_of(p, data)
    loss.backward()
    with torch.no_grad():
        for w in p:
            if w.ndim == 2:
                ratio = trust * w.norm() / (w.grad.norm() + decay * w.norm() + 1e-9)
                w.grad = ratio * (w.grad + decay * w)
    optimizer.step()
    return loss.item()


def orthogonal(d, steps):
    """The iteration of https://kellerjordan.github.io/posts/muon/, d being [outputs, inputs]."""
    x = d / (d.norm() + 1e-7)
    x = x if d.shape[0] <= d.shape[1] else x.T
    for _ in range(steps):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x if d.shape[0] <= d.shape[1] else x.T


def muon_update(optimizer, velocity, p, data, normalise, steps):
    """The first weights by Muon at 0.05, momentum 0.9, decay 0.02; optimizer has all others."""
    optimizer.zero_grad()
    p[0].grad = None
    loss = loss_of(p, data)
    loss.backward()
    with torch.no_grad():
        w, g = p[0].T, p[0].grad.T  # [outputs, inputs]
        velocity.mul_(0.9).add_(g)
        x = orthogonal(g + 0.9 * velocity, steps)
        if normalise:
            w.mul_(len(w) ** 0.5 / (w.norm() + 1e-7))
        w.sub_(0.05 * (0.02 * w + max(1, w.shape[0] / w.shape[1]) ** 0.5 * x))
    optimizer.step()
    return loss.item()


def prox_update(p, data, lr, gamma, steps):
    """Li et al. 2014: gradient descent on loss + gamma/2 |w - w0|^2, w0 being the weights before the update."""
    anchor, first = [w.detach().clone() for w in p], None
    for _ in range(steps):
        loss = loss_of(p, data)
        first = loss.item() if first is None else first
        objective = loss + gamma / 2 * sum(((w - a) ** 2).sum() for w, a in zip(p, anchor))
        for w, g in zip(p, torch.autograd.grad(objective, p)):
            w.data -= lr * g
    return first


def keras_adam_update(state, p, data, lr):
    """Kingma and Ba 2015, end of section 2: epsilon beside the uncorrected root."""
    loss = loss_of(p, data)
    gradient = torch.autograd.grad(loss, p)
    state.setdefault("t", 0)
    state["t"] += 1
    rate = lr * math.sqrt(1 - 0.999 ** state["t"]) / (1 - 0.9 ** state["t"])
    for i, (w, g) in enumerate(zip(p, gradient)):
        m, v = state.get(i, (torch.zeros_like(w), torch.zeros_like(w)))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        state[i] = m, v
        w.data -= rate * m / (v.sqrt() + 1e-7)
    return loss.item()


def sgd(p, lr, **options):
    return torch.optim.SGD(p, lr, **options)


def stepper(name, p):
    """A function of a batch that makes one update and returns the loss before it."""
    state = {}
    plain = {"sgd": lambda: sgd(p, 0.2), "momentum": lambda: sgd(p, 0.1, momentum=0.9),
             "nesterov_decay": lambda: sgd(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.02),
             "adam": lambda: torch.optim.Adam(p, 0.02),
             "adam_decay": lambda: torch.optim.Adam(p, 0.02, weight_decay=0.05),
             "adamw": lambda: torch.optim.AdamW(p, 0.02, weight_decay=0.1),
             "adamw_groups": lambda: torch.optim.AdamW(groups(p, 0.1), 0.02),
             "momentum_groups": lambda: sgd(groups(p, 0.05), 0.1, momentum=0.9)}
    if name in plain:
        optimizer = plain[name]()
        return lambda data: torch_update(optimizer, p, data)
    if name == "clip":
        optimizer = sgd(p, 0.2, momentum=0.9)
        return lambda data: torch_update(optimizer, p, data, clip=0.3)
    if name == "lars":
        optimizer = sgd(p, 0.5, momentum=0.9)
        return lambda data: lars_update(optimizer, p, data, 0.02, 0.01)
    if name in ("sam", "sam_adam"):
        optimizer = sgd(p, 0.1, momentum=0.9) if name == "sam" else torch.optim.Adam(p, 0.02)
        return lambda data: sam_update(optimizer, p, data, 0.2)
    if name in ("muon", "muon_normalised"):
        optimizer = sgd(p[1:], 0.05, momentum=0.8, nesterov=True, weight_decay=0.02)
        velocity = torch.zeros(HIDDEN, FEATURES)
        return lambda data: muon_update(optimizer, velocity, p, data, *((True, 3) if name != "muon" else (False, 5)))
    if name == "prox":
        return lambda data: prox_update(p, data, 0.1, 2.0, 4)
    return lambda data: keras_adam_update(state, p, data, 0.02)


OPTIMIZERS = ["sgd", "momentum", "nesterov_decay", "adam", "keras_adam", "adam_decay", "adamw", "adamw_groups",
              "momentum_groups", "clip", "lars", "sam", "sam_adam", "prox",
              "muon", "muon_normalised"]


def run(name):
    p = first_weights()
    step = stepper(name, p)
    losses = [step(batch(u)) for u in range(UPDATES)]
    return losses, [v for w in p for v in w.detach().reshape(-1).tolist()]


def scheduler(name, optimizer):
    """10 updates to an epoch; lr is 0.2 and lr_min, where there is one, 0.02."""
    warm = lambda: schedulers.LinearLR(optimizer, start_factor=1 / 15, end_factor=1, total_iters=14)
    cosine = lambda updates: schedulers.CosineAnnealingLR(optimizer, updates, eta_min=0.02)
    if name == "warm_cosine":  # a warm-up of one and a half epochs
        return schedulers.SequentialLR(optimizer, [warm(), cosine(UPDATES - 15)], milestones=[15])
    if name == "warm_constant":
        return warm()
    return {
        "constant": lambda: schedulers.ConstantLR(optimizer, factor=1, total_iters=0),
        "steps": lambda: schedulers.StepLR(optimizer, 20, gamma=0.3), "cosine": lambda: cosine(UPDATES),
        "linear": lambda: schedulers.LinearLR(optimizer, start_factor=1, end_factor=0.1, total_iters=UPDATES),
        "triangular": lambda: schedulers.CyclicLR(optimizer, 0.02, 0.2, step_size_up=20, cycle_momentum=False)
    }[name]()


SCHEDULES = ["constant", "steps", "cosine", "linear", "triangular", "warm_cosine", "warm_constant"]


def run_schedule(name):
    """Momentum under a schedule: rates and losses."""
    p = first_weights()
    optimizer = sgd(p, 0.2, momentum=0.5)
    schedule, rates, losses = scheduler(name, optimizer), [], []
    for u in range(UPDATES):
        rates.append(optimizer.param_groups[0]["lr"])
        losses.append(torch_update(optimizer, p, batch(u)))
        schedule.step()
    return rates, losses


def rows(values):
    lines = [", ".join(f"{v:.15g}" for v in values[i:i + 6]) for i in range(0, len(values), 6)]
    return "{" + ",\n     ".join(lines) + "}"


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers.h")
    with open(path, "w") as f:
        f.write(f"/* optimizers.h - made by make_optimizers.py with PyTorch {torch.__version__}: what "
                "test_optimizers.c follows. */\n")
        f.write("static const struct {\n    const char *name;\n"
                "    double loss[50]; /* of each update's batch, before it */\n"
                "    double weights[66];\n} optimizer_goldens[] = {\n")
        for name in OPTIMIZERS:
            losses, weights = run(name)
            print(name, losses[0], losses[-1])
            f.write(f'    {{"{name}",\n     {rows(losses)},\n     {rows(weights)}}},\n')
        f.write("};\n\nstatic const struct {\n    const char *name;\n    double lr[50], loss[50];\n"
                "} schedule_goldens[] = {\n")
        for name in SCHEDULES:
            rates, losses = run_schedule(name)
            f.write(f'    {{"{name}",\n     {rows(rates)},\n     {rows(losses)}}},\n')
        f.write("};\n")


if __name__ == "__main__":
    main()
