# SPDX-License-Identifier: Apache-2.0
"""ETRecords for ExecuTorch's Inspector: the model, and which of its nodes each instruction computes.

    python -m thimble_ml.etrecord MODEL.pt2 MODEL.pte -o FILE.etrecord [--input X.npz]

The program must be compiled with ``names=True`` (``--names``). Requires PyTorch and ExecuTorch.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
from typing import Any, Optional, Sequence, cast

from ._errors import BadInput
from ._interpreter import ProgramLike
from ._queries import inspect

_METHOD = "forward"


class _Handles:
    """Debug handles of an ExportedProgram: the number of each node that calls an operator."""

    def __init__(self, exported: Any) -> None:
        calls = [node for node in exported.graph.nodes if node.op == "call_function"]
        self.of_node = {node.name: number for number, node in enumerate(calls, start=1)}
        self._shapes = {node.name: _shape(node.meta.get("val")) for node in calls}
        self._unused = len(calls)
        for node in calls:
            node.meta["debug_handle"] = self.of_node[node.name]

    def of_call(self, nodes: list[str], results: list[str], shapes: list[Any]) -> list[int]:
        """Returns the handles of an instruction. The Inspector compares its result number i from the end with
        the node of the handle number i from the end. A number without a node is there if no node has the
        shape of the result: the Inspector then compares nothing."""
        inner = [name for name in nodes if name in self.of_node]
        last: list[Optional[str]] = []
        for result, shape in zip(reversed(results), reversed(shapes)):
            named = _without_suffix(result)
            candidates = [n for n in [*inner, named] if self._shapes.get(n) == shape and shape is not None]
            best = named if named in candidates else candidates[-1] if candidates else None
            if best in inner:
                inner.remove(best)
            last.insert(0, best)
        handles = [self.of_node[name] for name in inner]
        for name in last:
            if name is None:
                self._unused += 1
            handles.append(self._unused if name is None else self.of_node[name])
        return handles


def _shape(value: Any) -> Optional[list[int]]:
    """Shape of a node's result; None if it is not one tensor of a static shape."""
    try:
        return [int(size) for size in value.shape]
    except (AttributeError, RuntimeError, TypeError):
        return None


def _without_suffix(name: str) -> str:
    """The quantized value of an output is `<name>_int8`."""
    return name[: -len("_int8")] if name.endswith("_int8") else name


def _result_shapes(plan: dict[str, Any], instruction: dict[str, Any], count: int) -> list[Any]:
    """Shapes of the last `count` operands of an instruction, which are its results."""
    values = [plan["values"][index] for index in instruction["args"][-count:]]
    return [value["sizes"] if value["type"] == "tensor" else None for value in values]


def etrecord(model: Any, program: ProgramLike, *, inputs: Optional[Sequence[Any]] = None) -> Any:
    """Makes the ETRecord of a compiled program.

    Parameters
    ----------
    model : str, os.PathLike or torch.export.ExportedProgram
        The export that was compiled. Its nodes get their debug handles.
    program : str, os.PathLike, bytes or Compiled
        The `.pte`, compiled with ``names=True``.
    inputs : list of torch.Tensor
        Inputs of one call, for ``Inspector.calculate_numeric_gap``. Optional.

    Returns
    -------
    executorch.devtools.etrecord.ETRecord
        With ``save(path)``; the Inspector accepts the object or the file.

    Raises
    ------
    BadInput
        The program has no debug handles.
    """
    import torch
    from executorch.devtools.etrecord import ETRecord

    exported = model if isinstance(model, torch.export.ExportedProgram) else torch.export.load(str(model))
    facts = inspect(program)
    if "debug_handles" not in facts:
        raise BadInput(f"{facts['file']}: the file has no debug handles: compile with names=True (--names)")
    plan = facts["program"]["plans"][0]
    handles = _Handles(exported)
    calls: dict[str, list[int]] = {}
    outputs: dict[str, int] = {}
    delegates: dict[str, Any] = {}
    instructions = plan["chains"][0]["instructions"]
    if len(facts["debug_handles"]) != len(instructions):
        raise BadInput(f"{facts['file']}: {len(facts['debug_handles'])} debug handles for {len(instructions)} instructions")
    for number, (call, instruction) in enumerate(zip(facts["debug_handles"], instructions)):
        results = [result["name"] for result in call["results"]]
        shapes = _result_shapes(plan, instruction, len(results))
        calls[str(number)] = handles.of_call(call["nodes"], results, shapes)
        outputs[str(number)] = len(results)
        if instruction["kind"] != "delegate":
            continue
        operations = {
            key: [handles.of_node[name] for name in nodes if name in handles.of_node]
            for key, nodes in call["operations"].items()
        }
        delegates[str(number)] = {"name": instruction["id"], "delegate_map": operations}
    # The types of the constructor are those of ExecuTorch's emitter; its files and readers have this form.
    record = cast(Any, ETRecord)(
        edge_dialect_program=exported,
        _debug_handle_map={_METHOD: calls},
        _delegate_map={_METHOD: delegates},
        _instruction_id_to_num_outs_map={_METHOD: outputs},
    )
    if inputs is not None:
        record.update_representative_inputs(list(inputs))
    return record


