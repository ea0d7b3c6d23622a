#!/usr/bin/bash
# First process of the guest. It makes the tree usable, runs the tests, and powers off. As bash it also reaps what is
# re-parented to it, as an init must.
#
# A process whose root is rootfs cannot pivot_root, and one that was merely chrooted may not make user namespaces
# (current_chrooted()). Binding the tree and moving the bind over / gives a root that is an ordinary mount; this is
# switch_root(8) without the copy, because the memory is there anyhow.
if [ "$1" != moved ]; then
	mount --bind / /mnt
	cd /mnt || exit 1
	mount --move . /
	exec chroot . /usr/bin/bash /init moved
fi
export PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 HOME=/root
cd /
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
mount -t devtmpfs -o nosuid devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o nosuid,nodev tmpfs /dev/shm
mount -t tmpfs -o nosuid,nodev,mode=0755 tmpfs /run
mount -t cgroup2 -o nosuid,nodev,noexec,nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup

# The same shape as systemd makes: controllers on at the top, and every process in a leaf.
mkdir /sys/fs/cgroup/session.scope
echo $$ >/sys/fs/cgroup/session.scope/cgroup.procs
echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control

python3 /opt/guest/guest.py >/dev/ttyS1
echo o >/proc/sysrq-trigger
# Power-off happens in a worker: stay, or the kernel panics over a dead init first.
sleep 60
