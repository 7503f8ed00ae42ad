"""Which word goes with which: links between the words of two sentences, and words without one."""
