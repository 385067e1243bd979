"""Integers that the import computes: positions from aten.arange and from buffers, and values that are written to them. Rows of
make_cases.py, which calls add()."""
import torch
import torch.nn.functional as F


def computed(s, x):
    """Bits, quotients, powers, comparisons and choices of known integers, as positions of x."""
    i = torch.arange(6)
    bits = ((i & 3) | (i << 1)) ^ (~i >> 1)
    near = torch.where((i > 2) & ~(i == 4) | (i <= 0), bits % 6, (-i).abs() // 2)
    chosen = torch.maximum(torch.minimum(near.clamp(0, 5), 5 - i), (i ** 2).remainder(3)).masked_fill(i >= 5, 1)
    return x[:, chosen], x[:, torch.div(chosen * 2 - i, 2, rounding_mode='trunc').sign() + 1]


def selected(s, x):
    """Known integers that are selected by others, repeated and cut."""
    i = torch.arange(16).view(4, 4)
    order = torch.tensor([2, 0, 3, 1])
    rows = i.index_select(1, order)
    cells = torch.gather(i, 0, order.expand(4, 4))
    pairs = i[order, torch.tensor([1, 3, 0, 2])]
    return (x[rows], x[cells], x[pairs], x[i[:, order]], x[F.embedding(order, i)], x[i.tril()], x[i.triu(1)], x[i.unfold(1, 2, 1)])


def reduced(s, x):
    i = torch.arange(12).view(3, 4)
    return x[i.sum(0)], x[i.cumsum(1) % 9], x[i.amax(1)], x[i.amin() + i.max() - i.min()], x[(i + 1).prod(1) % 7]


def reduced_more(s, x):
    i = torch.arange(12).view(3, 4)
    return x[i.diff(dim=1).sum(1)], x[(i > 3).any(1).long()], x[(i > 3).all(1).long() + i.sum() % 5], x[i.prod()]


def written(s, x):
    """Values at known positions along several dimensions; sums of several values at one position."""
    rows, columns = torch.tensor([0, 2, 2, -1]), torch.tensor([1, 1, 1, 0])
    y = x * 1
    y[rows, columns] = x[:, 0]
    z = torch.index_put(x, (rows, columns), x[0], accumulate=True)
    w = torch.index_put(x, (rows,), x[:4] * 2, accumulate=True)
    return y, z, w


def add(to):
    to.case('known_computed', to.Net(computed), (2, 6))
    to.case('known_selected', to.Net(selected), (16,))
    to.case('known_reduced', to.Net(reduced), (24,))
    to.case('known_reduced_more', to.Net(reduced_more), (24,))
    to.case('known_written', to.Net(written), (4, 4))
    to.case('known_written_core', to.Net(written), (4, 4), core=True)
