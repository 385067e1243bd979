# SPDX-License-Identifier: Apache-2.0
"""Writes small networks as TFLite, with the schema of ai_edge_litert."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TYPES = {
    "int8": (schema.TensorType.INT8, np.int8),
    "uint8": (schema.TensorType.UINT8, np.uint8),
    "int16": (schema.TensorType.INT16, np.int16),
    "int32": (schema.TensorType.INT32, np.int32),
    "int64": (schema.TensorType.INT64, np.int64),
    "bool": (schema.TensorType.BOOL, np.bool_),
}
ACTIVATIONS = {
    None: schema.ActivationFunctionType.NONE,
    "relu": schema.ActivationFunctionType.RELU,
    "relu6": schema.ActivationFunctionType.RELU6,
    "relu_n1_to_1": schema.ActivationFunctionType.RELU_N1_TO_1,
}
SAME, VALID = schema.Padding.SAME, schema.Padding.VALID


class Value:
    """A tensor of the network, with the properties that operators use."""

    def __init__(self, index, shape, kind, scale, zero, data=None):
        self.index, self.shape, self.kind = index, tuple(shape), kind
        self.scale, self.zero, self.data = scale, zero, data

    @property
    def dtype(self):
        return TYPES[self.kind][1]


class Net:
    """A network of one subgraph. All random values depend on `seed`."""

    reference, suffix = "litert", "tflite"

    def __init__(self, seed, scales=()):
        self.random = np.random.default_rng(seed)
        self.free, self.scales = [], scales
        self.tensors, self.buffers, self.operators, self.codes = [], [schema.BufferT()], [], []
        self.inputs, self.outputs = [], []
        self.ranges = {}

    def value(self, shape, kind, scale=None, zero=0, data=None, axis=0):
        tensor = schema.TensorT()
        tensor.shape = list(shape)
        tensor.type = TYPES[kind][0]
        tensor.name = f"t{len(self.tensors)}"
        tensor.hasRank = True
        if scale is not None:
            quantization = schema.QuantizationParametersT()
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            quantization.scale = scales
            quantization.zeroPoint = np.broadcast_to(np.asarray(zero, np.int64), scales.shape)
            quantization.quantizedDimension = axis
            tensor.quantization = quantization
        if data is not None:
            data = np.ascontiguousarray(data, TYPES[kind][1]).reshape(shape)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            tensor.buffer = len(self.buffers)
            self.buffers.append(buffer)
        self.tensors.append(tensor)
        return Value(len(self.tensors) - 1, shape, kind, scale, zero, data)

    def free_scale(self, estimate):
        """Returns the scale of the next value: `estimate`, or the calibrated one."""
        self.free.append(len(self.tensors))
        return self.scales[len(self.free) - 1] if len(self.scales) else estimate

    def input(self, shape, kind="int8", scale=0.05, zero=None, low=None, high=None):
        """Adds an input. Its test data is in [low, high], by default the whole range of the type."""
        if zero is None:
            zero = {"int8": -3, "uint8": 121}.get(kind, 0)
        value = self.value(shape, kind, scale, zero)
        self.inputs.append(value)
        self.ranges[value.index] = (low, high)
        return value

    def output(self, *values):
        self.outputs.extend(values)

    def constant(self, data, kind="int32", scale=None, zero=0, axis=0):
        data = np.asarray(data, TYPES[kind][1])
        return self.value(data.shape, kind, scale, zero, data, axis)

    def op(self, builtin, inputs, outputs, options=None, **fields):
        """Adds an operator. `options` is a class of the schema, `fields` its fields."""
        code = getattr(schema.BuiltinOperator, builtin)
        if code not in self.codes:
            self.codes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = self.codes.index(code)
        operator.inputs = [-1 if value is None else value.index for value in inputs]
        operator.outputs = [value.index for value in outputs]
        if options is not None:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(schema, options + "T")()
            for name, content in fields.items():
                if not hasattr(operator.builtinOptions, name):
                    raise AttributeError(f"{options} has no {name}")
                setattr(operator.builtinOptions, name, content)
        self.operators.append(operator)
        return outputs[0]

    def test_inputs(self):
        """Returns one array per input, over its whole range including both ends."""
        arrays = []
        for value in self.inputs:
            low, high = self.ranges[value.index]
            if value.kind == "bool":
                arrays.append(self.random.integers(0, 2, value.shape).astype(np.bool_))
                continue
            info = np.iinfo(value.dtype)
            low = info.min if low is None else low
            high = info.max if high is None else high
            array = self.random.integers(low, high, value.shape, dtype=np.int64, endpoint=True)
            flat = array.reshape(-1)
            if flat.size > 4:
                flat[0], flat[flat.size // 2] = high, low
                if low <= value.zero <= high:
                    flat[-1] = value.zero
            arrays.append(array.astype(value.dtype))
        return arrays

    def bytes(self):
        graph = schema.SubGraphT()
        graph.tensors = self.tensors
        graph.operators = self.operators
        graph.inputs = [value.index for value in self.inputs]
        graph.outputs = [value.index for value in self.outputs]
        graph.name = "main"
        model = schema.ModelT()
        model.version = 3
        model.subgraphs = [graph]
        model.buffers = self.buffers
        model.operatorCodes = []
        for code in self.codes:
            entry = schema.OperatorCodeT()
            entry.builtinCode = code
            entry.deprecatedBuiltinCode = min(code, 127)
            entry.version = 1
            model.operatorCodes.append(entry)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
