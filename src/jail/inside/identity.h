#pragma once

/* Who a process of the cell is. Raw system calls throughout: glibc's wrappers would signal other
 * threads, and between vfork and exec the script's process shares init's memory. Each returns 0 or
 * -errno. */

/* init, born with all capabilities of the cell's user namespace: keeps what it builds a cell with.
 */
int identity_limit_capabilities(void);

/* init: from the unmapped ids that it was born with to root of the cell's user namespace. */
int identity_become_root(void);

/* init, for the script to inherit: no capability in the bounding set, none ambient, securebits
 * locked so that ids and an exec give none either. prctl(2) */
int identity_empty_bounding(void);

/* init, before a script begins: nobody in the cell may look into it. */
int identity_hide(void);

/* script: all ids CELL_SCRIPT_ID. Supplementary groups are empty since jaild (setgroups is denied
 * in the cell). */
int identity_become_script(void);

/* script: empty permitted, effective, inheritable and ambient sets. capabilities(7) */
int identity_drop_capabilities(void);
