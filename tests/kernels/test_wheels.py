"""The check of wheels finds what is wrong with them."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import zipfile
from importlib import import_module
from pathlib import Path

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


# As objdump writes it: a version for newer processors, what chooses, and one that chooses nothing.
LISTING = """
0000000000001000 <rs_sum.arch_x86_64_v4>:
    1000:\tvaddpd %zmm0,%zmm1,%zmm2
0000000000001010 <rs_count_popcnt.constprop.0>:
    1010:\tpopcnt %rax,%rbx
0000000000001020 <rs_sum.default>:
    1020:\taddpd  %xmm0,%xmm1
    1024:\ttzcnt  %rax,%rbx
    1028:\tpextrw $0x1,%xmm0,%eax
    102c:\tshr    %rax
{}
"""
WIDER = {
    "vfmadd231sd %xmm0,%xmm1,%xmm2": "vfmadd231sd",
    "kmovw  %k1,%eax": "kmovw",
    "popcnt %rax,%rbx": "popcnt",
    "shlx   %rax,%rbx,%rcx": "shlx",
    "pmovsxbd %xmm0,%xmm1": "pmovsxbd",
    "blendvpd %xmm0,%xmm1,%xmm2": "blendvpd",
    "roundsd $0x9,%xmm0,%xmm0": "roundsd",
}


@pytest.mark.parametrize(("line", "instruction"), WIDER.items())
def test_instructions_that_not_every_processor_has(line, instruction):
    assert not check_wheel.wide_functions(LISTING.format(""))
    found = check_wheel.wide_functions(LISTING.format(f"    1030:\t{line}"))
    assert {name: dict(counts) for name, counts in found.items()} == {
        "rs_sum.default": {instruction: 1}
    }


def test_the_oldest_mac_has_more():
    text = LISTING.format("    1030:\troundsd $0x9,%xmm0,%xmm0")
    assert not check_wheel.wide_functions(text, check_wheel.BASELINE_OF_MACOS)
    text = LISTING.format("    1030:\tpcmpgtq %xmm0,%xmm0")
    assert check_wheel.wide_functions(text, check_wheel.BASELINE_OF_MACOS)


def test_instructions_of_a_wheel(tmp_path, capsys, monkeypatch):
    tag = "cp311-abi3-linux_x86_64"
    path = wheel(tmp_path, tag, ".abi3.so")
    other = wheel(tmp_path, "cp311-abi3-macosx_11_0_arm64", ".abi3.so")
    monkeypatch.setattr(check_wheel.shutil, "which", lambda name: "/usr/bin/objdump")
    monkeypatch.setattr(check_wheel, "disassembled", lambda library: LISTING.format(""))
    assert check_wheel.main([path, other, "--instructions"]) == 0
    assert "not checked for macosx_11_0_arm64" in capsys.readouterr().out
    wide = LISTING.format("    1030:\tvzeroupper")
    monkeypatch.setattr(check_wheel, "disassembled", lambda library: wide)
    assert check_wheel.main([path]) == 0
    assert check_wheel.main([path, "--instructions"]) == 1
    message = f"{KERNELS[0]}.abi3.so asks for more than the baseline in rs_sum.default (vzeroupper)"
    assert message in capsys.readouterr().out
    monkeypatch.setattr(check_wheel, "disassembled", lambda library: "0 <.text>:\n 0:\tret\n")
    assert check_wheel.main([path, "--instructions"]) == 1
    assert "are its symbols stripped?" in capsys.readouterr().out
    monkeypatch.setattr(check_wheel.shutil, "which", lambda name: None)
    assert check_wheel.main([path, "--instructions"]) == 0
    assert "instructions are not checked without objdump" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="not x86-64")
@pytest.mark.parametrize("kernel", KERNELS)
def test_instructions_of_the_kernels_at_hand(kernel):
    path = Path(import_module(f"riskslim._kernels.{kernel}").__file__)
    text = check_wheel.disassembled(path.read_bytes())
    newer = check_wheel.BASELINE_OF_MACOS if sys.platform == "darwin" else check_wheel.BASELINE
    assert "<PyInit_" in text or "<_PyInit_" in text
    assert not check_wheel.wide_functions(text, newer)
