"""The programs are loaded by test_cases.py, not collected; they import `case` from this folder."""

collect_ignore_glob = ["programs/*", "case.py"]
