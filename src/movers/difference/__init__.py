"""What differs between two texts, found in their words and said in plain sentences."""
