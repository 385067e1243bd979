#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events of Thimble's kernels and delegates in an ETDump of ExecuTorch's own runtime.

    events_test.py THIMBLE SOURCE LIBRARIES FOLDER

Exit 77 if ExecuTorch is not installed.
"""

import sys
from pathlib import Path

from loading import load_libraries
from runtime_test import compile_network


def events_of(path, samples, dump):
    """Names of the events of one execution."""
    import torch
    from executorch.devtools import Inspector
    from executorch.extension.pybindings.portable_lib import _load_for_executorch

    module = _load_for_executorch(str(path), enable_etdump=True)
    module.run_method("forward", [torch.from_numpy(x) for x in samples[0]])
    module.write_etdump_result_to_file(str(dump))
    return [event.name for block in Inspector(etdump_path=str(dump)).event_blocks for event in block.events]


def main():
    thimble, source, libraries, folder = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import executorch.devtools  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    load_libraries(libraries)
    passed = True
    # Per part: the events that must exist, and the least number of events of operations.
    for name, target, names in (
        ("axon", "nrf54lm20b", ["ThimbleAxonModel", "CONV", "FC"]),
        ("neutron", "imxrt700cm", ["ThimbleNeutronModel", "Conv2DStandard"]),
        ("ethos_u", "corstone-300", ["EthosUBackend"]),
        ("cortex_m", "cortex-m55", ["thimble::conv2d.mve", "thimble::linear.mve"]),
    ):
        path, samples = compile_network(thimble, source, folder, name, "digits_cnn", ["--target", target])
        found = events_of(path, samples, folder / f"{name}.etdump")
        missing = [event for event in names if not any(event in str(one) for one in found)]
        print(f"{name}: {len(found)} events, missing: {missing}", flush=True)
        if missing:
            print(*found, sep="\n", file=sys.stderr)
        passed &= not missing
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
