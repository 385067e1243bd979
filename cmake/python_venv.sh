#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# python_venv.sh FOLDER: makes FOLDER/python-venv with nanobind and NumPy, with which cmake/build.sh builds
# the Python package, and with reuse, which checks the licence of each file. Without a network, says so and
# makes nothing: the tests of the package are skipped.
set -eu
venv=$1/python-venv
[ ! -f "$venv/complete" ] || exit 0
mkdir -p "$1"
rm -rf "$venv"
if python3 -m venv "$venv" >"$1/python-venv.log" 2>&1 &&
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'nanobind>=3.1,<4' numpy \
    >>"$1/python-venv.log" 2>&1; then
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check reuse >>"$1/python-venv.log" 2>&1 ||
    echo "skipped: tidy_reuse needs reuse from PyPI ($1/python-venv.log)"
  touch "$venv/complete"
else
  rm -rf "$venv"
  echo "skipped: the tests of the Python package need nanobind and NumPy from PyPI ($1/python-venv.log)"
fi
