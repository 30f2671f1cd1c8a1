"""The door of the command line: finding commands, handing the rest to Django, exit codes."""

import subprocess
import sys
from pathlib import Path

import contextlab
from contextlab.cli import _files, _load, main


def test_every_command_has_what_the_door_needs():
    """A file in the folder is a command, under its own name, with all parts."""
    for name, module in _files().items():
        command = _load(module)
        assert name == command.NAME
        assert command.HELP
        assert callable(command.run)
        assert callable(command.add_arguments)
        assert isinstance(command.NEEDS_DJANGO, bool)


def test_help_lists_the_commands(capsys):
    """`contextlab --help` names each command with its one line."""
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in _files())


def test_no_command_at_all_is_wrong_usage(capsys):
    """The help is shown, and the exit code says that nothing was asked for."""
    assert main([]) == 2
    assert "usage:" in capsys.readouterr().out


def test_the_version_is_told(capsys):
    """One line, the package's own number."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"contextlab {contextlab.__version__}"


def test_an_unknown_word_is_wrong_usage(capsys):
    """Neither ours nor Django's: exit code 2, and nothing on standard output."""
    assert main(["frobnicate"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "frobnicate" in captured.err


def test_commands_of_django_work_too(capsys):
    """Everything of manage.py is reachable."""
    assert main(["check"]) == 0
    assert "no issues" in capsys.readouterr().out


def test_finding_commands_loads_no_framework():
    """The help, and so every command that needs no database, is there without Django and Celery."""
    script = "import sys; from contextlab.cli import main; main(['--help']); print('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_reader_that_stops_reading_is_no_failure(tmp_path: Path):
    """`contextlab ... | head` ends quietly."""
    script = "import sys; from contextlab.cli import main; sys.exit(main(['--help']) or main(['--help']))"
    shell = f'{sys.executable} -c "{script}" | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
