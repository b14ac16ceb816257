"""What docs/ci.md tells users to run, run: recipes, the GitHub Action and the pre-commit hook. `vop` must be on the PATH."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/ci.md").read_text()
# Blocks of the page: language, perhaps the name of a file, text.
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", PAGE, re.M | re.S)
EXAMPLE = ROOT / "examples/ci"
# An instruction that is not legal, one that ptxas reads otherwise than the manual, and one that is fine.
ILLEGAL = 'asm("vmin4.u32.u32.u32.sat.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));\n'
DOUBTFUL = 'asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));\n'
FINE = 'asm("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));\n'


def run(*call, cwd, ok=(0,), **environment):
    """Runs a program, checks its exit status, and returns all that it wrote."""
    environment = {**os.environ, **environment}
    done = subprocess.run(call, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode in ok, f"{call}: exit status {done.returncode}\n{done.stdout}"
    return done.stdout


def test_the_page_shows_the_files_of_the_example():
    shown = {name: text for _, name, text in BLOCKS if name and (EXAMPLE / name).exists()}
    assert set(shown) == {"brighten.cu", "test_brighten.py", "CMakeLists.txt"}
    for name, text in shown.items():
        assert text == (EXAMPLE / name).read_text(), name


def test_pytest(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "ci")
    assert " passed" in run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path / "ci")
    # It can fail.
    kernel = tmp_path / "ci/brighten.ptx"
    kernel.write_text(kernel.read_text().replace("vadd4.u32.u32.u32.sat", "vadd4.u32.u32.u32"))
    assert " failed" in run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path / "ci", ok=(1,))


def test_ctest(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "ci")
    run("cmake", "-B", "build", cwd=tmp_path / "ci")
    assert "100% tests passed" in run("ctest", "--test-dir", "build", "--output-on-failure", cwd=tmp_path / "ci")
    (tmp_path / "ci/brighter.npy").write_bytes((tmp_path / "ci/image.npy").read_bytes())
    said = run("ctest", "--test-dir", "build", "--output-on-failure", cwd=tmp_path / "ci", ok=(8,))
    assert "1 tests failed out of 3" in said


def action():
    return yaml.safe_load((ROOT / "action.yml").read_text())


def test_the_action_is_a_composite_one():
    found = action()
    assert found["runs"]["using"] == "composite" and found["name"] and found["description"]
    for given in found["inputs"].values():
        assert given["description"] and not given.get("required") and isinstance(given["default"], str)
    for step in found["runs"]["steps"]:
        assert step["shell"] == "bash" and step["name"]
        # What users give comes by the environment, where no shell reads it as code.
        assert "${{" not in step["run"]
        for value in step["env"].values():
            for name in re.findall(r"inputs\.(\w+)", value):
                assert name in found["inputs"], name


def step(name, folder, ok=(0,), **inputs):
    """Runs a step of the action as GitHub does."""
    found = action()
    (script,) = [one for one in found["runs"]["steps"] if one["name"] == name]

    def value(text):
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda it: inputs.get(it[1], found["inputs"][it[1]]["default"]), text)

    environment = {key: value(text) for key, text in script["env"].items()}
    environment |= {"RUNNER_TEMP": str(folder), "GITHUB_PATH": str(folder / "path"), "GITHUB_ACTION_PATH": str(ROOT)}
    return run("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script["run"], cwd=folder, ok=ok, **environment)


def test_the_action_checks(tmp_path):
    (tmp_path / "a.cu").write_text(FINE)
    (tmp_path / "with blank").mkdir()
    (tmp_path / "with blank/b.cu").write_text(DOUBTFUL)
    assert "vop " in step("Install vop", tmp_path, version="installed")
    assert "::warning file=with blank/b.cu" in step("Check", tmp_path).replace("./", "")
    step("Check", tmp_path, paths="a.cu", deny="warnings")
    step("Check", tmp_path, paths="a.cu\nwith blank\n", deny="warnings", ok=(1,))
    step("Check", tmp_path, deny="warnings", allow="V0701")
    (tmp_path / "a.cu").write_text(ILLEGAL)
    assert "::error file=a.cu" in step("Check", tmp_path, paths="a.cu", ok=(1,))
    step("Check", tmp_path, paths="a.cu", sarif="vop.sarif", ok=(1,))
    sarif = yaml.safe_load((tmp_path / "vop.sarif").read_text())
    assert sarif["version"] == "2.1.0" and sarif["runs"][0]["results"]


def test_the_action_takes_a_release(tmp_path):
    """From a folder in place of GitHub: checked by its sum, unpacked, and put on the PATH."""
    machine = os.uname().machine
    name = "vop-1.2.3-" + {"x86_64": "x86_64-unknown-linux-musl", "aarch64": "aarch64-unknown-linux-gnu"}[machine]
    release = tmp_path / "releases/v1.2.3"
    (release / name).mkdir(parents=True)
    (release / name / "vop").write_text("#!/bin/sh\necho vop 1.2.3\n")
    (release / name / "vop").chmod(0o755)
    run("tar", "-czf", f"{name}.tar.gz", name, cwd=release)
    sums = run("sha256sum", f"{name}.tar.gz", cwd=release)
    (release / "SHA256SUMS").write_text(sums + "0" * 64 + "  another.tar.gz\n")
    # GitHub makes the address of its own variables.
    found = action()["runs"]["steps"][0]
    environment = {"VERSION": "1.2.3", "RELEASES": f"file://{tmp_path}/releases"}
    environment |= {"RUNNER_TEMP": str(tmp_path), "GITHUB_PATH": str(tmp_path / "path")}
    run("bash", "-e", "-c", found["run"], cwd=tmp_path, **environment)
    (folder,) = (tmp_path / "path").read_text().split()
    assert run(folder + "/vop", cwd=tmp_path) == "vop 1.2.3\n"
    (release / "SHA256SUMS").write_text("0" * 64 + f"  {name}.tar.gz\n")
    assert "FAILED" in run("bash", "-e", "-c", found["run"], cwd=tmp_path, ok=(1,), **environment)


def test_workflows_name_inputs_of_the_action():
    workflows = [yaml.safe_load(text) for language, name, text in BLOCKS if language == "yaml" and name in ("check.yml", "sarif.yml")]
    assert len(workflows) == 2
    for workflow in workflows:
        # YAML 1.1 reads `on` as a truth value.
        assert set(workflow) - {"permissions"} == {"name", True, "jobs"}
        steps = [one for job in workflow["jobs"].values() for one in job["steps"]]
        ours = [one for one in steps if "/vop@" in one["uses"]]
        assert len(ours) == 1 and set(ours[0]["with"]) <= set(action()["inputs"])


def test_pre_commit(tmp_path):
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (config,) = [yaml.safe_load(text) for _, name, text in BLOCKS if name == ".pre-commit-config.yaml"]
    assert [hook["id"] for hook in config["repos"][0]["hooks"]] == [hook["id"] for hook in hooks]
    # The hook as a repository that pre-commit clones, as it does with this one.
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    for name in ("vop", "project"):
        (tmp_path / name).mkdir()
        run("git", "init", "-q", "-b", "main", cwd=tmp_path / name)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", tmp_path / "vop")
    run("git", "add", "-A", cwd=tmp_path / "vop")
    run("git", "commit", "-q", "-m", "hook", cwd=tmp_path / "vop", **names)
    project = tmp_path / "project"
    (project / "fine.cu").write_text(FINE)
    (project / "text.md").write_text(ILLEGAL)
    (project / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    run("git", "add", "-A", cwd=project)
    call = ("pre-commit", "try-repo", "../vop", "vop-check", "--all-files", "--verbose")
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    said = run(*call, cwd=project, **home)
    assert "Passed" in said and "1 video instruction in 1 file" in said
    (project / "bad.cu").write_text(ILLEGAL)
    run("git", "add", "-A", cwd=project)
    assert "error[V0207]" in run(*call, cwd=project, ok=(1,), **home)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
