# SPDX-License-Identifier: Apache-2.0
"""The table of networks in float32 in README.md, from the measurements of a folder (float_boards.py)."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from networks import NETWORKS
from table import one_line, replaced

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
MODELS = HERE.parents[1] / "models"
BOARDS = {"M4": "cortex-m4", "M7": "cortex-m7", "M55": "cortex-m55"}
# Largest difference of an element from the evaluator's, as a part of the largest element of the output. That of a network
# in which rounding errors grow may be EAGER times eager PyTorch's difference from the evaluator.
BOUND, EAGER = 2.0 ** -18, 4
COLUMNS = ["network", "MMAC", "arena B", "difference", "PyTorch", "equal"]



@dataclass
class Float:
    key: str
    model: Path
    data: Path  # samples by name
    eager: Path | None  # the first output of eager PyTorch for each sample


def networks(folder: Path, names: list[str]) -> list[Float]:
    found = [Float(f"models-{path.name}", path / f"{path.name}.pt2", path / "test.npz", None)
             for path in sorted(MODELS.iterdir()) if (path / f"{path.name}.pt2").exists()]
    found += [Float(network.key, folder / f"{network.key}.pt2", folder / f"{network.key}.npz",
                    folder / f"{network.key}.eager.npz") for network in NETWORKS]
    unknown = set(names) - {network.key for network in found}
    if unknown:
        sys.exit(f"unknown networks {sorted(unknown)}, expected names like {found[0].key}")
    return [network for network in found if not names or network.key in names]


def why_missing(text: str) -> str:
    if text == "MACs":
        return text
    if re.search(r"RAM of the board|arena is smaller|too large|does not fit|memory", text):
        return "memory of the board"
    return "time" if text.startswith("more than") else one_line(text, 60)


def cells(key: str, row: dict) -> list[str]:
    if row["exit"]:
        return [key, "", "", "", "", one_line(row["reason"], 110)]
    causes: dict[str, list[str]] = {}
    for place, text in row["missing"].items():
        causes.setdefault(why_missing(text), []).append(place)
    equal = ", ".join(row["equal"]) + "".join(f"; not {', '.join(places)}: {cause}" for cause, places in causes.items())
    if row["differs"]:
        equal = f"**differs: {', '.join(row['differs'])}** " + equal
    eager = f"{row['eager']:.1e}" if "eager" in row else ""
    return [key, f"{row['macs'] / 1e6:.1f}", f"{row['arena']:,}", f"{row['difference']:.1e}", eager, equal.removeprefix("; ")]


def rows_of_readme() -> dict[str, list[str]]:
    block = README.read_text().partition("<!-- float -->\n")[2].partition("<!-- end of float -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("| ")]
    return {row[0]: row for row in rows if row[0] != COLUMNS[0]}


def head(rows: list[list[str]]) -> str:
    """Counts the rows. A row that is not within the bound is named."""
    ran = [dict(zip(COLUMNS, row)) for row in rows if row[3]]
    refused = [row[0] for row in rows if not row[3]]
    beyond = [row["network"] for row in ran if not within(row)]
    larger = [row["network"] for row in ran if float(row["difference"]) > BOUND and within(row)]
    boards = [row for row in ran if row["equal"] == ", ".join(BOARDS)]
    differ = [row["network"] for row in ran if row["equal"].startswith("**")]
    known = len(networks(HERE, []))
    return " ".join([
        f"{len(ran)} of {len(rows)} networks that were run compile with `--float`"
        + (f"; not {', '.join(refused)}." if refused else "."),
        f"{known - len(rows)} of {known} were not run, or PyTorch did not export them.",
        f"{len(boards)} ran on all three boards, with the bytes of this machine; {len(differ)} differ there"
        + (f": {', '.join(differ)}." if differ else "."),
        f"{len(ran) - len(larger) - len(beyond)} differ from the evaluator by at most 2^-18 of the largest element, {len(larger)} "
        "by more, but by at most four times as much as eager PyTorch"
        + (f"; beyond that: {', '.join(beyond)}." if beyond else ", and none beyond that.")])


def within(row: dict) -> bool:
    eager = float(row["PyTorch"]) if row["PyTorch"] else 0.0
    return float(row["difference"]) <= max(BOUND, EAGER * eager)


def table(folder: Path, bless: bool) -> None:
    kept = rows_of_readme()
    rows = []
    for network in networks(folder, []):
        path = folder / f"{network.key}.float.json"
        row = cells(network.key, json.loads(path.read_text())) if path.exists() else kept.get(network.key)
        if row:
            rows.append(row)
    lines = [head(rows), "", "| " + " | ".join(COLUMNS) + " |", "|---|--:|--:|--:|--:|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    if bless:
        README.write_text(replaced(README.read_text(), "float", "end of float", lines))
    else:
        print("\n".join(lines))
