# SPDX-License-Identifier: Apache-2.0
"""Computes the integers of a compiled model in PyTorch, from the graph of `convert_pt2e`.

Fake quantization in PyTorch multiplies floats and rounds once; a device multiplies integers and
rounds as docs/numerics.md states. Most values are equal, some differ by one. This module follows
docs/numerics.md, with torch's integer operators: 32-bit accumulators and Thimble's requantization.
It shares no code with the compiler. From the compiler it takes one fact: which integer operators
compute each node on the target, and with which rounding.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import Node

from ._errors import BadInput, Unsupported
from ._integer_functions import half_away, layer_norm, quantize_multiplier, softmax
from ._queries import annotate

__all__ = ["IntegerReference", "Quantized", "integer_reference"]

# Values of `rounding` in docs/numerics.md.
_DOUBLE, _SINGLE, _HALF_EVEN = 0, 1, 2
_ATEN = torch.ops.aten
_QUANTIZED = torch.ops.quantized_decomposed


@dataclass(frozen=True)
class Params:
    """Scale and zero point of a value, and its range of integers. `scale` is exact in float32."""

    scale: float
    zero_point: int
    low: int = -128
    high: int = 127


@dataclass(frozen=True)
class Quantized:
    """Integers that represent `scale * (codes - zero_point)`.

    `codes` is an int64 tensor in the shape of the node's result.
    """

    codes: Tensor
    params: Params

    def real(self) -> Tensor:
        """Return the float32 numbers, as `dequantize` computes them."""
        return _real(self.codes, self.params)


@dataclass(frozen=True)
class _Channels:
    """Weights with a scale per output channel, which is dimension `axis`."""

    codes: Tensor
    scales: list[float]
    axis: int


@dataclass(frozen=True)
class _Table:
    """A function of the integers of one value: `real[code - low]` is its float32 result."""

    source: Quantized
    real: Tensor
    moves: tuple[Callable[[Tensor], Tensor], ...] = ()


@dataclass(frozen=True)
class _Pending:
    """Arithmetic whose result has no scale yet: the following quantize node has it.

    `compute(params, rounding, low, high)` returns the integers. Clamps and data movement that
    follow are collected. `rounding` is that of an operator with only one.
    """

    node: str
    compute: Callable[[Params, int, int, int], Tensor]
    low: float = -math.inf
    high: float = math.inf
    moves: tuple[Callable[[Tensor], Tensor], ...] = ()
    rounding: int | None = None


@dataclass(frozen=True)
class _Softmax:
    """Probabilities, whose parameters the following quantize node must have."""

    codes: Callable[[bool], Tensor]  # of int16 if True
    moves: tuple[Callable[[Tensor], Tensor], ...] = ()


@dataclass(frozen=True)
class _Concat:
    """Operands of a concatenation, which get the parameters of the following quantize node."""

    parts: list[Any]
    dim: int


# --- docs/numerics.md, Requantization


def _quantize_multiplier(real: float) -> tuple[int, int]:
    """Return (mult, shift) with real = mult * 2^(shift - 31)."""
    mult, shift = quantize_multiplier(real)
    if shift > 30:
        raise Unsupported(f"the multiplier {real} exceeds 2^30")
    return mult, shift


def _wrap32(value: Tensor) -> Tensor:
    return (value + 2**31) % 2**32 - 2**31


def _requantize(acc: Tensor, multipliers: Sequence[tuple[int, int]], rounding: int) -> Tensor:
    """Requantize with one multiplier, or with one per index of dimension 1 (or the last of two)."""
    mult = _along_channels(torch.tensor([m for m, _ in multipliers]), acc)
    shift = _along_channels(torch.tensor([s for _, s in multipliers]), acc)
    if rounding == _SINGLE:
        # Two steps keep the product in 64 bits: |acc| < 2^31, mult < 2^31, shift <= 30.
        right = 31 - shift
        return (acc * mult + (1 << (right - 1))) >> right
    left = _wrap32(acc << shift.clamp(min=0))
    high = (left * mult + 2**30) >> 31
    return half_away(high, (-shift).clamp(min=0))


def _along_channels(entries: Tensor, acc: Tensor) -> Tensor:
    if entries.numel() == 1:
        return entries.reshape(())
    return entries.reshape([-1 if i == 1 else 1 for i in range(acc.dim())])


def _half_even_scale(real: float, zero_point: int, mult_max: int = 2**31 - 1) -> tuple[int, int]:
    """Return (mult, shift) with real = mult * 2^-shift: the largest shift from 8 to 30 that fits."""
    for shift in range(30, 7, -1):
        mult = round(math.ldexp(real, shift))
        if abs(zero_point) * 2**shift < 2**31 and mult <= mult_max:
            return mult, shift
    raise Unsupported(f"the multiplier {real} exceeds the range of the NPU")


def _requantize_even(acc: Tensor, mult: Tensor, shift: Tensor, zero_point: int) -> Tensor:
    """Return (acc * mult + zero_point * 2^shift) / 2^shift to nearest, halves to even."""
    value = acc * mult + (torch.tensor(zero_point) << shift)
    below = value >> shift
    rest = value - (below << shift)
    half = 1 << (shift - 1)
    up = (rest > half) | ((rest == half) & (below % 2 == 1))
    return below + up.long()


def _scaled(
    acc: Tensor, reals: Sequence[float], params: Params, rounding: int, low: int, high: int
) -> Tensor:
    """Return the result of an operator with one requantization per accumulator."""
    multipliers = [_quantize_multiplier(real) for real in reals]
    if rounding == _HALF_EVEN:
        even = [
            _half_even_scale(math.ldexp(mult, shift - 31), params.zero_point)
            for mult, shift in multipliers
        ]
        mult = _along_channels(torch.tensor([m for m, _ in even]), acc)
        shift = _along_channels(torch.tensor([s for _, s in even]), acc)
        result = _requantize_even(acc, mult, shift, params.zero_point)
    else:
        result = _requantize(acc, multipliers, rounding) + params.zero_point
    return result.clamp(low, high)


# --- graph edges and tables


def _real(codes: Tensor, params: Params) -> Tensor:
    scale = torch.tensor(params.scale, dtype=torch.float32)
    return (codes - params.zero_point).to(torch.float32) * scale


def _quantize(real: Tensor, params: Params) -> Tensor:
    inverse = torch.tensor(1.0, dtype=torch.float32) / torch.tensor(
        params.scale, dtype=torch.float32
    )
    scaled = torch.nan_to_num(real.to(torch.float32), nan=0.0) * inverse
    rounded = torch.round(scaled.clamp(-65536, 65536)).to(torch.int64)
    return (rounded + params.zero_point).clamp(params.low, params.high)


def _code(real: float, params: Params) -> int:
    """Return the integer of a bound."""
    if math.isinf(real):
        return params.low if real < 0 else params.high
    return min(max(round(real / params.scale) + params.zero_point, params.low), params.high)


def _move(value: Tensor, moves: Sequence[Callable[[Tensor], Tensor]]) -> Tensor:
    for move in moves:
        value = move(value)
    return value


# --- operators

_ELEMENTWISE = {
    _ATEN.relu.default,
    _ATEN.relu_.default,
    _ATEN.relu6.default,
    _ATEN.hardtanh.default,
    _ATEN.hardtanh_.default,
    _ATEN.clamp.default,
    _ATEN.hardswish.default,
    _ATEN.hardswish_.default,
    _ATEN.hardsigmoid.default,
    _ATEN.leaky_relu.default,
    _ATEN.leaky_relu_.default,
    _ATEN.elu.default,
    _ATEN.gelu.default,
    _ATEN.silu.default,
    _ATEN.silu_.default,
    _ATEN.sigmoid.default,
    _ATEN.tanh.default,
    _ATEN.abs.default,
    _ATEN.neg.default,
    _ATEN.exp.default,
    _ATEN.sqrt.default,
}
# Functions of one value if the other operand is a number.
_WITH_NUMBER = {
    _ATEN.mul.Scalar,
    _ATEN.mul.Tensor,
    _ATEN.div.Scalar,
    _ATEN.div.Tensor,
    _ATEN.add.Scalar,
    _ATEN.add.Tensor,
    _ATEN.sub.Tensor,
}
_MOVES = {
    _ATEN.view.default,
    _ATEN.reshape.default,
    _ATEN.flatten.using_ints,
    _ATEN.permute.default,
    _ATEN.transpose.int,
    _ATEN.squeeze.dim,
    _ATEN.squeeze.dims,
    _ATEN.unsqueeze.default,
    _ATEN.slice.Tensor,
    _ATEN.select.int,
    _ATEN.expand.default,
    _ATEN.contiguous.default,
    _ATEN.clone.default,
    _ATEN.alias.default,
}
_TRANSPOSED = {_ATEN.conv_transpose1d.default, _ATEN.conv_transpose2d.input}
_CONVOLUTIONS = {
    _ATEN.conv1d.default,
    _ATEN.conv2d.default,
    _ATEN.conv2d.padding,
    *_TRANSPOSED,
}
_SOFTMAX = {_ATEN.softmax.int, _ATEN._softmax.default}
_LAYER_NORM = {_ATEN.layer_norm.default, _ATEN.native_layer_norm.default}
# Parameters of probabilities: int8 and int16.
_PROBABILITY = {False: (1 / 256, -128), True: (1 / 32768, 0)}
_SAME = {_ATEN.dropout.default, _ATEN.dropout_.default, _ATEN.detach.default}


def _clamp_bounds(node: Node) -> tuple[float, float] | None:
    """Return the bounds of a clamp; None for another function."""
    target = node.target
    if target in (_ATEN.relu.default, _ATEN.relu_.default):
        return 0.0, math.inf
    if target is _ATEN.relu6.default:
        return 0.0, 6.0
    if target in (_ATEN.hardtanh.default, _ATEN.hardtanh_.default):
        arguments = [*node.args[1:], *(-1.0, 1.0)[len(node.args) - 1 :]]
        return float(cast(float, arguments[0])), float(cast(float, arguments[1]))
    if target is _ATEN.clamp.default:
        low, high = [*node.args[1:], None, None][:2]
        return (
            -math.inf if low is None else float(cast(float, low)),
            math.inf if high is None else float(cast(float, high)),
        )
    return None


def _int_conv(call: Callable[..., Tensor], x: Tensor, w: Tensor, *rest: Any) -> Tensor:
    """Return exact sums: below 2^31, which float64 represents."""
    return call(x.to(torch.float64), w.to(torch.float64), None, *rest).round().to(torch.int64)


def _bias_codes(bias: Any, units: Sequence[float], channels: int) -> Tensor:
    if bias is None:
        return torch.zeros(channels, dtype=torch.int64)
    real = bias.real() if isinstance(bias, Quantized) else bias
    unit = torch.tensor(units, dtype=torch.float64)
    return torch.round(real.to(torch.float64) / unit).to(torch.int64)


def _weights(value: Any, axis: int = 0) -> tuple[Tensor, list[float]]:
    """Return integers and scales of weights whose output channels are dimension `axis`."""
    if isinstance(value, _Channels) and value.axis == axis:
        return value.codes, value.scales
    if isinstance(value, Quantized) and value.params.zero_point == 0:
        return value.codes, [value.params.scale]
    raise Unsupported("weights that are not symmetric with a scale per output channel")


class IntegerReference(torch.nn.Module):
    """A converted model that computes with integers.

    Parameters
    ----------
    program : ExportedProgram
        `torch.export.export(convert_pt2e(prepared), (x,))`.
    rounding : dict of str to int
        Rounding of each operator that requantizes, by the name of its node: 0 double, 1 single,
        2 half to even (docs/numerics.md).
    operators : dict of str to set of str
        Names of the integer operators that compute each node: ``qsoftmax``.

    Raises
    ------
    Unsupported
        From a call: an operator that this module does not have, with its name.
    """

    def __init__(
        self, program: ExportedProgram, rounding: dict[str, int], operators: dict[str, set[str]]
    ) -> None:
        super().__init__()
        self.program = program
        self.rounding = rounding
        self.operators = operators

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the float32 outputs, in the shapes of the model's outputs.

        Parameters
        ----------
        *inputs : Tensor
            float32, in the shapes of the exported inputs.
        """
        return tuple(value.real() for value in self.codes(*inputs))

    def codes(self, *inputs: Tensor) -> tuple[Quantized, ...]:
        """Return the outputs as integers with their scales."""
        values = self._constants()
        names = [n.name for n in self.program.graph.nodes if n.op == "placeholder"]
        users = [name for name in names if name not in values]
        if len(users) != len(inputs):
            raise BadInput(f"{len(users)} inputs expected, {len(inputs)} given")
        values.update(zip(users, inputs))
        with torch.no_grad():
            for node in self.program.graph.nodes:
                if node.op == "call_function":
                    values[node.name] = self._run(node, values)
        output = next(n for n in self.program.graph.nodes if n.op == "output")
        results: list[Quantized] = []
        for result in cast("tuple[Node, ...]", output.args[0]):
            value = values[result.name]
            if not isinstance(value, Quantized):
                raise Unsupported(f"output {result.name} is not quantized")
            results.append(value)
        return tuple(results)

    def _constants(self) -> dict[str, Any]:
        signature = self.program.graph_signature
        tensors: dict[str, Any] = {**self.program.constants, **self.program.state_dict}
        named = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        return {name: tensors[target] for name, target in named.items()}

    def _run(self, node: Node, values: dict[str, Any]) -> Any:
        def get(argument: Any) -> Any:
            return torch.fx.map_arg(argument, lambda n: values[n.name])

        args: Sequence[Any] = tuple(get(argument) for argument in node.args)
        kwargs: dict[str, Any] = {key: get(value) for key, value in node.kwargs.items()}
        target = node.target
        if target is operator.getitem:
            return args[0][args[1]]
        if target in (
            _QUANTIZED.quantize_per_tensor.default,
            _QUANTIZED.quantize_per_tensor.tensor,
        ):
            return self._quantized(args[0], _params(args[1:5]))
        if target in (
            _QUANTIZED.dequantize_per_tensor.default,
            _QUANTIZED.dequantize_per_tensor.tensor,
        ):
            if isinstance(args[0], Tensor):
                return Quantized(args[0].to(torch.int64), _params(args[1:5]))
            return args[0]
        if target is _QUANTIZED.dequantize_per_channel.default:
            return _channels(args)
        if target in _SAME:
            return args[0]
        values_in = [a for a in args if isinstance(a, (Quantized, _Table, _Pending, _Softmax))]
        if target is _ATEN.cat.default:
            return _cat(args, kwargs)
        if not values_in:
            return cast(Any, target)(*args, **kwargs)
        if target in _MOVES:
            return _moved(args[0], lambda x: cast(Any, target)(x, *args[1:], **kwargs))
        if target is _ATEN.max_pool2d.default:
            return _moved(args[0], lambda x: _max_pool(x, args[1:]))
        if target in (_ATEN.pad.default, _ATEN.constant_pad_nd.default):
            return _padded(node, args, kwargs)
        if target is _ATEN.unbind.int:
            return _unbound(node, *args)
        if target in _ELEMENTWISE or (target in _WITH_NUMBER and isinstance(args[1], (int, float))):
            return _elementwise(node, args, kwargs)
        if target in _SOFTMAX:
            return self._softmax(node, _operand(node, args[0]), int(args[1]))
        if target in _LAYER_NORM:
            pending = _layer_norm(node, args)
            return (pending,) if target is _ATEN.native_layer_norm.default else pending
        return _arithmetic(node, args, kwargs)

    def _softmax(self, node: Node, x: Quantized, dim: int) -> _Softmax:
        # Operators that move or convert its values have the same source node.
        found = {name for name in self.operators.get(node.name, set()) if "softmax" in name}
        if not found or not found <= {"qsoftmax", "qsoftmax16"}:
            names = ", ".join(sorted(found)) or "no operator"
            raise Unsupported(f"{node.name}: the target computes it with {names}")
        has_16_bits = "qsoftmax16" in found

        def codes(wide: bool) -> Tensor:
            y = softmax(x.codes, x.params.scale, dim, wide=wide and has_16_bits)
            # The 16-bit form of an 8-bit softmax is exact: 1/256 is 128/32768.
            return (y + 128) * 128 if wide and not has_16_bits else y

        return _Softmax(codes)

    def _quantized(self, value: Any, params: Params) -> Quantized:
        if isinstance(value, Tensor):
            return Quantized(_quantize(value, params), params)
        if isinstance(value, Quantized):
            if value.params == params:
                return value
            return self._quantized(_table(value), params)
        if isinstance(value, _Table):
            if _HALF_EVEN in self.rounding.values():
                raise Unsupported(
                    "a function on a target whose NPU rounds halves to even: the NPU may compute it "
                    "in its own arithmetic, which the integer reference does not have"
                )
            entries = _quantize(value.real, params)
            codes = entries[value.source.codes - value.source.params.low]
            return Quantized(_move(codes, value.moves), params)
        if isinstance(value, _Concat):
            codes = [self._quantized(part, params).codes for part in value.parts]
            return Quantized(torch.cat(codes, value.dim), params)
        if isinstance(value, _Softmax):
            wide = params.high > 127
            if (params.scale, params.zero_point) != _PROBABILITY[wide]:
                raise Unsupported("probabilities with parameters of their own")
            return Quantized(_move(value.codes(wide), value.moves), params)
        rounding = self.rounding.get(value.node, value.rounding)
        if rounding is None:
            raise Unsupported(f"{value.node} requantizes in no operator of the target")
        low, high = _code(value.low, params), _code(value.high, params)
        codes = value.compute(params, rounding, low, high)
        return Quantized(_move(codes, value.moves), params)


