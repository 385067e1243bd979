# SPDX-License-Identifier: Apache-2.0
# The delegates for ExecuTorch's own runtime, in a Zephyr build.
if(CONFIG_EXECUTORCH_BUILD_NXP_NEUTRON)
  thimble_zephyr_executorch(neutron)
endif()
