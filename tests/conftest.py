import os
import tempfile

# before anything is compiled: tests neither use nor fill the user's cache
os.environ.setdefault("S2SAD_CACHE_DIR", tempfile.mkdtemp(prefix="s2sad-tests-"))
