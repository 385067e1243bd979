# SPDX-License-Identifier: Apache-2.0
"""Executes a notebook with nbclient, in this Python, and writes it with its outputs.

usage: execute_notebook.py NOTEBOOK FOLDER EXECUTED SECONDS

FOLDER is the working directory of the notebook. A cell may take SECONDS.
"""

import sys

import nbclient
import nbformat


def main():
    source, folder, executed, seconds = sys.argv[1:]
    notebook = nbformat.read(source, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=int(seconds), kernel_name="python3",
                                     resources={"metadata": {"path": folder}})
    try:
        client.execute()
    finally:
        nbformat.write(notebook, executed)


if __name__ == "__main__":
    main()
