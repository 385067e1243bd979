// SPDX-License-Identifier: Apache-2.0
/* Limit for the mean squared difference between input and output, above which the motor has a
 * fault. export.py prints how many healthy motors and how many faults are above it. */
#define ANOMALY_LIMIT 0.0025f
