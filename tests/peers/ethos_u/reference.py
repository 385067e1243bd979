# SPDX-License-Identifier: Apache-2.0
"""Expected outputs: LiteRT's reference kernels for TFLite, the TOSA reference model for TOSA."""

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


def litert(model, inputs, reference=True):
    """Returns the outputs of a TFLite file. `reference` False uses the optimised kernels without delegates: the reference
    kernel for int8 SUM computes something else."""
    resolver = OpResolverType.BUILTIN_REF
    if not reference:
        resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()
    if len(details) != len(inputs):
        raise ValueError(f"{len(inputs)} inputs for a network of {len(details)}")
    for detail, data in zip(details, inputs):
        interpreter.set_tensor(detail["index"], data)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(detail["index"]))
            for detail in interpreter.get_output_details()]


def litert_inputs(model):
    """Returns shape and type of each input."""
    interpreter = Interpreter(model_content=model)
    return [(detail["shape"], detail["dtype"]) for detail in interpreter.get_input_details()]


def litert_values(model, inputs, indices):
    """Returns values inside a network, by tensor index."""
    interpreter = Interpreter(
        model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    for detail, data in zip(interpreter.get_input_details(), inputs):
        interpreter.set_tensor(detail["index"], data)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(index)) for index in indices]


def tosa(model, inputs):
    """Returns the outputs of a TOSA file. Its run must be valid as TOSA defines it."""
    from tosa_reference_model import tosa_reference_model as reference

    outputs, status = reference.run(model, inputs, verbosity="NONE")
    if status != reference.GraphStatus.TOSA_VALID:
        raise ValueError(f"the reference model says {status}")
    return [np.array(output) for output in outputs]
