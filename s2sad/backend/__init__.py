"""From program text to a callable: the types of a call, the file, the compiler, and what makes a compiled program stale."""