def _params(arguments: Sequence[Any]) -> Params:
    scale, zero_point, low, high = arguments
    exact = float(torch.tensor(float(scale), dtype=torch.float32))
    return Params(exact, int(zero_point), int(low), int(high))


def _channels(args: Sequence[Any]) -> _Channels:
    codes, scales, zero_points, axis = args[:4]
    if zero_points is not None and bool(zero_points.any()):
        raise Unsupported("weights with zero points")
    return _Channels(codes.to(torch.int64), [float(s) for s in scales.to(torch.float32)], axis)


def _table(value: Quantized) -> _Table:
    codes = torch.arange(value.params.low, value.params.high + 1)
    return _Table(value, _real(codes, value.params))


def _moved(
    value: Quantized | _Table | _Pending | _Softmax, move: Callable[[Tensor], Tensor]
) -> Quantized | _Table | _Pending | _Softmax:
    if isinstance(value, Quantized):
        return Quantized(move(value.codes), value.params)
    return replace(value, moves=(*value.moves, move))


def _selection(dim: int, index: int) -> Callable[[Tensor], Tensor]:
    return lambda x: x.select(dim, index)


def _unbound(node: Node, value: Any, dim: int = 0) -> tuple[Any, ...]:
    count = _operand(node, value).codes.shape[dim]
    return tuple(_moved(value, _selection(dim, index)) for index in range(count))


