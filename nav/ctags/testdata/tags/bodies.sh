shrun() {
	shgo "}"
}
shgo() {
	echo hi
}
function quoted {
	echo '}' # }
	echo ${x#*\}} "${y%\}}"
	cat <<-EOF
	}
	EOF
	case "$1" in
	a) echo a ;;
	esac
}
