"""image/Containerfile: a container of the tree, by buildah, holds the same files."""
import os
import shutil
import subprocess

import pytest
from image_cache import REPO


@pytest.fixture
def buildah(tmp_path):
    if not shutil.which("buildah"):
        pytest.skip("buildah is not installed: tools/deps image")
    store = ["--root", tmp_path / "store", "--runroot", tmp_path / "run", "--storage-driver", "vfs"]

    def run(*words):
        done = subprocess.run(["buildah", *store, *words], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    yield run
    subprocess.run(["buildah", *store, "umount", "--all"], capture_output=True)


def listing(root):
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            found[os.path.relpath(path, root)] = (status.st_mode, status.st_uid, os.readlink(path) if os.path.islink(path) else status.st_size)
    return {name: facts if not os.path.isdir(os.path.join(root, name)) else facts[:2] for name, facts in found.items()}


def test_a_container_holds_the_files_of_the_tree(tree, buildah, tmp_path):
    part = tmp_path / "part"  # the whole would be copied three times
    part.mkdir(mode=0o755)
    for name in ("etc", "tmp", "usr/share/cloche", "usr/local/bin"):
        shutil.copytree(tree / name, part / name, symlinks=True)
    (part / "bin").symlink_to("usr/bin")
    buildah("build", "--isolation", "chroot", "-f", REPO / "image/Containerfile", "--build-arg", "TREE=part", "-t", "made", ".")
    root = buildah("mount", buildah("from", "made"))
    assert listing(root) == listing(part)
    settings = buildah("inspect", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Env}}", "--type", "image", "made")
    assert settings.startswith("65534:65534 ") and "LANG=C.UTF-8" in settings
