"""Cases of masks in linear and latent attention. Rows of make_cases.py, which calls add()."""
import torch


def decays(s, x):
    differences = x.unsqueeze(-1) - x.unsqueeze(-2)
    return differences.masked_fill(s.m, float('-inf')).exp(), torch.where(s.m, x, float('-inf')).exp()


def joined(s, x):
    y = x.new_empty(3, 7)
    y[:, :5].copy_(x)
    y[:, 5:].copy_(x[:, :2] * 2)
    return y


def selected(s, x):
    return x[:, s.fixed_columns], x[s.fixed_cells], x[torch.zeros(6) == 1].sum(0) + x[0]


def written(s, x):
    y = x * 1
    y[y > 0.3] = 0.5
    z = x * 1
    z[:, s.fixed_columns] = x[:, :3]
    z[s.fixed_cells] = 2
    return y, z


def adapted(s, x):
    """One of several layers, chosen by a number that the export knows."""
    language, y = 2 * torch.ones(6), torch.zeros_like(x)
    for number in range(3):
        here = language == number
        y[here] = s.l(x[here]) * (number + 1)
    return y


def ordered(s, x):
    scores = s.l(x).masked_fill(s.m, float('-inf'))
    first = scores.topk(3)
    return scores.argmax(1), first.indices, torch.softmax(first.values, 1), torch.where(scores == float('-inf'), 1.0, x)


def finite(s, x):
    y = s.l(x)
    return torch.nan_to_num(y), torch.logsumexp(y, 1), y * torch.linspace(-1, 1, 6), torch.where(y == float('-inf'), 1.0, y)


def add(rows):
    columns = rows.Buffer(torch.tensor([True, False, True, False, False, True]))
    cells = rows.Buffer(torch.eye(6) > 0)
    rows.case('mask_known', rows.Net(selected, fixed_columns=columns, fixed_cells=cells), (6, 6))
    rows.case('mask_written', rows.Net(written, fixed_columns=columns, fixed_cells=cells), (6, 6))
    rows.case('mask_of_layers', rows.Net(adapted, l=torch.nn.Linear(6, 6)), (6, 6))
    rows.case('mask_of_layers_core', rows.Net(adapted, l=torch.nn.Linear(6, 6)), (6, 6), core=True)
    rows.case('mask_ordered', rows.Net(ordered, l=torch.nn.Linear(6, 6), m=rows.Buffer(torch.ones(6, 6, dtype=torch.bool).triu(4))),
              (6, 6))
    rows.case('finite_core', rows.Net(finite, l=torch.nn.Linear(6, 6)), (6, 6), core=True)
    mask = rows.Buffer(torch.ones(6, 6, dtype=torch.bool).triu(1))
    rows.case('masked_exp', rows.Net(decays, m=mask), (6, 6))
    rows.case('new_empty', rows.Net(joined), (3, 5))
