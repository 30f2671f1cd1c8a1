"""From a summary to memory: what must hold before it is swapped, comparing two results, handing a memory over."""
