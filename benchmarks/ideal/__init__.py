"""Four programs and the adjoints that a person would write for them."""
