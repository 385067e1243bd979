# SPDX-License-Identifier: Apache-2.0
thimble_engine(abacus NPUS compiler/engine.h DEVICES hostrun/abacus.h CLI cli/cli.h RUNNER cortex-m33)
