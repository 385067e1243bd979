# SPDX-License-Identifier: Apache-2.0
"""Measures compilers that are installed as Python packages: ExecuTorch's flow for Cortex-M."""

import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def executorch(python, folders):
    """Rows of {network, pte_bytes, planned_bytes, seconds}; empty without a PYTHON."""
    if python is None:
        return []
    rows = []
    for folder in folders:
        if folder is None:
            continue
        done = subprocess.run([python, str(HERE / "executorch_row.py"), str(folder)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
            rows.append({"network": folder.name, "failed": said})
            continue
        rows.append(json.loads(done.stdout.strip().splitlines()[-1]))
    return rows


def line(row):
    if "failed" in row:
        return f"ExecuTorch {row['network']}: {row['failed']}"
    return (f"ExecuTorch {row['network']}: .pte {row['pte_bytes']} B, planned {row['planned_bytes']} B, "
            f"{row['seconds']:.1f} s to quantize and compile")
