#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the FVP of a Corstone-300. Accepts its command line and behaves as FVP_STANDIN says. Writes the image's
words to the file FVP_STANDIN_WORDS.

  run    as the FVP: boots the image with these words, on QEMU. QEMU's board has no NPU, so the words that name an NPU are
         replaced by those of the simulated one
  crash  ends at once, as an FVP does after any failure: exit code 0 and no report
  fail   cannot start: exit code 1 and a line of text
  hang   the image never ends
"""

import os
import sys
import time

WORKSPACE_BYTES = 16 << 20


def parse(arguments):
    parameters, image, rest = {}, None, list(arguments)
    while rest:
        option, value = rest.pop(0), rest.pop(0)
        if option == "-C":
            name, _, text = value.partition("=")
            parameters[name] = text
        elif option == "-a":
            image = value
        else:
            sys.exit(f"unknown option {option}")
    return parameters, image


def run(parameters, image):
    if parameters["cpu0.semihosting-enable"] != "1":
        sys.exit("without semihosting the image has no files")
    words = parameters["cpu0.semihosting-cmd_line"].split()
    with open(os.environ["FVP_STANDIN_WORDS"], "w") as log:
        log.write(" ".join(words))
    if "-m" in words:
        at = words.index("-m")
        macs = words[at + 1].rsplit("-", 1)[1]
        if parameters["ethosu.num_macs"] != macs:
            sys.exit(f"an NPU of {parameters['ethosu.num_macs']} MACs for {words[at + 1]}")
        words[at:at + 3] = ["-n", words[at + 1], str(WORKSPACE_BYTES), words[at + 2]]
    os.chdir(parameters["cpu0.semihosting-cwd"])
    semihosting = "enable=on,target=native," + ",".join(f"arg={word}" for word in words)
    os.execvp("qemu-system-arm", ["qemu-system-arm", "-M", "mps3-an547", "-nographic", "-monitor", "none", "-serial",
                                  "none", "-semihosting-config", semihosting, "-kernel", image])


def main():
    parameters, image = parse(sys.argv[1:])
    play = os.environ["FVP_STANDIN"]
    if play == "fail":
        sys.exit("license checkout failed")
    if play == "hang":
        time.sleep(600)
    if play == "run":
        run(parameters, image)


if __name__ == "__main__":
    main()
