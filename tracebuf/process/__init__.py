"""What belongs to the whole process: work that no signal interrupts (`aside`), garbage collections put off (`garbage`),
modules that are imported late (`late`), its log (`log`), how results show themselves (`display`), which libraries' code
nobody rewrites (`libraries`), which page an error has (`error_pages`), how far long work is (`progress`).

May import: nothing.
"""
