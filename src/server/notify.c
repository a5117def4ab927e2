/*
 * server/notify.c: sd_notify. It answers a missing service manager with silence,
 * so callers need not ask whether there is one.
 */
#include "server/notify.h"

#ifdef RCPD_SYSTEMD

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "util/clock.h"

void notify_ready(const char *status)
{
	sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void notify_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_mono_ns() / 1000);
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1\nSTATUS=finishing what is running");
}

void notify_watchdog(void)
{
	sd_notify(0, "WATCHDOG=1");
}

uint64_t notify_watchdog_ms(void)
{
	uint64_t usec = 0;

	if (sd_watchdog_enabled(0, &usec) <= 0)
		return 0;
	return usec / 2000 ? usec / 2000 : 1;
}

#else

void notify_ready(const char *status)
{
	(void)status;
}

void notify_reloading(void)
{
}

void notify_stopping(void)
{
}

void notify_watchdog(void)
{
}

uint64_t notify_watchdog_ms(void)
{
	return 0;
}

#endif
