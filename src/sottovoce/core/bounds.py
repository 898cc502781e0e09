"""Largest sizes of a document, so that a device reads and answers any document in a moment.

The documents of tasks and rounds are written by strangers.  Every number here is checked before
anything is built from what it bounds.  Together they keep reading and answering below 100
milliseconds and 16 megabytes.  The JavaScript client has the same numbers.
"""

MAX_DOCUMENT_BYTES = 1 << 20  # of the text of a document, in UTF-8
MAX_DOCUMENT_DEPTH = 32  # lists and objects within one another
MAX_DOCUMENT_ENTRIES = 1 << 16  # commas and opening brackets in the text of a document
MAX_DOCUMENT_NOUNS = 2048  # objects with a kind
MAX_DOCUMENT_MECHANISMS = 256  # that differ: each is priced to sixty digits
MAX_DOCUMENT_MEMBERS = 4096  # of all families whose members are looked at one by one
MAX_INTEGER_DIGITS = 160  # of a whole number: values have up to 480 bits
MAX_REAL_CHARACTERS = 32  # of a real number in its shortest form

MAX_TASK_NAME = 200  # characters
MAX_DESCRIPTION = 500  # characters
MAX_COLUMN_NAME = 100  # characters of the name of a table or a column

MAX_MESSAGE_BYTES = 1 << 18  # of all envelopes of one answer together
MAX_SLOTS = 256  # reports in one message
MAX_LISTED_MEMBERS = 4096  # of a choice that lists them
MAX_COLUMNS = 2048  # of a family that combines columns
MAX_CANDIDATES = 1 << 14  # sets of items of which one is drawn or counted
MAX_REMEMBERED_BYTES = 1 << 13  # of the reports of a longitudinal answer: their noise is derived
MAX_STEPS = 1024  # draws of one answer that must be made one after another