def _read_inputs(paths: list[pathlib.Path], exported: Any) -> list[Any]:
    """The first sample of each input, from one .npz by name or from one .npy per input."""
    import numpy as np
    import torch

    names = list(exported.graph_signature.user_inputs)
    if len(paths) == 1 and paths[0].suffix == ".npz":
        with np.load(paths[0]) as archive:
            found = _arrays_of(archive, names)
    else:
        found = [np.load(path) for path in paths]
    if len(found) != len(names):
        raise BadInput(f"{len(found)} inputs given, expected {len(names)}: {', '.join(names)}")
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    tensors: list[Any] = []
    for name, array in zip(names, found):
        shape = _shape(nodes[name].meta["val"])
        tensor = torch.as_tensor(np.array(array, order="C")).to(nodes[name].meta["val"].dtype)
        tensors.append(tensor if shape is None else _first_sample(name, tensor, shape))
    return tensors


def _arrays_of(archive: Any, names: list[str]) -> list[Any]:
    """The arrays with the names of the inputs. An only array, besides labels, is that of an only input."""
    arrays = [name for name in archive.files if name != "labels"]
    if len(names) == 1 and len(arrays) == 1:
        return [archive[arrays[0]]]
    missing = [name for name in names if name not in archive.files]
    if missing:
        raise BadInput(f"no arrays for the inputs {', '.join(missing)}: found {', '.join(archive.files)}")
    return [archive[name] for name in names]


def _first_sample(name: str, tensor: Any, shape: list[int]) -> Any:
    """The input of one call. Samples of more calls are along a new first axis or along the first axis."""
    found = list(tensor.shape)
    if found == shape:
        return tensor
    if len(found) == len(shape) + 1 and found[0] > 0 and found[1:] == shape:
        return tensor[0]
    if shape and len(found) == len(shape) and found[0] > shape[0] and found[1:] == shape[1:]:
        return tensor[: shape[0]]
    raise BadInput(f"{name}: the array has the shape {found}, the input has {shape}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m thimble_ml.etrecord",
                                     description="Writes an ETRecord for ExecuTorch's Inspector")
    parser.add_argument("model", type=pathlib.Path, help="the .pt2 that was compiled")
    parser.add_argument("program", type=pathlib.Path, help="the .pte, compiled with --names")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the ETRecord")
    parser.add_argument("--input", type=pathlib.Path, nargs="+", metavar="FILE",
                        help="inputs of one call for calculate_numeric_gap: one .npz, or one .npy per input")
    arguments = parser.parse_args()
    import torch

    try:
        exported = torch.export.load(str(arguments.model))
        inputs = _read_inputs(arguments.input, exported) if arguments.input else None
        output = arguments.output.resolve()
        with tempfile.TemporaryDirectory(dir=output.parent) as folder:
            complete = pathlib.Path(folder) / output.name
            etrecord(exported, arguments.program, inputs=inputs).save(complete)
            complete.replace(output)
    except (BadInput, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
