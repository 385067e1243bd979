#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the missing packages of packages.txt. Does nothing if all are installed, or on machines
# without dpkg, where these packages have other names.
set -eu
list=${1:-$(dirname "$0")/packages.txt}
command -v dpkg-query >/dev/null || exit 0

missing=
for package in $(sed 's/#.*//' "$list"); do
  dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "These packages are missing. Please run:" >&2
  echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 -- a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
