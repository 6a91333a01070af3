"""The check of wheels finds what is wrong with them."""

from __future__ import annotations

import importlib.util
import zipfile

import pytest

from paths import ROOT

_PATH = ROOT / ".ci" / "check_wheel.py"
if not _PATH.is_file():
    pytest.skip("no part of the source distribution", allow_module_level=True)
_SPEC = importlib.util.spec_from_file_location("check_wheel", _PATH)
check_wheel = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_wheel)
KERNELS = check_wheel.kernels((ROOT / "setup.py").read_text(encoding="utf-8"))
OLD = b"\x7fELF \0GLIBC_2.2.5\0GLIBC_2.14\0memcpy"


def wheel(folder, tag, suffix, *, without=(), library=OLD, more=()):
    path = folder / f"riskslim-0.1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in check_wheel.OTHERS:
            archive.writestr(name, "")
        for name in KERNELS:
            if name not in without:
                archive.writestr(f"riskslim/_kernels/{name}{suffix}", library)
        for name in more:
            archive.writestr(name, "")
    return str(path)


@pytest.mark.parametrize(
    ("tag", "suffix"),
    [
        ("cp311-abi3-manylinux_2_28_x86_64", ".abi3.so"),
        ("cp310-cp310-manylinux_2_28_aarch64", ".cpython-310-aarch64-linux-gnu.so"),
        ("cp311-abi3-macosx_11_0_arm64", ".abi3.so"),
        ("cp310-cp310-macosx_11_0_arm64", ".cpython-310-darwin.so"),
        ("cp311-abi3-win_amd64", ".pyd"),
        ("cp310-cp310-win_amd64", ".cp310-win_amd64.pyd"),
    ],
)
def test_what_is_there(tmp_path, tag, suffix, capsys):
    whole = wheel(tmp_path, tag, suffix)
    assert check_wheel.main([whole]) == 0
    assert "all kernels are there" in capsys.readouterr().out
    broken = wheel(tmp_path, tag, suffix, without=("nodes",), more=("tests/test_a.py",))
    assert check_wheel.main([broken]) == 1
    shown = capsys.readouterr().out
    assert "nodes: 0 extensions in place of one" in shown
    assert "tests/test_a.py belongs to tests" in shown
    # Libraries that another Python would not find.
    assert check_wheel.main([wheel(tmp_path, tag, ".cpython-39.so")]) == 1


def test_versions_of_glibc(tmp_path, capsys):
    new = b"GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.4\0"
    path = wheel(tmp_path, "cp311-abi3-linux_x86_64", ".abi3.so", library=new)
    assert check_wheel.newest_glibc(new) == (2, 34)
    assert check_wheel.main([path]) == 1
    assert f"riskslim/_kernels/{KERNELS[0]}.abi3.so needs glibc 2.34" in capsys.readouterr().out
    assert check_wheel.main([path, "--glibc", "2.34"]) == 0


def test_the_list_of_kernels_is_that_of_the_sources():
    sources = {path.stem for path in (ROOT / "riskslim" / "_kernels").glob("*.pyx")}
    assert sources == set(KERNELS)
    with pytest.raises(ValueError, match="no list KERNELS"):
        check_wheel.kernels("setup()")
