"""The one step and all that it is made of. Pure."""
