#!/bin/sh
# Install the programs named on the command line that are missing, where that is allowed (Debian or Ubuntu, as root
# or with sudo that asks for no password).  Never fails: what stays missing is skipped, visibly, by whoever needs it.
missing=""
for wanted in "$@"; do
  case "$wanted" in
    chromium) command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing="$missing chromium" ;;
    postgresql) command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql" ;;
    nodejs) command -v node >/dev/null || missing="$missing nodejs" ;;
    npm) command -v npm >/dev/null || missing="$missing npm" ;;
    ext4) command -v mkfs.ext4 >/dev/null || missing="$missing e2fsprogs" ;;
    xfs) command -v mkfs.xfs >/dev/null || missing="$missing xfsprogs" ;;
    caddy) command -v caddy >/dev/null || missing="$missing caddy" ;;
    nginx) command -v nginx >/dev/null || test -x /usr/sbin/nginx || missing="$missing nginx-light" ;;
    java) command -v java >/dev/null || missing="$missing default-jre-headless" ;;
  esac
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "Not installed, and no apt-get to install it:$missing"
  exit 0
fi
if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  echo "Not installed, and no permission to install it:$missing"
  exit 0
fi

echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing; } >/tmp/sottovoce-apt.log 2>&1; then
  echo "Could not install$missing:"
  tail -n 3 /tmp/sottovoce-apt.log
fi
exit 0
