#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates prj.conf like Zephyr's configuration: with the modules' Kconfig; refuses settings without effect.

usage: configure.py PRJ_CONF OUT_DIR --modules MODULE... --settings CONFIG_NAME=VALUE...

Writes config.cmake: the symbols as variables, and all of them as CONFIG_DEFINITIONS. Needs kconfiglib
(Debian: python3-kconfiglib).
"""
import argparse
import sys
import tempfile
from pathlib import Path

import kconfiglib


def tree(modules, folder: Path) -> kconfiglib.Kconfig:
    """Returns the stand-in's own Kconfig, followed by those of the modules."""
    lines = [f'source "{Path(__file__).resolve().parent}/Kconfig"']
    for module in modules:
        row, = [line for line in (module / "zephyr/module.yml").read_text().splitlines() if line.strip().startswith("kconfig:")]
        lines.append(f'source "{module}/{row.split(":")[1].strip()}"')
    (folder / "Kconfig").write_text("\n".join(lines) + "\n")
    return kconfiglib.Kconfig(str(folder / "Kconfig"), warn_to_stderr=False)


def without_effect(config: kconfiglib.Kconfig) -> list:
    """Returns the symbols whose value differs from the requested one."""
    wrong = []
    for symbol in config.unique_defined_syms:
        if symbol.user_value is None:
            continue
        asked = kconfiglib.TRI_TO_STR.get(symbol.user_value, symbol.user_value)
        if asked != symbol.str_value:
            needs = kconfiglib.expr_str(symbol.direct_dep)
            wrong.append(f"CONFIG_{symbol.name} was set to {asked} and is {symbol.str_value or 'n'}; it depends on {needs}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prj_conf", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--modules", type=lambda word: Path(word).resolve(), nargs="*", default=[])
    parser.add_argument("--settings", nargs="*", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        config = tree(options.modules, folder)
        (folder / "settings.conf").write_text("".join(setting + "\n" for setting in options.settings))
        config.warn_assign_undef = True
        config.load_config(str(options.prj_conf))
        config.warn_assign_override = False
        config.load_config(str(folder / "settings.conf"), replace=False)
        wrong = config.warnings + without_effect(config)
        if wrong:
            sys.exit("\n".join(wrong))
    rows = [symbol.config_string.rstrip() for symbol in config.unique_defined_syms]
    pairs = [row.split("=", 1) for row in rows if row.startswith("CONFIG_")]
    definitions = [f"{name}={1 if value == 'y' else value}" for name, value in pairs]
    lines = [f"set({name} {value})" for name, value in pairs] + [f"set(CONFIG_DEFINITIONS {' '.join(definitions)})"]
    (options.out / "config.cmake").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
