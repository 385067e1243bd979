/* The mean square between what the network was given and what it made of it, above which the motor
 * has a fault. export.py prints how many well motors and how many faults lie above it. */
#define ANOMALY_LIMIT 0.0025f
