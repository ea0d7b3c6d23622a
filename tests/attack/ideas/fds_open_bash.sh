# attacks: descriptors left open for bash
# line: inheritance
bad=
for fd in $(seq 3 254); do # 255 is bash's own, for the script
	if (exec 2>/dev/null; exec 1>&$fd) || (exec 2>/dev/null; exec 0<&$fd); then
		bad="$bad $fd"
	fi
done
[ -z "$bad" ] && echo SAFE || echo "ESCAPED descriptors$bad"
