# SPDX-License-Identifier: Apache-2.0
"""The tables of README.md, from the measurements of a folder."""

import collections
import json
import math
import re
from pathlib import Path

from networks import ENGINES, NETWORKS, Network

README = Path(__file__).resolve().parent / "README.md"
COLUMNS = ["network", "compiled", "CPU s", "memory MB", "arena B", "import error", "SQNR dB", "PT2E dB", "equal", *ENGINES]
LEFT = ("network", "compiled", "equal")
EXPLAINED = ["network", "SQNR dB", "varying energy dB", "SQNR of whole output dB", "largest error added by", "best option", "SQNR dB with it"]
LOW_DB = 5  # networks with a lower SQNR are explained
REASONS = 6  # reasons per engine in the second table


def read(folder: Path, network: Network, kind: str) -> dict:
    path = folder / f"{network.key}.{kind}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def one_line(text: str, length: int) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "/").strip()[:length].strip()


def reason_of(row: dict) -> str:
    """The first operator of a refusal, with the reason."""
    lines = [line.strip() for line in row["reason"].splitlines() if line.strip()]
    text = next((line for line in lines if "aten" in line or "higher_order" in line), lines[0] if lines else "")
    return one_line(text, 110)


def why_missing(text: str) -> str:
    if text == "MACs":
        return "MACs"
    if re.search(r"RAM of the board|arena is smaller", text):
        return "RAM of the board"
    if re.search(r"too large|does not fit|memory|overflow", text):
        return "memory"
    return "time" if text.startswith("more than") else one_line(text, 60)


def equal_cell(row: dict) -> str:
    if not row:
        return ""
    if row["differs"]:
        return f"**differs: {', '.join(row['differs'])}**"
    causes = collections.defaultdict(list)
    for place, text in row["missing"].items():
        causes[why_missing(text)].append(place)
    missing = "; ".join(f"not {' and '.join(places)}: {cause}" for cause, places in causes.items())
    return f"{len(row['equal'])}" + (f" ({missing})" if missing else "")


def db(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if math.isfinite(value) else "exact" if value > 0 else "constant"


def pt2e_cell(row: dict) -> str:
    return one_line(row["error"], 50) if "error" in row else db(row.get("sqnr"))


def share_cells(row: dict) -> list[str]:
    cells = []
    for engine in ENGINES:
        share = row.get(engine, {})
        if "error" in share:
            cells.append(one_line(share["error"], 40))
        else:
            cells.append(f"{100 * share['on_npu'] / share['macs']:.0f}" if share.get("macs") else "")
    return cells


def row_of(network: Network, folder: Path) -> list[str] | None:
    """The cells of a network; None if it was not run."""
    name = network.key + (" (drawn)" if network.random else "")
    row = read(folder, network, "result")
    if not row:
        failed = folder / f"{network.key}.export.txt"
        if not failed.exists():
            return None
        lines = failed.read_text().strip().splitlines()
        # The last line of PyTorch's message is advice; the error is the last line with a name of an exception.
        cause = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Node|Exception|Unsupported)\w*:", line)),
                     lines[-1])
        state = "not exported: " + one_line(re.sub(r"^[\w.]+\.(\w+:)", r"\1", cause), 100)
        return [name, state] + [""] * (len(COLUMNS) - 2)
    if row["exit"] != 0:
        state = "exit " + str(row["exit"]) if row["exit"] is not None else "stopped"
        cpu = f"{row['cpu_seconds']:.1f}" if "cpu_seconds" in row else ""
        return [name, f"{state}: {reason_of(row)}", cpu] + [""] * (len(COLUMNS) - 3)
    error = row.get("import_error")
    return [name, "yes" + (f", but {one_line(row['run_error'], 80)}" if "run_error" in row else ""),
            f"{row['cpu_seconds']:.1f}", f"{row['memory'] / 1e6:.0f}", f"{row['arena']:,}",
            "" if error is None else f"{error:.0e}", db(row.get("sqnr")), pt2e_cell(read(folder, network, "pt2e")),
            equal_cell(read(folder, network, "equal")), *share_cells(read(folder, network, "share"))]


def rows_of_readme() -> dict[str, list[str]]:
    """The rows of earlier measurements, by network."""
    text = README.read_text().partition("<!-- table -->\n")[2].partition("<!-- end -->\n")[0]
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == len(COLUMNS) and cells[0] != COLUMNS[0]:
            rows[cells[0].removesuffix(" (drawn)")] = cells
    return rows


def kept_cells(row: list[str] | None, earlier: list[str] | None) -> list[str] | None:
    """The row, with the earlier cells of what was not measured again."""
    if row is None or earlier is None:
        return row or earlier
    return [cell or before for cell, before in zip(row, earlier)]


