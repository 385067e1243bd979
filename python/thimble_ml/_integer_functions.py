# SPDX-License-Identifier: Apache-2.0
"""Softmax and layer norm of integers, as docs/numerics.md states them, with torch's integer operators."""

from __future__ import annotations

import math
from typing import Union

import torch
from torch import Tensor

# Rounded value of e^-(2^(i - 2)) in Q0.31.
_EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_WEIGHT_MAX = 32767
_BIAS_MAX = 2.0**30
_NORM_UNIT = 2.0**-16


def half_away(value: Tensor, shift: Union[Tensor, int]) -> Tensor:
    """Return value / 2^shift to nearest, halves away from zero."""
    amount = torch.as_tensor(shift)
    half = torch.where(amount > 0, 1 << (amount - 1).clamp(min=0), 0)
    magnitude = (value.abs() + half) >> amount
    return torch.where(value < 0, -magnitude, magnitude)


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Return (mult, shift) with real = mult * 2^(shift - 31); the shift has no upper bound here."""
    if real <= 0:
        return 0, 0
    fraction, exponent = math.frexp(real)
    mult = math.floor(fraction * 2**31 + 0.5)
    if mult == 2**31:
        mult, exponent = 2**30, exponent + 1
    return (mult, exponent) if exponent >= -31 else (0, 0)


# --- docs/numerics.md, Softmax


def _mul(a: Tensor, b: Union[Tensor, int]) -> Tensor:
    return (a * b + 2**30) >> 31


def _saturated(value: Tensor) -> Tensor:
    return value.clamp(-(2**31), 2**31 - 1)


def _exp_on_negative(a: Tensor) -> Tensor:
    """Return e^a in Q0.31 of a <= 0 in Q5.26."""
    k = -(a >> 24) - 1  # a = r - k * 2^24 with -2^24 <= r < 0
    x = (a + (k << 24)) * 32 + 2**28
    x2 = _mul(x, x)
    x3, x4 = _mul(x2, x), _mul(x2, x2)
    inner = _mul(half_away(x4, 2) + x3, 715827883) + x2
    result = 1895147668 + _mul(x + half_away(inner, 1), 1895147668)
    for bit, factor in enumerate(_EXP_FACTORS):
        result = torch.where((k >> bit) % 2 == 1, _mul(result, factor), result)
    return torch.where(a == 0, 2**31 - 1, result)


def _one_over_one_plus(v: Tensor) -> Tensor:
    """Return 1 / (1 + v) in Q0.31 of v in Q0.31."""
    h = half_away(v + 2**31 - 1, 1)
    y = 1515870810 + _mul(h, -1010580540)
    for _ in range(3):
        y = y + _saturated(4 * _mul(y, 2**29 - _mul(h, y)))
    return _saturated(2 * y)


def softmax(codes: Tensor, scale: float, dim: int, *, wide: bool = False) -> Tensor:
    """Return probabilities of int8 values with this scale.

    Parameters
    ----------
    codes : Tensor
        int64, of any shape.
    scale : float
        Scale of `codes`.
    dim : int
        Dimension over which the probabilities have the sum 1.
    wide : bool
        Results are int16 with scale 1/32768 and zero point 0, not int8 with 1/256 and -128.

    Returns
    -------
    Tensor
        int64, of the same shape.
    """
    mult, shift = quantize_multiplier(min(scale * 2.0**26, 2.0**31 - 1))
    least = -math.floor(math.ldexp(31.0 * 2**26, -shift))
    difference = codes - codes.amax(dim, keepdim=True)
    counts = difference >= least
    e = _exp_on_negative(_mul(torch.where(counts, difference, 0) << shift, mult))
    parts = torch.where(counts, half_away(e, 12), 0)
    total = parts.sum(dim, keepdim=True).clamp(max=2**31)
    headroom = 32 - torch.frexp(total.to(torch.float64)).exponent.to(torch.int64)
    inverse = _one_over_one_plus((total << headroom) - 2**31)
    if wide:
        y = half_away(_mul(e, inverse), 28 - headroom).clamp(0, 32767)
        return torch.where(counts, y, 0)
    y = (half_away(_mul(e, inverse), 35 - headroom) - 128).clamp(-128, 127)
    return torch.where(counts, y, -128)


# --- docs/numerics.md, Norms


def _inverse_sqrt(radicand: int) -> tuple[int, int]:
    """Return (t, e) with 1 / sqrt(radicand) = t * 2^-(31 + e)."""
    # e is the integer for which floor(radicand / 4^e) is in [2^30, 2^32).
    e = max(-15, (radicand.bit_length() - 31) // 2)
    m = radicand << (-2 * e) if e < 0 else radicand >> (2 * e)
    return min(math.isqrt(2**62 // m), 65535), e


def layer_norm(
    codes: Tensor,
    dims: int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    scale: float,
    result_scale: float,
) -> Tensor:
    """Return the normalized rows, without the zero point of the result and without its bounds.

    Parameters
    ----------
    codes : Tensor
        int64, of any shape. A row is its last `dims` dimensions.
    dims : int
        Number of dimensions of a row.
    weight, bias : Tensor or None
        float32, in the shape of a row.
    eps : float
        Number that is added to the variance, in the square of the unit of the real values.
    scale, result_scale : float
        Scales of `codes` and of the result.

    Returns
    -------
    Tensor
        int64, in the shape of `codes`.
    """
    rows = codes.reshape(-1, math.prod(codes.shape[-dims:]))
    n = rows.shape[1]
    total = rows.sum(1, keepdim=True)
    difference = n * rows - total
    variance = n * (rows * rows).sum(1, keepdim=True) - total * total
    unit, extra = eps * (n / scale) * (n / scale), 0
    while round(unit) >= 2**31:
        unit, extra = unit / 2, extra + 1
    radicands = (variance + (round(unit) << extra)).clamp(min=1)
    found = [_inverse_sqrt(int(each)) for each in radicands.flatten()]
    t, e = (torch.tensor(column).reshape(-1, 1) for column in zip(*found))
    k = 15 + e
    half = torch.where(k > 0, 1 << (k - 1).clamp(min=0), 0)
    a = (difference * t + half) >> k
    weights, biases, step = _norm_constants(weight, bias)
    if weights is not None:
        a = (a * weights + 2**14) >> 15
    if biases is not None:
        a = a + biases
    mult, shift = quantize_multiplier(step / result_scale)
    return half_away((a * mult + 2**30) >> 31, -shift).reshape(codes.shape)


def _norm_constants(
    weight: Tensor | None, bias: Tensor | None
) -> tuple[Tensor | None, Tensor | None, float]:
    """Return the integers of w and b, and the unit of b and of the sums."""
    b_max = 0.0 if bias is None else float(bias.abs().max())
    if weight is None and b_max <= _BIAS_MAX * _NORM_UNIT:
        w, step = None, _NORM_UNIT
    else:
        real = torch.ones(()) if weight is None else weight.flatten()
        scale = max(float(real.abs().max()) / _WEIGHT_MAX, 2 * b_max / _BIAS_MAX) or 1.0
        w, step = torch.round(real.to(torch.float64) / scale).to(torch.int64), scale / 2
    if bias is None:
        return w, None, step
    b = torch.round(bias.flatten().to(torch.float64) / step).to(torch.int64)
    return w, b, step
