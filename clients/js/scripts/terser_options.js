// How built files are shortened: names of local variables, white space and comments go; names of
// classes stay, because errors are told by them.

export const OPTIONS = { module: true, ecma: 2022, keep_classnames: true, compress: { passes: 3 } };
