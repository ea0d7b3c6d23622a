# bash completion for cloche(1)

_cloche_words()
{
	mapfile -t COMPREPLY < <(compgen "$@" -- "$word")
}

# The options of all commands that talk to a supervisor, and the values of some.
_cloche_server='--server --token-file --state --json --help'

_cloche_value()
{
	case $before in
	-l | --language) _cloche_words -W 'python bash' ;;
	-p | --profile | --profiles) _cloche_words -W 'strict roomy' ;;
	--policy) _cloche_words -W 'ephemeral kept' ;;
	--scope) _cloche_words -W 'run admin run,admin' ;;
	--log-level) _cloche_words -W 'error warning info debug' ;;
	-o | --out)
		if [[ $command == files || $command == session ]]; then
			_cloche_words -f
		else
			_cloche_words -d
		fi
		;;
	--rootfs | --state | --from | --cache) _cloche_words -d ;;
	--token-file | --config | -i | --stdin | -f | --file) _cloche_words -f ;;
	-t | --timeout | -e | --env | --server | --session | --tenant | --listen) ;;
	*) return 1 ;;
	esac
}

_cloche()
{
	local word=$2 before=$3 command=${COMP_WORDS[1]} i
	local commands='run up session files cancel token image doctor jail help'

	if ((COMP_CWORD == 1)); then
		_cloche_words -W "$commands --help --version"
		return
	fi
	# What stands behind -- is the script's.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && return
	done
	_cloche_value && return
	case $command in
	run)
		if [[ $word == -* ]]; then
			_cloche_words -W '--file --out --language --timeout --profile --stdin --env --json --rootfs
				--unlimited-host --server --token-file --state --session --policy --live
				--reset --help'
		else
			_cloche_words -f
		fi
		;;
	up)
		_cloche_words -W '--state --config --listen --max-sessions --session-idle-s --session-max-s
			--queue-wait-s --queue-max --profile --rootfs --log-level --unlimited-host --no-warm --no-assistant
			--help'
		;;
	image)
		if ((COMP_CWORD == 2)) && [[ $word != -* ]]; then
			_cloche_words -W 'build path ls rm'
		else
			_cloche_words -W '--out --locked --update-lock --from --cache --old --downloads --json --help'
		fi
		;;
	session | files | token)
		if ((COMP_CWORD == 2)) && [[ $word != -* ]]; then
			case $command in
			session) _cloche_words -W 'ls show stop rm export import' ;;
			files) _cloche_words -W 'ls get put rm' ;;
			token) _cloche_words -W 'add ls rm' ;;
			esac
		elif [[ $word == -* && $command == token ]]; then
			_cloche_words -W '--tenant --scope --profiles --policy --state --json --help'
		elif [[ $word == -* && $command == files ]]; then
			_cloche_words -W "--out --profile --policy $_cloche_server"
		elif [[ $word == -* ]]; then
			_cloche_words -W "--out --policy --profile $_cloche_server"
		elif [[ $command == files ]]; then
			_cloche_words -f
		fi
		;;
	cancel) _cloche_words -W "$_cloche_server" ;;
	doctor) _cloche_words -W '--json --help' ;;
	jail) _cloche_words -W 'syscalls --denied --json --help' ;;
	help) _cloche_words -W "$commands" ;;
	esac
}

complete -o filenames -F _cloche cloche
