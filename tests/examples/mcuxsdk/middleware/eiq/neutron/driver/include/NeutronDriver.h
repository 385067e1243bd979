#ifndef NEUTRON_DRIVER_H
#define NEUTRON_DRIVER_H
/* The driver's header under its name in the SDK. The vendor's libraries are not used: the
 * application links Thimble's model. */
#include "npu/neutron/driver.h"
#endif
