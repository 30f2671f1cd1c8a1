"""Make the project's virtual environment, or leave it alone when it is already right.

    python3 scripts/environment.py run     what `make run` needs
    python3 scripts/environment.py dev     the same plus the test and lint tools

Standard library only: it runs before anything is installed. The environment is right when the
stamp inside it equals a hash over the lock files, pyproject.toml, this file, the interpreter and the place
(a moved environment has dead shebang lines).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if sys.platform == "win32" else "bin")
LOCKS = {"run": "requirements.lock", "dev": "requirements-dev.lock"}
# The one package that may be missing: it has no wheels for musl, and only makes counting faster.
OPTIONAL = "toktok-rs"


def wanted_stamp() -> str:
    """A hash of everything that decides what the environment holds."""
    digest = hashlib.sha256(f"{sys.version}\0{sys.executable}\0{VENV}".encode())
    for name in (*LOCKS.values(), "pyproject.toml", "scripts/environment.py"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def is_right(kind: str) -> bool:
    """Whether the environment already holds what `kind` needs; dev includes run."""
    stamps = [VENV / f".stamp-{k}" for k in ({"run", "dev"} if kind == "run" else {"dev"})]
    stamp = wanted_stamp()
    return any(path.is_file() and path.read_text() == stamp for path in stamps)


def pip(*args: str) -> int:
    """Run the environment's pip and return its exit code."""
    command = [str(BIN / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *args]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def install_lock(lock: Path) -> None:
    """Install the lock file; when the optional package has no wheel here, go on without it."""
    if pip("--only-binary", OPTIONAL, "-r", str(lock)) == 0:
        return
    print(f"Trying again without the optional package {OPTIONAL} ...", flush=True)
    lines = [line for line in lock.read_text().splitlines() if not line.startswith(OPTIONAL)]
    with tempfile.TemporaryDirectory() as folder:
        rest = Path(folder) / lock.name
        rest.write_text("\n".join(lines))
        if pip("-r", str(rest)) != 0:
            sys.exit("Installing the packages failed; the reason stands above.")


def create() -> None:
    """Make an empty environment with pip; keep the packages of one that still works."""
    try:
        venv.create(
            VENV, with_pip=True, clear=not (BIN / "python").exists(), symlinks=sys.platform != "win32"
        )
    except subprocess.CalledProcessError:
        # Debian and Ubuntu ship Python without ensurepip.
        sys.exit("Python's venv module is not complete here: apt-get install python3-venv")


def main(kind: str) -> None:
    if sys.version_info < (3, 11):
        sys.exit(f"ContextLab needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}.")
    if is_right(kind):
        return
    print("Setting up .venv (once, about a minute) ...", flush=True)
    for old in VENV.glob(".stamp-*"):
        old.unlink()
    create()
    install_lock(ROOT / LOCKS[kind])
    if pip("--no-deps", "-e", ".") != 0:
        sys.exit("Installing ContextLab itself failed; the reason stands above.")
    # As pip does for packages: where Python may not write .pyc files, every process would compile all of it anew.
    subprocess.call([str(BIN / "python"), "-m", "compileall", "-q", str(ROOT / "contextlab")])
    (VENV / f".stamp-{kind}").write_text(wanted_stamp())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "run")
