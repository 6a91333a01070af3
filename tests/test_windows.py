"""Systems that lack what POSIX has: every module is imported, files are written, a score is fitted.

What cannot be found out without such a system is how it behaves; that nothing asks for names that
it does not have is found out by taking them away.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paths import PACKAGE

pytestmark = pytest.mark.faults

# Attributes and modules that Python has on POSIX alone, as its documentation says.
OF_OS = """
    chown chroot fchown fchmod fork forkpty getegid geteuid getgid getgroups getpgid getpriority
    getuid killpg lchown lockf mkfifo mknod nice pathconf posix_fallocate pread pwrite
    register_at_fork sched_getaffinity sched_setaffinity sendfile setegid seteuid setgid setpgid
    setsid setuid statvfs sysconf sysconf_names tcgetpgrp ttyname uname wait wait3 wait4 waitid
    O_DIRECTORY O_NOFOLLOW O_CLOEXEC O_NONBLOCK
"""
OF_SIGNAL = """
    SIGHUP SIGPIPE SIGALRM SIGCHLD SIGKILL SIGQUIT SIGUSR1 SIGUSR2 SIGTSTP SIGCONT SIGSTOP alarm
    getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigwait
"""
OF_TIME = "pthread_getcpuclockid clock_gettime clock_getres tzset"
LACKING = {
    name: names.split() for name, names in
    (("os", OF_OS), ("signal", OF_SIGNAL), ("time", OF_TIME))
}  # fmt: skip
MODULES = ["fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "readline"]

# Packages of others find what their own versions for such a system do without: they come first.
WITHOUT = f"""
import contextlib, importlib, sys
for name in ("numpy", "narwhals", "pandas", "pyarrow", "pyarrow.parquet", "pyarrow.csv", "sklearn",
             "sklearn.linear_model", "joblib.externals.loky", "matplotlib.pyplot", "jinja2",
             "typer.testing", "rich.live", "rich.progress", "dask", "numba", "glum", "cplex",
             "pyscipopt", "threadpoolctl", "tempfile", "subprocess", "multiprocessing.connection"):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
import os, signal, time
for module, names in {LACKING!r}.items():
    for name in names:
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
for name in {MODULES!r}:
    sys.modules[name] = None
"""

IMPORTS = """
from pathlib import Path
import riskslim
home = Path(riskslim.__file__).parent
names = []
for path in sorted(home.rglob("*.py")):
    parts = path.relative_to(home).with_suffix("").parts
    if parts[-1] != "__main__" and "numba_backend" not in parts:
        names.append(".".join(("riskslim", *parts)).removesuffix(".__init__"))
for name in names:
    importlib.import_module(name)
print(len(names))
"""

WORK = """
from pathlib import Path
from riskslim import RiskScore, show_config
from riskslim._checks import checked_threads
from riskslim._writing import check_writable, write_file
from riskslim.cli.signals import ending_like_ctrl_c, held_signals
from typer.testing import CliRunner
from riskslim.cli.app import application

os.chdir(sys.argv[1])
for content in ("old", "new"):
    check_writable("x")
    write_file("x", content)
assert Path("x").read_text() == "new"
assert checked_threads(-1) >= 1
with ending_like_ctrl_c(), held_signals():
    pass
show_config()
rows = "".join(f"{k % 2},{k % 3 == 0:d},{k % 2 or k % 7 == 0:d}\\n" for k in range(60))
Path("rows.csv").write_text("a,b,y\\n" + rows)
found = CliRunner().invoke(application(), [
    "fit", "rows.csv", "--outcome", "y", "--output", "s.json", "--trace", "t.csv",
    "--checkpoint", "c.json",
])
assert found.exit_code == 0, found.output
assert RiskScore.load("s.json").certificate.is_optimal
found = CliRunner().invoke(application(), ["predict", "s.json", "rows.csv", "--output", "p.csv"])
assert found.exit_code == 0, found.output
print(sorted(os.listdir()))
"""


@pytest.mark.slow
def test_modules_are_imported_files_written_and_scores_fitted_without_names_of_posix(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT + IMPORTS + WORK, str(tmp_path)], capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "MPLBACKEND": "Agg"},
        check=False, cwd=PACKAGE.parent,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    n_modules, *_, files = found.stdout.splitlines()
    assert int(n_modules) > 200
    assert files == str(sorted(["c.json", "p.csv", "rows.csv", "s.json", "t.csv", "x"]))
