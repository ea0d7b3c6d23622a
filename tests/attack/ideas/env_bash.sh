# attacks: variables and functions of the caller in bash
# line: inheritance
left=$(env | cut -d= -f1 | grep -vxE 'PATH|HOME|USER|LANG|TZ|TMPDIR|MPLBACKEND|MPLCONFIGDIR|XDG_CACHE_HOME|PYTHONUNBUFFERED|(OMP|OPENBLAS|MKL|NUMEXPR|VECLIB)_NUM_THREADS|VECLIB_MAXIMUM_THREADS|PYTHON_CPU_COUNT|PWD|OLDPWD|SHLVL|_')
functions=$(declare -F)
[ -z "$left$functions" ] && echo SAFE || echo "ESCAPED" $left $functions
