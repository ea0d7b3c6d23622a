#pragma once

/* Brings up the loopback interface of the cell's own, otherwise empty network namespace. Returns 0
 * or -errno. netdevice(7) */
int network_loopback_up(void);
