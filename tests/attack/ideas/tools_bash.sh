# attacks: the host's own tools for namespaces, mounts and tracing, as they lie in /usr
# line: denied calls
# rootless: yes
try() {
	command -v "$1" >/dev/null || return
	if timeout 5 "$@" >/dev/null 2>&1; then echo "ESCAPED $*"; exit; fi
}
try unshare -r true
try unshare -Urm true
try unshare -p --fork true
try nsenter -t 1 -m true
try mount -t tmpfs none /mnt/data
try mount -o remount,rw /
try mount --bind /usr /mnt/data
try umount /mnt/data
try umount -l /
try chroot / true
try hostname owned
try date -s 2001-01-01
try strace -f true
try gdb -p 1 -batch
try chrt -f 1 true
try dmesg
try bwrap --ro-bind / / true
try sudo -n true
try newuidmap 1 0 0 1
try swapoff -a
try insmod x
try keyctl show
echo SAFE
