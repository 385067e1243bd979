# SPDX-License-Identifier: Apache-2.0
"""Writes the table as an HTML page with inline SVG charts. The page needs no network and no script."""

import html
import io

import cmsis_nn

STYLE = """body{font:15px sans-serif;margin:2em auto;max-width:70em;padding:0 1em}
table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd}
td:nth-child(-n+3),th:nth-child(-n+3){text-align:left}svg{max-width:100%;height:auto}"""


def chart(rows, networks):
    """Bar chart of instructions relative to CMSIS-NN, per network and core. Empty without matplotlib."""
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        return "<p>No chart: matplotlib is not installed.</p>"
    bars = [(row["network"], f"{row['core']} for {row['optimize']}", both[0] / both[1])
            for row in rows if (both := cmsis_nn.totals(row, networks))]
    if not bars:
        return ""
    names = list(dict.fromkeys(bar[0] for bar in bars))
    cores = list(dict.fromkeys(bar[1] for bar in bars))
    figure, axes = pyplot.subplots(figsize=(10, 4))
    width = 0.8 / len(cores)
    for index, core in enumerate(cores):
        found = [(names.index(name), ratio) for name, at, ratio in bars if at == core]
        axes.bar([place + index * width for place, _ in found], [ratio for _, ratio in found], width, label=core)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(names))], names)
    axes.set_ylabel("instructions / CMSIS-NN's best build")
    axes.legend(ncol=3, fontsize=8)
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return text.getvalue()[text.getvalue().index("<svg"):]


def html_page(table, rows, networks, peers):
    head, *body = table
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    notes = "".join(f"<li>{html.escape(str(peer))}</li>" for peer in peers)
    return (f"<!doctype html><html lang=en><meta charset=utf-8><title>Thimble on Cortex-M</title><style>{STYLE}</style>"
            f"<h1>Thimble on Cortex-M</h1><p>Instructions of one inference under QEMU, int8 inputs and outputs; bytes of "
            f"memory; flash of the file over its weights.</p>{chart(rows, networks)}"
            f"<table><tr>{cells}</tr>{lines}</table>{'<ul>' + notes + '</ul>' if notes else ''}</html>\n")
