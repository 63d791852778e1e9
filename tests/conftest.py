import os
import tempfile

# before anything is compiled: tests neither use nor fill the user's cache
os.environ.setdefault("S2SAD_CACHE_DIR", tempfile.mkdtemp(prefix="s2sad-tests-"))

# loaded by test_cases.py, with their folder on the path
collect_ignore_glob = ["cases/programs/*", "cases/case.py"]
