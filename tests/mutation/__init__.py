"""Whether the tests notice when a derivative rule or a pass is broken: `python -m tests.mutation.run`."""
