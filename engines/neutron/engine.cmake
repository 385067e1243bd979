# SPDX-License-Identifier: Apache-2.0
thimble_engine(neutron NPUS compiler/engine.h DEVICES hostrun/neutron.h CLI cli/cli.h MODEL_APART
               RUNNER cortex-m33 RUNNER_LINK -Wl,--wrap=neutronRunBlocking)
