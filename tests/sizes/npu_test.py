# SPDX-License-Identifier: Apache-2.0
"""Flash that `thimble compile` prints for parts with an NPU, compared with a linked image without the NPU's driver.

usage: npu_test.py THIMBLE BUILD SOURCE_DIR
"""

import pathlib
import sys
import tempfile

THIMBLE, BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "benchmarks/sizes"))
import linked

PARTS = {"corstone-300": "cortex-m55", "nrf54lm20b": "cortex-m33", "imxrt700": "cortex-m33"}
NO_DRIVER = ["corstone-300"]  # the delegate drives the NPU


def main():
    for part, core in PARTS.items():
        with tempfile.TemporaryDirectory() as folder:
            report, true = linked.linked_flash(THIMBLE, BUILD, "dscnn_kws", part, core, pathlib.Path(folder))
            assert any(op["engine"] != core for op in report["ops"]), f"{part}: no operator runs on the NPU"
            said = report["flash_bytes"]
            print(f"{part}: {said} printed, {true} linked", flush=True)
            assert true <= said <= linked.allowed(true), part
            model = SOURCE / "models/dscnn_kws"
            text = linked.run(THIMBLE, "compile", model / "dscnn_kws.pt2", "--target", part, "--calibrate",
                              model / "calibrate.npz", "-o", pathlib.Path(folder) / "x.pte")
            assert ("driver of the NPU's vendor" in text) == (part not in NO_DRIVER), text


if __name__ == "__main__":
    main()
