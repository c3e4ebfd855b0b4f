/** Defines names and syntax of directives. */

export const DIRECTIVES: ReadonlySet<string> = new Set([
  'foreach',
  'include',
  'parse',
  'macro',
  'evaluate',
  'break',
  'define',
  'stop',
])

export type Ending = 'end' | 'else' | 'elseif'

const CONTROL = new Set(['if', 'end', 'set', 'else', 'elseif'])

export function isDirective(name: string): boolean {
  return DIRECTIVES.has(name) || CONTROL.has(name)
}

export const WORD = /#(?:([A-Za-z_@][A-Za-z0-9_@]*)|\{([A-Za-z_][A-Za-z0-9_@]*)\})/y
/** in 2.4 the name of a macro with a body may be in braces too */
export const WORD_24 = /#(?:([A-Za-z_@][A-Za-z0-9_@]*)|\{([A-Za-z_@][A-Za-z0-9_@]*)\})/y
export const SET = /#(?:set|\{set\})[ \t]*\(/y
export const SET_OLD = /#(?:set|\{set\}) *\(/y
