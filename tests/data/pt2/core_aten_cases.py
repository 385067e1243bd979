"""Cases for operators of the core ATen list (docs/core-aten.md) that no network of make_cases.py has. Rows of
make_cases.py, which calls add()."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

aten = torch.ops.aten


def inverse_trigonometry(s, x):
    small = torch.tanh(x)
    return torch.asin(small), torch.acos(small), torch.atan(x), torch.asin(torch.sign(x)), torch.acos(torch.sign(x))


def powers(s, x):
    exponents = torch.tensor([[2., 3., 1., 0., 4.], [5., 2., 2., 3., 1.]])
    return (x ** exponents, torch.pow(torch.tensor([0.5, 2., 1., 3., 0.7]), x), torch.exp(x) ** x,
            torch.pow(torch.tensor(2 ** -0.25), torch.arange(1, 6)) * x[0, 0])


def numbers(s, x):
    y = aten.fmod.Scalar(x, 0.7) + aten.div.Scalar_mode(x, 0.5, rounding_mode='trunc') + aten.sub.Scalar(x, 0.25)
    return y + aten.div.Scalar(x, 3.0), aten.remainder.Scalar(x, -0.7)


def remainders(s, x, y):
    divisor = torch.where(y > 0, y + 0.5, y - 0.5)
    return torch.remainder(x, divisor), torch.fmod(x, divisor)


def logic(s, x, y):
    a, b = x > 0, y > 0.5
    return (torch.where(aten.bitwise_and.Tensor(a, b), x, y), torch.where(aten.bitwise_or.Tensor(a, b), x, y),
            torch.where(aten.bitwise_xor.Tensor(a, b), x, y), torch.where(torch.logical_or(torch.logical_and(a, b), x < y), x, y),
            torch.where(aten.bitwise_and.Scalar(a, True), x, y), torch.where(aten.bitwise_or.Scalar(a, False), x, y),
            torch.where(aten.bitwise_xor.Scalar(a, True), x, y))


def comparisons(s, x, y):
    z = torch.where(aten.ge.Scalar(x, 0.0), x, y) + torch.where(aten.ne.Scalar(x, 0.5), x, y)
    z = z + torch.where(aten.le.Tensor(x, y), x, y) * torch.where(aten.lt.Tensor(x, y), y, x)
    return torch.where(torch.isinf(x / torch.relu(x)), z, x), torch.where(aten.any.dims(x > 1, [1, 2], True), x, y)


def paddings(s, x):
    flat, volume = x[0], x.unsqueeze(2).expand(-1, -1, 3, -1, -1)
    return (aten.reflection_pad1d(flat, [2, 1]), aten.reflection_pad2d(x, [1, 2, 3, 1]), aten.reflection_pad3d(volume, [1, 1, 2, 1, 1, 2]),
            aten.replication_pad2d(x, [1, 2, 3, 1]), aten.replication_pad3d(volume, [1, 1, 2, 1, 1, 2]), aten.constant_pad_nd(x, [1, 2, 0, 1], 0.5))


def movements(s, x):
    y = aten.select_scatter(x, x[:, 1] * 2, 1, 0) + aten.copy(x, x[:1] + 1) + aten.fill.Scalar(x, 0.5)
    z = aten.index_put(y, [None, torch.tensor([2, 0])], x[:, :2])
    created = aten.empty_strided([2, 3], [3, 1]).fill_(0.5) + aten.empty.memory_format([2, 3]).fill_(2.0)
    return aten.alias(z), created + x[0, 0, :2, :3]


def diagonals(s, x):
    y = x * 1
    torch.diagonal(y, 1, 2, 3).mul_(3)
    return torch.diagonal(x[0, 0]), torch.diagonal(x, -1, 1, 2), torch.diagonal(x, -2, 3, 0), y


def reductions(s, x):
    volume = x.unsqueeze(1)
    return (aten._adaptive_avg_pool2d(x, [3, 2]), aten._adaptive_avg_pool3d(volume, [2, 3, 4]), aten._log_softmax(x, 1, False),
            aten._cdist_forward(x[0, 0], x[0, 1], 2.0, None), aten._pdist_forward(x[0, 2], 2.0), aten._pdist_forward(x[0, 2], 1.0),
            aten.mm(x[0, 0], x[0, 1]))


def sorting(s, x):
    values, order = torch.sort(x, 1)
    largest, first = torch.topk(x, 3, 2)
    return (values, order, torch.sort(x, 2, descending=True).values, largest, first, torch.topk(x, 2, 1, largest=False).values,
            torch.argsort(x, 0, descending=True), torch.sort((x > 0).float(), stable=True)[1])


def scatters(s, x, y, index):
    mean = aten.scatter_reduce.two(x, 1, index, y, 'mean')
    alone = aten.scatter_reduce.two(x, 1, index, y, 'mean', include_self=False) + aten.scatter_reduce.two(x, 1, index, y, 'sum', include_self=False)
    extremes = aten.scatter_reduce.two(x, 1, index, y, 'amax') + aten.scatter_reduce.two(x, 1, index, y, 'amin', include_self=False)
    return (torch.scatter(x, 1, torch.tensor([[0, 2], [1, 4], [3, 0]]), y), torch.scatter(x, 1, index, 0.5), torch.scatter_add(x, 1, index, y),
            mean, alone, extremes, aten.scatter_reduce.two(x, 1, index, y, 'prod'), torch.scatter_add(y, 1, torch.tensor([[1], [0], [1]]), x))


def masked(s, x, y):
    mask = torch.tensor([True, False, False, True, True])
    return torch.masked_scatter(x, mask, y), torch.masked_scatter(x, x > 0, y)


def sampled(s, x, grid):
    sample = lambda mode, padding, corners: F.grid_sample(x, grid, mode, padding, corners)
    return (sample('bilinear', 'zeros', False), sample('bilinear', 'border', True), sample('bilinear', 'reflection', False),
            sample('bilinear', 'reflection', True), sample('nearest', 'zeros', False), sample('bicubic', 'zeros', False))


def warped(s, x):
    theta = torch.tensor([[[0.8, -0.3, 0.1], [0.2, 0.9, -0.2]]])
    turned = s.l(x.mean((2, 3))).reshape(1, 2, 3)
    return (F.grid_sample(x, F.affine_grid(theta, [1, 3, 5, 4], align_corners=False), align_corners=False),
            F.grid_sample(x, F.affine_grid(turned, [1, 3, 4, 4], align_corners=True), align_corners=True))


def pool_gradients(s, x):
    adaptive = aten._adaptive_avg_pool2d_backward(aten._adaptive_avg_pool2d(x, [3, 2]), x)
    y = adaptive
    for args in [([2, 2], [2, 2], [0, 0], False, True, None), ([3, 3], [2, 2], [1, 1], True, False, None), ([3, 2], [1, 2], [1, 0], False, True, 5)]:
        y = y + aten.avg_pool2d_backward(aten.avg_pool2d(x, *args), x, *args)
    return adaptive, y


def layer_gradients(s, x, index):
    g = F.conv2d(x, s.c, None, 2, 1)
    image = aten.convolution_backward(g, x, s.c, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1, [True, False, False])[0]
    y, mean, rstd = aten.native_layer_norm(x, [8, 8], s.w, s.b, 1e-5)
    rows = aten.native_layer_norm_backward(torch.tanh(y), x, [8, 8], mean, rstd, s.w, s.b, [True, False, False])[0]
    z, group_mean, group_rstd = aten.native_group_norm(x, s.v, s.v, 1, 4, 64, 2, 1e-5)
    groups = aten.native_group_norm_backward(torch.tanh(z), x, group_mean, group_rstd, s.v, 1, 4, 64, 2, [True, False, False])[0]
    return image, rows, groups, aten.embedding_dense_backward(x[0, 0, :5], index, 7, -1, False)


def normalized(s, x):
    y, kept = aten.native_dropout(x, 0.0, False)
    z = aten._native_batch_norm_legit(y, s.w, s.w, s.fixed_mean, s.fixed_var, False, 0.1, 1e-5)[0]
    return torch.where(kept, z, x)


def sizes(s, x):
    return x.reshape(x.numel() // x.shape[1], x.stride(0)) * x.numel()


def item(s, x):
    return x * s.fixed.item()


def add(rows):
    case, Net, X = rows.case, rows.Net, rows.X
    pair = ((2, 3, 6), (2, 3, 6))
    case('aten_inverse_trigonometry', Net(inverse_trigonometry), (3, 7))
    case('aten_atan2', Net(lambda s, x, y: (torch.atan2(x, y), aten.atan2(torch.relu(x), torch.relu(y)))), (4, 9), (4, 9))
    case('aten_powers', Net(powers), (3, 2, 5))
    case('aten_numbers', Net(numbers), (3, 9))
    case('aten_remainders', Net(remainders), *pair)
    case('aten_logic', Net(logic), *pair)
    case('aten_comparisons', Net(comparisons), *pair)
    case('aten_paddings', Net(paddings), X)
    case('aten_movements', Net(movements), (1, 3, 4, 5))
    case('aten_diagonals', Net(diagonals), (2, 3, 4, 5))
    case('aten_reductions', Net(reductions), (1, 3, 7, 7))
    case('aten_sorting', Net(sorting), (2, 5, 6))
    case('aten_scatters', Net(scatters), (3, 5), (3, 2), rows.Ids(5, 3, 2))
    case('aten_masked_scatter', Net(masked), (2, 5), (2, 5))
    case('aten_grid_sample', Net(sampled), (2, 3, 4, 5), (2, 3, 4, 2))
    case('aten_affine_grid', Net(warped, l=nn.Linear(3, 6)), (1, 3, 5, 6))
    case('aten_pool_gradients', Net(pool_gradients), (1, 2, 7, 8))
    case('aten_layer_gradients', Net(layer_gradients, c=rows.par(6, 4, 3, 3), w=rows.par(8, 8), b=rows.par(8, 8), v=rows.par(4)),
         (1, 4, 8, 8), rows.Ids(7, 5))
    case('aten_normalized', Net(normalized, w=rows.par(3), fixed_mean=rows.Buffer(torch.tensor([0.1, -0.2, 0.3])),
                                fixed_var=rows.Buffer(torch.tensor([1.1, 0.7, 0.4]))), X)
    case('aten_sizes', Net(sizes), (4, 5), dims={'x': {1: Dim('m', min=3, max=9)}}, example=[(4, 7)])
    case('aten_item', Net(item, fixed=rows.Buffer(torch.tensor(0.75))), (2, 3), core=True)
    case('aten_grid_sample_core', Net(lambda s, x, y: F.grid_sample(x, y, align_corners=False)), X, (1, 4, 4, 2), core=True)
    case('aten_random', Net(lambda s, x: x + torch.randn(3)), (2, 3), expect='unsupported', op='aten.randn.default', tol=1e9)
