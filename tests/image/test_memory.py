"""J21: each library does its work within the memory of profile strict."""
import importlib.machinery
import importlib.util

import pytest
from image_cache import REPO

loader = importlib.machinery.SourceFileLoader("memory", str(REPO / "bench/memory"))
memory = importlib.util.module_from_spec(importlib.util.spec_from_loader("memory", loader))
loader.exec_module(memory)


@pytest.mark.parametrize("name", memory.LIBRARIES)
def test_J21_the_peak_is_below_the_limit(tree, name):
    mib, _, told = memory.measure(name, tree)
    assert told == "ok" and 1 < mib <= memory.LIMIT_MIB, f"{mib} MiB: {told}"
