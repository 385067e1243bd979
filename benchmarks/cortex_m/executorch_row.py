# SPDX-License-Identifier: Apache-2.0
"""usage: executorch_row.py FOLDER: prints the result of ExecuTorch's Cortex-M flow for the network of FOLDER as a line of JSON.
The flow is that of benchmarks/operators/peer.py."""

import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "operators"))

from peer import lowered  # noqa: E402  (after its folder is added to the path)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    start = time.monotonic()
    program = lowered(folder)
    seconds = time.monotonic() - start
    plan = program.executorch_program.execution_plan[0]
    print(json.dumps({"network": folder.name, "pte_bytes": len(program.buffer),
                      "planned_bytes": sum(plan.non_const_buffer_sizes), "seconds": seconds}))


if __name__ == "__main__":
    main()
