# SPDX-License-Identifier: Apache-2.0
"""Compares the list of core ATen operators (src/import/core_aten.def) with PyTorch's tags.

    python3 core_aten_peer.py SOURCE
"""
import pathlib
import re
import sys

try:
    import torch
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)


def tagged():
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        name, overload = schema.name.removeprefix("aten::"), schema.overload_name or "default"
        packet = getattr(torch.ops.aten, name, None)
        operator = getattr(packet, overload, None) if packet is not None else None
        if operator is not None and torch.Tag.core in operator.tags:
            yield f"aten.{name}.{overload}"


def main():
    text = (pathlib.Path(sys.argv[1]) / "src/import/core_aten.def").read_text()
    version = re.search(r"PyTorch ([0-9.]+[0-9])", text).group(1)
    if torch.__version__.split("+")[0] != version:
        print(f"skipped: the list is of PyTorch {version}, this is {torch.__version__}")
        return 77
    listed, wanted = re.findall(r'^CORE_ATEN\("([^"]+)"', text, re.M), sorted(set(tagged()))
    if listed != wanted:
        print("missing:", sorted(set(wanted) - set(listed)), "not tagged:", sorted(set(listed) - set(wanted)))
        return 1
    print(len(listed), "operators")
    return 0


if __name__ == "__main__":
    sys.exit(main())
