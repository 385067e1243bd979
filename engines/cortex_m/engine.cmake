# SPDX-License-Identifier: Apache-2.0
thimble_engine(cortex_m CORES compiler/cortex_m.h)
