# SPDX-License-Identifier: Apache-2.0
"""Quantizes networks for LiteRT (peers.py calls it).

litert-torch converts the export to a float `.tflite`, ai-edge-quantizer quantizes it with its recipe for static int8, which has
one scale per output channel, and LiteRT's interpreter runs the result. Ranges are min-max over all samples. The default, a moving
average over the samples, gives 15 dB less on digits_cnn, and 2 dB in total on hello_sin, whose samples are in order.
"""

import tempfile
from collections import Counter
from pathlib import Path

import litert_torch
import numpy as np
import torch
from ai_edge_litert.interpreter import Interpreter
from ai_edge_quantizer import calibrator, quantizer, recipe
from ai_edge_quantizer.utils.qsv_utils import min_max_update

MOVES = {
    "QUANTIZE", "DEQUANTIZE", "TRANSPOSE", "RESHAPE", "PAD", "PADV2", "CONCATENATION", "SLICE", "STRIDED_SLICE", "SPLIT", "SPLIT_V",
    "PACK", "UNPACK", "SQUEEZE", "EXPAND_DIMS", "BROADCAST_TO", "TILE", "DELEGATE", "CAST",
}  # fmt: skip
# Functions that a .tflite has under another name than the export.
ATEN = {"CONV_2D": "conv", "DEPTHWISE_CONV_2D": "conv", "FULLY_CONNECTED": "linear", "BATCH_MATMUL": "matmul"}


def quantized_input(value, details):
    scale, zero_point = details["quantization"]
    if details["dtype"] != np.int8:
        return value.astype(details["dtype"])
    return np.clip(np.round(value / scale) + zero_point, -128, 127).astype(np.int8)


def real_output(value, details):
    scale, zero_point = details["quantization"]
    if details["dtype"] == np.float32:
        return value
    return (value.astype(np.float32) - zero_point) * np.float32(scale)


def float_ops(interpreter):
    """Counts the operators that read or write float32, without those that only move data."""
    dtypes = {tensor["index"]: tensor["dtype"] for tensor in interpreter.get_tensor_details()}
    found = Counter()
    for op in interpreter._get_ops_details():
        touched = [dtypes.get(index) for index in [*op["inputs"], *op["outputs"]]]
        if op["op_name"] not in MOVES and np.float32 in touched:
            found[ATEN.get(op["op_name"], op["op_name"].lower())] += 1
    return dict(sorted(found.items()))


def measure(program, calibrate, inputs):
    """Returns the outputs for `inputs` after quantization, and `float_ops`."""
    with tempfile.TemporaryDirectory() as folder:
        path, quantized_path = Path(folder) / "float.tflite", Path(folder) / "int8.tflite"
        example = tuple(array[:1].clone() for array in calibrate)
        litert_torch.convert(program.module(check_guards=False), example).export(str(path))
        signatures = Interpreter(str(path)).get_signature_list()
        [(signature, arguments)] = signatures.items()
        # The arguments are named by position: args_0, args_1, ...
        names = sorted(arguments["inputs"], key=lambda name: int(name.split("_")[-1]))
        results = sorted(arguments["outputs"], key=lambda name: int(name.split("_")[-1]))
        samples = [dict(zip(names, (array[i : i + 1].numpy() for array in calibrate))) for i in range(len(calibrate[0]))]
        converter = quantizer.Quantizer(str(path), recipe.static_wi8_ai8())
        ranges = calibrator.Calibrator(str(path), qsv_update_func=min_max_update)
        ranges.calibrate({signature: samples}, converter._recipe_manager)
        converter.quantize(ranges.get_model_qsvs()).export_model(str(quantized_path), overwrite=True)
        interpreter = Interpreter(str(quantized_path))
        runner = interpreter.get_signature_runner(signature)
        reads, writes = runner.get_input_details(), runner.get_output_details()
        outputs = [[] for _ in results]
        for i in range(len(inputs[0])):
            got = runner(**{name: quantized_input(array[i : i + 1].numpy(), reads[name]) for name, array in zip(names, inputs)})
            for part, name in zip(outputs, results):
                part.append(torch.from_numpy(real_output(got[name], writes[name]).copy()))
        return [torch.cat(parts) for parts in outputs], {"float_ops": float_ops(interpreter)}