def _padded(node: Node, args: Sequence[Any], kwargs: dict[str, Any]) -> Quantized:
    rest = [value for value in (*args[2:], *kwargs.values()) if value is not None]
    numbers = [float(value) for value in rest if not isinstance(value, str)]
    if not isinstance(args[0], Quantized) or any(v != "constant" for v in rest if v not in numbers):
        raise Unsupported(f"{node.name}: this padding is not in the integer reference")
    params = args[0].params
    fill = _code(numbers[0] if numbers else 0.0, params)
    return Quantized(torch.nn.functional.pad(args[0].codes, list(args[1]), value=fill), params)


def _max_pool(x: Tensor, rest: Sequence[Any]) -> Tensor:
    pooled = cast(Tensor, torch.nn.functional.max_pool2d(x.to(torch.float64), *rest))
    return pooled.to(torch.int64)


def _cat(args: Sequence[Any], kwargs: dict[str, Any]) -> Quantized | _Concat:
    parts: list[Any] = args[0]
    known = [part for part in parts if isinstance(part, Quantized)]
    dim = int(args[1]) if len(args) > 1 else int(kwargs.get("dim", 0))
    if len(known) == len(parts) and all(part.params == known[0].params for part in known):
        return Quantized(torch.cat([part.codes for part in known], dim), known[0].params)
    return _Concat(parts, dim)


