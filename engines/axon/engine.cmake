# SPDX-License-Identifier: Apache-2.0
thimble_engine(axon NPUS compiler/engine.h DEVICES hostrun/axon.h CLI cli/cli.h RUNNER cortex-m33)
