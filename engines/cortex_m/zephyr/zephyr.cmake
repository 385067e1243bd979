# SPDX-License-Identifier: Apache-2.0
# The core of a Zephyr build. Compilers define no macro for the Cortex-M7, whose loops differ (kernels/dsp/dual_issue.h).
if(CONFIG_CPU_CORTEX_M7)
  target_compile_definitions(thimble_device INTERFACE THIMBLE_DUAL_ISSUE=1)
endif()
