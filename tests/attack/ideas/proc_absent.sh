# attacks: /proc, by existence and by mounting it
# line: proc
# rootless: yes
if [ -e /proc/self ] || [ -n "$(ls -A /proc 2>/dev/null)" ] || [ -e /sys ]; then echo "ESCAPED there is /proc or /sys"; exit; fi
mkdir -p /tmp/p
if mount -t proc proc /tmp/p 2>/dev/null || mount -t sysfs sys /tmp/p 2>/dev/null; then echo "ESCAPED mounted"; exit; fi
echo SAFE
