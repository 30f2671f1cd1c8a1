"""The projectors, one file each. A module here offers a class as PROJECTOR; the registry finds it."""
