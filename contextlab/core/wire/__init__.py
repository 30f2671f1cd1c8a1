"""Wire formats, one file each: what is rendered in them, and what would be refused."""
