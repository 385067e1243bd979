"""Cases for the forms of an exported graph: control flow, nested outputs, outputs that are no tensors, tensors without
elements. Rows of make_cases.py, which calls add()."""
import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.map import map as mapped
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim


def chosen(s, x):
    """A branch that a buffer selects, and a branch that the input selects."""
    def first(x):
        return s.a(x), x + 1

    def second(x):
        return torch.relu(s.b(x)), x * 2
    known, shifted = torch.cond(s.fixed_mode > 2, first, second, [x])
    y, scaled = torch.cond(x.sum() > 0, first, second, [x])
    return known, shifted, y, scaled


def sized(s, x):
    return torch.cond(x.shape[0] > 2, lambda x: s.a(x), lambda x: s.b(x), [x])


def repeated(s, x):
    steps, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, torch.tanh(s.a(y))), (torch.tensor(0), x))
    return y + steps


def recurrent(s, x):
    def step(h, u):
        h = torch.tanh(s.a(u) + s.b(h))
        return h, h * 2
    return scan(step, torch.zeros(6), x, dim=0)


def backwards(s, x):
    return scan(lambda h, u: (h * 0.5 + u, h + u), torch.zeros(6), x, dim=1, reverse=True)


def converging(s, x):
    return while_loop(lambda y: y.sum() < 30, lambda y: (y.abs() + 1,), (x,))[0]


def nested(s, x):
    """None, numbers and strings are omitted; keys are the names of outputs."""
    y = s.a(x)
    return {'logits': y, 'loss': None, 'heads': [y * 2, {'score': y.sum(-1)}], 'classes': 5, 'kind': 'sum'}


def empty(s, x):
    nothing = x[:, :0]
    return (torch.cat([nothing, s.a(x)], 1), F.pad(x[:0], (0, 0, 0, 4), value=0.5) + x, x[:0].sum(0) + x,
            nothing @ x.new_zeros(0, 5) + s.a(x), torch.cat([s.fixed_none, x]))


def add(rows):
    case, Net = rows.case, rows.Net
    a, b = (lambda: nn.Linear(6, 5)), (lambda: nn.Linear(6, 6))
    case('form_cond', Net(chosen, a=a(), b=a(), fixed_mode=rows.Buffer(torch.tensor(3))), (4, 6))
    case('form_cond_sizes', Net(sized, a=a(), b=a()), (1, 6), dims={'x': {0: Dim('rows', min=1, max=16)}}, example=[(5, 6)])
    case('form_while', Net(repeated, a=b()), (4, 6))
    case('form_scan', Net(recurrent, a=b(), b=b()), (4, 6))
    case('form_scan_reverse', Net(backwards), (6, 3))
    case('form_map', Net(lambda s, x, y: mapped(lambda r, y: s.a(r) * y, x, y), a=a()), (4, 6), (5,))
    case('form_while_open', Net(converging), (4, 6), expect='unsupported', op='higher_order.while_loop')
    case('form_nested_outputs', Net(nested, a=a()), (4, 6))
    case('form_empty', Net(empty, a=a(), fixed_none=rows.Buffer(torch.zeros(0, 6))), (4, 6))
