/* server/notify.h: what the service manager is told. Empty without libsystemd or
 * outside a service. */
#ifndef RCPD_SERVER_NOTIFY_H
#define RCPD_SERVER_NOTIFY_H

#include <stdint.h>

void notify_ready(const char *status); /* one line for systemctl status */
void notify_reloading(void);           /* followed by notify_ready */
void notify_stopping(void);
void notify_watchdog(void);
/* How often notify_watchdog must be called, in ms: half of what is allowed; 0: never. */
uint64_t notify_watchdog_ms(void);

#endif
