# SPDX-License-Identifier: Apache-2.0
thimble_engine(ethos_u NPUS compiler/engine.h DEVICES hostrun/ethos_u.h CLI cli/cli.h MODEL_APART
               OPTIMIZED compiler/weights RUNNER cortex-m55 cortex-m85)
