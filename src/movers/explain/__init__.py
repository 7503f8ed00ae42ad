"""Why a distance is what it is: in words, as a drawing, as a page."""
