// What a document may hold at most, so that a device reads and answers any document in a moment.
// Every number is checked before anything is built from what it bounds, and is that of Python.

export const MAX_DOCUMENT_BYTES = 1 << 20; // of the text of a document, in UTF-8
export const MAX_DOCUMENT_DEPTH = 32; // lists and objects within one another
export const MAX_DOCUMENT_ENTRIES = 1 << 16; // commas and opening brackets in a text
export const MAX_DOCUMENT_NOUNS = 2048; // objects with a kind
export const MAX_DOCUMENT_MECHANISMS = 256; // that differ: each is priced to sixty digits
export const MAX_DOCUMENT_MEMBERS = 4096; // of all families whose members are looked at one by one
export const MAX_INTEGER_DIGITS = 160; // of a whole number: values have up to 480 bits
export const MAX_REAL_CHARACTERS = 32; // of a real number in its shortest form

export const MAX_TASK_NAME = 200; // characters
export const MAX_DESCRIPTION = 500; // characters
export const MAX_COLUMN_NAME = 100; // characters of the name of a table or a column

export const MAX_ROUNDS = 1 << 16;
export const MAX_MESSAGE_BYTES = 1 << 18; // of all envelopes of one answer together
export const MAX_SLOTS = 256; // reports in one message
export const MAX_LISTED_MEMBERS = 4096; // of a choice that lists them
export const MAX_CANDIDATES = 1 << 14; // sets of items of which one is drawn or counted
export const MAX_REMEMBERED_BYTES = 1 << 13; // of the reports of a longitudinal answer
export const MAX_STEPS = 1024; // draws of one answer that must be made one after another
