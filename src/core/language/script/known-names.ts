/** What code in the sandbox may name that is neither its own nor data. */

const LIBRARIES: ReadonlyMap<string, object> = new Map<string, object>([
  ['Math', Math],
  ['JSON', JSON],
  ['Number', Number],
  ['String', String],
  ['Boolean', Boolean],
  ['Array', Array],
  ['Object', Object],
  ['Date', Date],
  ['RegExp', RegExp],
  ['Map', Map],
  ['Set', Set],
  ['Symbol', Symbol],
  ['Error', Error],
  ['console', { log: 0, info: 0, warn: 0, error: 0, debug: 0 }],
])
const GLOBALS: ReadonlySet<string> = new Set([
  ...LIBRARIES.keys(),
  ...'undefined NaN Infinity parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI'.split(' '),
  ...'decodeURIComponent TypeError RangeError SyntaxError'.split(' '),
])
const LEFT_OUT = new Set(['constructor'])

const METHODS: ReadonlySet<string> = new Set(
  [String, Array, Number, Boolean, Date, RegExp, Map, Set, Object, Function, Error].flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype),
  ),
)

export function isGlobal(name: string): boolean {
  return GLOBALS.has(name)
}

/** A function or constant of a library such as Math; true for what is no library. */
export function hasMember(library: string, name: string): boolean {
  const owner = LIBRARIES.get(library)
  return owner === undefined || (Object.getOwnPropertyNames(owner).includes(name) && !LEFT_OUT.has(name))
}

/** A method that values of JavaScript have. */
export function isMethod(name: string): boolean {
  return METHODS.has(name) && !LEFT_OUT.has(name)
}
