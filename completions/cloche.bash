# bash completion for cloche(1)

_cloche()
{
	local word=$2 before=$3 command=${COMP_WORDS[1]} i

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W 'run doctor jail help --help --version' -- "$word")
		return
	fi
	case $command in
	run)
		# What stands behind -- is the script's.
		for ((i = 2; i < COMP_CWORD; i++)); do
			[[ ${COMP_WORDS[i]} == -- ]] && return
		done
		case $before in
		-l | --language) mapfile -t COMPREPLY < <(compgen -W 'python bash' -- "$word") ;;
		-p | --profile) mapfile -t COMPREPLY < <(compgen -W 'strict roomy' -- "$word") ;;
		-o | --out | --rootfs) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
		-t | --timeout | -e | --env) ;;
		*)
			if [[ $word == -* ]]; then
				mapfile -t COMPREPLY < <(compgen -W '--file --out --language --timeout
					--profile --stdin --env --json --rootfs --unlimited-host --help' -- "$word")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$word")
			fi
			;;
		esac
		;;
	doctor) mapfile -t COMPREPLY < <(compgen -W '--json --help' -- "$word") ;;
	jail) mapfile -t COMPREPLY < <(compgen -W 'syscalls --denied --json --help' -- "$word") ;;
	help) mapfile -t COMPREPLY < <(compgen -W 'run doctor jail help' -- "$word") ;;
	esac
}

complete -o filenames -F _cloche cloche