def head(rows: list[list[str] | None]) -> str:
    """Counts what was run, for each column."""
    run = [row for row in rows if row and not row[1].startswith("not exported")]
    refused = sum(row is not None and row[1].startswith("not exported") for row in rows)
    compiled = [row for row in run if row[1].startswith("yes")]
    by_name = [dict(zip(COLUMNS, row)) for row in compiled]
    errors = [float(row["import error"]) for row in by_name if row["import error"]]
    compared = [row["equal"] for row in by_name if row["equal"]]
    differ = sum(cell.startswith("**") for cell in compared)
    both = [(float(row["SQNR dB"]), float(row["PT2E dB"])) for row in by_name
            if re.fullmatch(r"-?[\d.]+", row["PT2E dB"]) and re.fullmatch(r"-?[\d.]+", row["SQNR dB"])]
    sentences = [
        f"{len(compiled)} of {len(run)} networks that were run compile.",
        f"PyTorch did not export {refused} further ones; {sum(row is None for row in rows)} of {len(rows)} were not run.",
        f"The largest import error of {len(errors)} networks is {max(errors):.0e}." if errors else "",
        f"Outputs were compared for {len(compared)} networks, {sum(cell == '4' for cell in compared)} of them in all four "
        f"places; they differ for {differ}." if compared else "",
        f"PT2E has an SQNR for {len(both)} networks; Thimble's is higher for {sum(ours > theirs for ours, theirs in both)}."
        if both else "",
        f"The shares were measured for {sum(any(row[engine] for engine in ENGINES) for row in by_name)} networks.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def general(reason: str) -> str:
    """A reason without the sizes of one operator."""
    return re.sub(r"(?<![\w.-])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w-])", "#", without_place(reason))


def without_place(reason: str) -> str:
    """A reason without the engine's name and the source line at its begin."""
    return re.sub(r"^([\w-]+: )?([\w.]+:\d+: )?", "", re.sub(r"\s+", " ", reason))


def reasons(folder: Path) -> list[str]:
    """The most frequent reasons for operators that stay on the CPU, with the number of networks."""
    lines = ["| engine | networks | reason |", "|---|--:|---|"]
    for engine in ENGINES:
        counts: collections.Counter[str] = collections.Counter()
        texts = collections.defaultdict(set)
        for network in NETWORKS:
            found = read(folder, network, "share").get(engine, {}).get("reasons", [])
            counts.update({general(text) for text in found})
            for text in found:
                texts[general(text)].add(without_place(text))
        for reason, count in counts.most_common(REASONS):
            text = min(texts[reason]) if len(texts[reason]) == 1 else reason
            lines.append(f"| {engine} | {count} | {one_line(text, 160)} |")
    return lines


def explained_row(name: str, row: dict) -> list[str] | None:
    """The cells of a network in the table of low SQNR; None if its SQNR is not low."""
    value, warning = row.get("sqnr"), row.get("warning")
    if value is None or not math.isfinite(value) or round(value, 1) >= LOW_DB:  # as printed
        return None
    cells = [name, db(value), db(row["variation"]), db(value - row["variation"])]
    if not warning:
        return cells + ["", "", ""]
    options = {each["option"]: each["sqnr_db"] for each in warning["tried"]}
    best = max(options, key=options.get, default="")
    short = best if best.count("--") < 2 else " ".join(best.split()[:2]) + f" and {best.count('--') - 1} more"
    return cells + [f"`{warning['operator']}`", f"`{short}`" if best else "", db(options[best]) if best else ""]


def explained(folder: Path) -> list[str]:
    """The networks with a low SQNR, from the results of this folder and the earlier rows of others."""
    block = README.read_text().partition("<!-- explained -->\n")[2].partition("<!-- end of explained -->\n")[0]
    rows = {line.strip("| ").split(" | ")[0]: line for line in block.splitlines()}
    lines = ["| " + " | ".join(EXPLAINED) + " |", "|---|--:|--:|--:|---|---|--:|"]
    for network in NETWORKS:
        result = read(folder, network, "result")
        cells = explained_row(network.key, result) if result else None
        if cells:
            lines.append("| " + " | ".join(cells) + " |")
        elif not result and network.key in rows:
            lines.append(rows[network.key])
    return lines


def replaced(text: str, begin: str, end: str, lines: list[str]) -> str:
    before, found, rest = text.partition(f"<!-- {begin} -->\n")
    _, ended, after = rest.partition(f"<!-- {end} -->")
    if not found or not ended:
        raise SystemExit(f"{README}: found no table between {begin!r} and {end!r}, expected one")
    return before + found + "\n".join(lines) + "\n" + f"<!-- {end} -->" + after


def table(folder: Path, bless: bool) -> None:
    earlier = rows_of_readme()
    rows = [kept_cells(row_of(network, folder), earlier.get(network.key)) for network in NETWORKS]
    results = [head(rows), "", "| " + " | ".join(COLUMNS) + " |",
               "|" + "|".join("---" if column in LEFT else "--:" for column in COLUMNS) + "|"]
    results += ["| " + " | ".join(row) + " |" for row in rows if row is not None]
    if not bless:
        print("\n".join(results), "", *explained(folder), "", *reasons(folder), sep="\n")
        return
    text = replaced(README.read_text(), "table", "end", results)
    text = replaced(text, "explained", "end of explained", explained(folder))
    if any(read(folder, network, "share") for network in NETWORKS):
        text = replaced(text, "reasons", "end of reasons", reasons(folder))
    README.write_text(text)
