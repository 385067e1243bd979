#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the release twice, from two clones of the current commit, and compares the bytes.

usage: reproducible.py FOLDER [--sample] [--cached] [--only PART,...] [--keep]

The second build differs from the first one in the path of the source and of the build, the user (name, home folder and, if this
is root, number), the language, the time zone, the mask of new files, and the time (if `faketime` is installed: three days
later). Each build has an empty compiler cache of its own, so that no object of one is used by the other.

--cached: both builds use the compiler cache of this user, with its number, language and programs. This compares what is made of
the objects (libraries, programs, images, packages, the wheel) in a small part of the time, but not the objects.

Compared are the files that packaging/release.py makes in a dry run, except for the signature, whose key is new, and of the build
folders the program, the shared libraries, and the archives and images of the firmware, with their symbols. --sample compares one
library of the host, one image, and the archives of the release that need no compiler: half a minute instead of two builds.

Exit code 1: files differ; their names are printed, and with `diffoscope` what differs. FOLDER, a new folder, remains if files
differ, or with --keep.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
UNSIGNED = ("SHA256SUMS.asc", "dry-run-key.asc")
BUILT = ("thimble", "*.so*", "linux/*.so*", "firmware/*.so", "firmware/*.elf", "firmware/*/*.a")
SAMPLE_TARGETS = ("thimble_base", "image-size-cortex-m4")
SAMPLE_BUILT = ("src/base/*.a", "firmware/*.elf", "firmware/cortex-m4/*.a")


class Side:
    """One build: its folder, and the environment and the command prefix that its commands have."""

    def __init__(self, folder, source, mask, prefix, cached, **environment):
        self.folder, self.source, self.mask, self.prefix = folder, folder / source, mask, prefix
        home = folder / "home"
        if cached:
            # The hash of an object contains the language.
            environment = {name: value for name, value in environment.items() if not name.startswith("L") or name == "LOGNAME"}
            environment.update(CCACHE_DIR=user_cache(), NO_FAKE_STAT="1")
            self.environment = {**os.environ, "HOME": str(home), **environment}
        else:
            # Programs of the home folder, such as those of a version manager, are not accessible to another user.
            own = str(pathlib.Path.home())
            path = ":".join(word for word in os.environ["PATH"].split(":") if not word.startswith(own + "/"))
            self.environment = {**os.environ, "HOME": str(home), "PATH": path, "CCACHE_DIR": str(home / "ccache"),
                                "NO_FAKE_STAT": "1", **environment}
            for name in ("SOURCE_DATE_EPOCH", "LANG", "LC_ALL"):
                if name not in environment:
                    self.environment.pop(name, None)
        home.mkdir(parents=True)

    def run(self, *words, cwd=None):
        command = ["sh", "-c", f'umask {self.mask}; exec "$@"', "sh", *self.prefix, *(str(word) for word in words)]
        done = subprocess.run(command, cwd=cwd or self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"reproducible: in {self.folder}: {' '.join(map(str, words))} failed:\n{done.stdout}")

    def clone(self):
        subprocess.run(["git", "-c", "safe.directory=*", "clone", "--quiet", "--no-hardlinks", ROOT, self.source], check=True)

    def give_to(self, user):
        subprocess.run(["chown", "-R", f"{user}:{user}", self.folder], check=True)


def user_cache():
    """Returns the folder of this user's compiler cache."""
    done = subprocess.run(["ccache", "--get-config", "cache_dir"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def sides(folder, cached):
    first = Side(folder / "a", "src", "022", [], cached, USER="first", LOGNAME="first", LC_ALL="C", TZ="UTC")
    prefix = []
    user = 65534 if os.getuid() == 0 and shutil.which("setpriv") and not cached else None
    if user is not None:
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        folder.mkdir(parents=True, exist_ok=True)
        # A folder of root may be closed for other users; then the user number is the same.
        if subprocess.run([*as_user, "test", "-x", folder]).returncode == 0:
            prefix += as_user
        else:
            user = None
    if shutil.which("faketime"):
        prefix += ["faketime", "-f", "+3d"]
    second = Side(folder / "second_build", "a/longer/path/of_thimble", "027", prefix, cached, USER="second", LOGNAME="second",
                  LC_ALL="C.UTF-8", LANG="C.UTF-8", TZ="Asia/Kolkata")
    for side in (first, second):
        side.clone()
    if user is not None:
        second.give_to(user)
    print("the second build has another path, home folder, time zone, mask" + ("" if cached else ", language") +
          (", user number" if user is not None else "") + (", time" if "faketime" in prefix else ""), flush=True)
    return first, second


def build_sample(side):
    build = side.source / "build"
    side.run("cmake", "-S", side.source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTHIMBLE_UNITY=ON",
             "-DTHIMBLE_TESTS=OFF", "--log-level=WARNING")
    side.run("ninja", "-C", build, "--quiet", *SAMPLE_TARGETS)
    side.run("python3", side.source / "packaging/release.py", side.folder / "out", "--dry-run", "--only", "source,cmsis,zephyr")
    return SAMPLE_BUILT


def build_all(side, parts):
    side.run("python3", side.source / "packaging/release.py", side.folder / "out", "--dry-run", *(["--only", parts] if parts else []))
    return BUILT


def files(side, built):
    """Returns the compared files of a build by name."""
    found = {f"release/{path.name}": path for path in (side.folder / "out").iterdir() if path.name not in UNSIGNED}
    build = side.source / "build"
    for pattern in built:
        found.update({str(path.relative_to(side.source)): path for path in build.glob(pattern) if path.is_file()})
    return found


def compare(first, second, built):
    """Prints the number and bytes of equal files, and each file that differs. Returns the number of those."""
    one, two = files(first, built), files(second, built)
    equal = total = 0
    different = []
    for name in sorted(one.keys() | two.keys()):
        if name not in one or name not in two:
            different.append(name)
            print(f"{name}: only in the {'first' if name in one else 'second'} build")
            continue
        digests = [hashlib.sha256(path[name].read_bytes()).hexdigest() for path in (one, two)]
        if digests[0] == digests[1]:
            equal += 1
            total += one[name].stat().st_size
            if name.startswith("release/") or name == "build/thimble":
                print(f"{digests[0][:16]}  {one[name].stat().st_size:>12,} B  {name}")
        else:
            different.append(name)
            print(f"{name}: differs")
            if shutil.which("diffoscope"):
                subprocess.run(["diffoscope", "--max-report-size", "4000", one[name], two[name]], check=False)
    print(f"{equal} files with {total:,} B are equal, {len(different)} differ")
    if not equal:
        sys.exit("reproducible: no files to compare")
    return len(different)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--only", metavar="PART,...")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    built = None
    first, second = sides(folder, arguments.cached)
    for side in (first, second):
        built = build_sample(side) if arguments.sample else build_all(side, arguments.only)
    different = compare(first, second, built)
    if not different and not arguments.keep:
        shutil.rmtree(folder)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
