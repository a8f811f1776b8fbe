"""The read side: every question about a fleet is answered by one function that returns one frozen,
documented type; the command line, the API, the page, the exporter and `top` render that type and
know nothing else.
"""
