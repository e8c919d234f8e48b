"""A report of one call as a single HTML file that needs nothing else: `gather` collects its data, `page` is the file.

Loaded when a report is asked for. May import: every room, but not `api`.
"""
