# SPDX-License-Identifier: Apache-2.0
"""Writes small networks as TOSA 1.0, with tosa_serializer of tosa-tools."""

import numpy as np
import tosa_serializer as ts

KINDS = {
    "bool": (ts.DType.BOOL, np.bool_),
    "int8": (ts.DType.INT8, np.int8),
    "int16": (ts.DType.INT16, np.int16),
    "int32": (ts.DType.INT32, np.int32),
    "int48": (ts.DType.INT48, np.int64),
}
IGNORE = ts.NanPropagationMode.PROPAGATE


class Value:
    def __init__(self, name, shape, kind, zero=0):
        self.name, self.shape, self.kind, self.zero = name, tuple(shape), kind, zero

    @property
    def dtype(self):
        return KINDS[self.kind][1]


class Net:
    """A network of one region, or of several that COND_IF names. Random values depend on `seed`."""

    reference, suffix = "tosa", "tosa"

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.serializer = ts.TosaSerializer("", ts.ConstMode.EMBED, 1, 0, 0, False)
        self.inputs, self.ranges, self.names = [], {}, 0

    def _name(self):
        self.names += 1
        return f"t{self.names}"

    def input(self, shape, kind="int8", low=None, high=None, data=None):
        value = Value(self._name(), shape, kind)
        self.serializer.addInputTensor(
            ts.TosaSerializerTensor(value.name, list(shape), KINDS[kind][0]))
        self.inputs.append(value)
        self.ranges[value.name] = (low, high, data)
        return value

    def constant(self, data, kind="int32"):
        data = np.asarray(data, KINDS[kind][1])
        name = self._name()
        self.serializer.addConst(list(data.shape), KINDS[kind][0], data, name)
        return Value(name, data.shape, kind)

    def shape(self, *numbers):
        """A constant of TOSA's type for shapes."""
        name = self._name()
        self.serializer.addConst([len(numbers)], ts.DType.SHAPE, list(numbers), name)
        return Value(name, (len(numbers),), "shape")

    def op(self, name, inputs, shape, kind, *fields, attribute=None, output=False):
        """Adds an operator with one result. `fields`: the attribute's fields, in TOSA's order."""
        dtype = KINDS[kind][0]
        tensor = (self.serializer.addOutput(list(shape), dtype) if output
                  else self.serializer.addIntermediate(list(shape), dtype))
        attributes = ts.TosaSerializerAttribute()
        words = attribute or "".join(part.capitalize() for part in name.split("_")) + "Attribute"
        getattr(attributes, words)(*fields)
        self.serializer.addOperator(getattr(ts.Op, name), [value.name for value in inputs],
                                    [tensor.name], attributes)
        return Value(tensor.name, shape, kind)

    def output(self, value):
        self.serializer.addOutputTensor(
            ts.TosaSerializerTensor(value.name, list(value.shape), KINDS[value.kind][0]))

    def rescale(self, x, kind, multipliers, shifts, zero_in=0, zero_out=0, rounding="SINGLE_ROUND",
                scale32=True, unsigned=(False, False)):
        multipliers, shifts = np.atleast_1d(multipliers), np.atleast_1d(shifts)
        inputs = [x, self.constant(multipliers, "int32" if scale32 else "int16"),
                  self.constant(shifts, "int8"), self.constant([zero_in], x.kind),
                  self.constant([zero_out], kind)]
        return self.op("RESCALE", inputs, x.shape, kind, scale32,
                       getattr(ts.RoundingMode, rounding), len(multipliers) > 1, *unsigned)

    def test_inputs(self):
        arrays = []
        for value in self.inputs:
            low, high, data = self.ranges[value.name]
            if data is not None:
                arrays.append(np.asarray(data, value.dtype).reshape(value.shape))
                continue
            if value.kind == "bool":
                arrays.append(self.random.integers(0, 2, value.shape).astype(np.bool_))
                continue
            info = np.iinfo(value.dtype)
            low = info.min if low is None else low
            high = info.max if high is None else high
            array = self.random.integers(low, high, value.shape, dtype=np.int64, endpoint=True)
            arrays.append(array.astype(value.dtype))
        return arrays

    def bytes(self):
        return bytes(self.serializer.serialize())
