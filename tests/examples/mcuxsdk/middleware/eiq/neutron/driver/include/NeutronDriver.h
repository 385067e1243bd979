// SPDX-License-Identifier: Apache-2.0
#ifndef NEUTRON_DRIVER_H
#define NEUTRON_DRIVER_H
/* The driver's header, by its name in the SDK. The vendor's libraries are not here: the application
 * links Thimble's model. */
#include "engines/neutron/container/driver.h"
#endif