def _elementwise(node: Node, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    value = args[0]
    bounds = _clamp_bounds(node)
    if isinstance(value, _Pending) and bounds is not None:
        low = min(max(value.low, bounds[0]), bounds[1])
        high = min(max(value.high, bounds[0]), bounds[1])
        return replace(value, low=low, high=high)
    if isinstance(value, _Pending):
        raise Unsupported(f"{node.name}: a function of a value that is not quantized")
    table = _table(value) if isinstance(value, Quantized) else value
    real = cast(Any, node.target)(table.real, *args[1:], **kwargs)
    return _Table(table.source, real, table.moves)


def _arithmetic(node: Node, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    target = node.target
    if target in _CONVOLUTIONS:
        return _convolution(node, args)
    if target is _ATEN.linear.default:
        return _linear(node, args)
    if target in (_ATEN.add.Tensor, _ATEN.add_.Tensor, _ATEN.sub.Tensor) and not kwargs:
        return _sum(node, args, 1 if target is not _ATEN.sub.Tensor else -1)
    if target in (_ATEN.mul.Tensor, _ATEN.mul_.Tensor):
        return _product(node, args)
    if target in (_ATEN.matmul.default, _ATEN.bmm.default):
        return _matmul(node, args)
    if target is _ATEN.mean.dim:
        keep = bool(args[2]) if len(args) > 2 else bool(kwargs.get("keepdim", False))
        x = _operand(node, args[0])
        dims = [dim % x.codes.dim() for dim in args[1]]
        # The compiler makes a pool of a mean over an image.
        return _mean(node, x, dims, keep, is_pool=sorted(dims) == [2, 3] and x.codes.dim() == 4)
    if target is _ATEN.adaptive_avg_pool2d.default and list(args[1]) == [1, 1]:
        x = _operand(node, args[0])
        return _mean(node, x, [-2, -1], True, is_pool=True)
    if target is _ATEN.avg_pool2d.default:
        return _average_pool(node, args)
    raise Unsupported(f"{node.name}: {target} is not in the integer reference")


def _operand(node: Node, value: Any) -> Quantized:
    if not isinstance(value, Quantized):
        raise Unsupported(f"{node.name}: an operand is not quantized")
    return value


def _convolution(node: Node, args: Sequence[Any]) -> _Pending:
    x = _operand(node, args[0])
    transposed = node.target in _TRANSPOSED
    groups = args[6] if transposed and len(args) > 6 else 1
    w, scales = _weights(args[1], axis=1 if transposed else 0)
    channels = w.shape[1] * groups if transposed else w.shape[0]
    bias = args[2] if len(args) > 2 else None
    units = [x.params.scale * scale for scale in scales]
    call = cast("Callable[..., Tensor]", node.target)
    acc = _int_conv(call, x.codes - x.params.zero_point, w, *args[3:])
    acc = acc + _along_channels(_bias_codes(bias, units, channels), acc)

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        return _scaled(acc, [unit / y.scale for unit in units], y, rounding, low, high)

    return _Pending(node.name, compute)


def _linear(node: Node, args: Sequence[Any]) -> _Pending:
    x = _operand(node, args[0])
    w, scales = _weights(args[1])
    bias = args[2] if len(args) > 2 else None
    units = [x.params.scale * scale for scale in scales]
    acc = (x.codes - x.params.zero_point) @ w.T + _bias_codes(bias, units, w.shape[0])

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        reals = [unit / y.scale for unit in units]
        rows = acc.reshape(-1, acc.shape[-1])
        return _scaled(rows, reals, y, rounding, low, high).reshape(acc.shape)

    return _Pending(node.name, compute)


def _sum(node: Node, args: Sequence[Any], sign: int) -> _Pending:
    a, b = _operand(node, args[0]), _operand(node, args[1])
    first = a.codes - a.params.zero_point
    second = (b.codes - b.params.zero_point) * sign

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        joint = 2 * max(a.params.scale, b.params.scale)
        factors = [
            _quantize_multiplier(real)
            for real in (
                a.params.scale / joint,
                b.params.scale / joint,
                joint / (2**20 * y.scale),
            )
        ]
        if rounding == _HALF_EVEN:
            reals = [math.ldexp(mult, shift - 31) for mult, shift in factors]
            result = math.ldexp(reals[2], 20)
            each = (reals[0] * result, reals[1] * result)
            _, shift = _half_even_scale(max(each), y.zero_point, 2**15 - 1)
            mults = [round(math.ldexp(real, shift)) for real in each]
            acc = first * mults[0] + second * mults[1]
            codes = _requantize_even(acc, torch.tensor(1), torch.tensor(shift), y.zero_point)
        else:
            scaled = _requantize(first << 20, factors[:1], rounding)
            scaled = scaled + _requantize(second << 20, factors[1:2], rounding)
            codes = _requantize(scaled, factors[2:], rounding) + y.zero_point
        return codes.clamp(low, high)

    return _Pending(node.name, compute)


def _product(node: Node, args: Sequence[Any]) -> _Pending:
    a, b = _operand(node, args[0]), _operand(node, args[1])
    acc = (a.codes - a.params.zero_point) * (b.codes - b.params.zero_point)

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        return _scaled(acc, [a.params.scale * b.params.scale / y.scale], y, rounding, low, high)

    return _Pending(node.name, compute)


def _matmul(node: Node, args: Sequence[Any]) -> _Pending:
    a, b = _operand(node, args[0]), _operand(node, args[1])
    acc = (a.codes - a.params.zero_point) @ (b.codes - b.params.zero_point)

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        return _scaled(acc, [a.params.scale * b.params.scale / y.scale], y, rounding, low, high)

    return _Pending(node.name, compute)


def _layer_norm(node: Node, args: Sequence[Any]) -> _Pending:
    x = _operand(node, args[0])
    weight, bias = (
        value.real() if isinstance(value, Quantized) else value
        for value in ([*args[2:4], None, None][:2])
    )
    eps = float(args[4]) if len(args) > 4 else 1e-5

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        del rounding  # there is only one
        scales = (x.params.scale, y.scale)
        codes = layer_norm(x.codes, len(args[1]), weight, bias, eps, *scales)
        return (codes + y.zero_point).clamp(low, high)

    return _Pending(node.name, compute, rounding=_DOUBLE)


def _mean(
    node: Node, x: Quantized, dims: list[int], keep: bool, is_pool: bool = False
) -> _Pending:
    total = x.codes.sum(dims, keepdim=keep)
    count = x.codes.numel() // total.numel()

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        if is_pool and y == x.params and rounding != _HALF_EVEN:
            return _average(total, count).clamp(low, high)
        real = x.params.scale * (1 / count) / y.scale
        return _scaled(total - count * x.params.zero_point, [real], y, rounding, low, high)

    return _Pending(node.name, compute)


def _average(total: Tensor, count: int) -> Tensor:
    """Return total / count as an average pool rounds it: to nearest, halves away from zero."""
    half = torch.where(total >= 0, count // 2, -(count // 2))
    return torch.div(total + half, count, rounding_mode="trunc")


def _average_pool(node: Node, args: Sequence[Any]) -> _Pending:
    """Return the average of each window; without padding, so that all windows have one size."""
    x = _operand(node, args[0])
    kernel: list[int] = [args[1]] if isinstance(args[1], int) else list(args[1])
    stride: Any = args[2] if len(args) > 2 else None
    if any(argument not in (0, [0, 0], (0, 0), False) for argument in args[3:5]) or len(args) > 5:
        raise Unsupported(f"{node.name}: an average pool with padding")
    height, width = kernel[0], kernel[-1]
    count = height * width
    total = torch.nn.functional.avg_pool2d(
        x.codes.to(torch.float64), (height, width), stride or (height, width), divisor_override=1
    ).to(torch.int64)

    def compute(y: Params, rounding: int, low: int, high: int) -> Tensor:
        whole = (height, width) == tuple(x.codes.shape[-2:])
        if rounding == _HALF_EVEN or (whole and y != x.params):
            real = x.params.scale * (1 / count) / y.scale
            return _scaled(total - count * x.params.zero_point, [real], y, rounding, low, high)
        if y != x.params:
            raise Unsupported(f"{node.name}: a pool with parameters of its own")
        return _average(total, count).clamp(low, high)

    return _Pending(node.name, compute)


def integer_reference(program: ExportedProgram, target: str) -> IntegerReference:
    """Return a module that computes the integers of the model on a target.

    Parameters
    ----------
    program : ExportedProgram
        `torch.export.export(convert_pt2e(prepared), (x,))`: what `compile` accepts.
    target : str
        Name of a part, as listed by `thimble targets`.

    Raises
    ------
    Unsupported
        The target does not support the model.
    BadInput
        The graph is not quantized completely.

    Examples
    --------
    >>> reference = integer_reference(torch.export.export(converted, (x,)), "cortex-m55")
    >>> (y,) = reference(x)      # equal to the device's outputs, bit for bit
    """
    facts = annotate(program, target=target, arithmetic=True)
    rounding: dict[str, int] = {}
    operators: dict[str, set[str]] = {}
    for op in facts["operators"]:
        operators.setdefault(op["node"], set()).add(op["op"])
        if "rounding" in op:
            rounding[op["node"]] = op["rounding"]
    return IntegerReference(program, rounding, operators)
