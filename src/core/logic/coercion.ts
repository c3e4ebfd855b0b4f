/**
 * JSON Logic compares and adds as JavaScript does. These functions give the same answers for JSON data, but never
 * call a method of the data: a message with a field "toString" must not break or steer a comparison.
 */
type Primitive = string | number | boolean | null | undefined | bigint | symbol

/** What JavaScript turns a JSON value into before it compares or adds. */
export function toPrimitive(value: unknown): Primitive {
  if (typeof value === 'function') return ''
  if (typeof value !== 'object' || value === null) return value as Primitive
  if (!Array.isArray(value)) return '[object Object]'
  return value.map((item) => (item === null || item === undefined ? '' : String(toPrimitive(item)))).join(',')
}

export function looseEquals(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null)
  if (typeof a === typeof b) return false
  // oxlint-disable-next-line eqeqeq -- loose equality is what the operator == of JSON Logic means
  return toPrimitive(a) == toPrimitive(b)
}

/** Empty lists are false, everything else as in JavaScript. */
export function isTruthy(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

export function lessThan(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  // the cast only quiets the compiler: texts must be compared as texts
  return (toPrimitive(a) as number) < (toPrimitive(b) as number)
}

export function atMost(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b
  return (toPrimitive(a) as number) <= (toPrimitive(b) as number)
}

/** The number that arithmetic other than adding sees. */
export function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : Number(toPrimitive(value))
}

/**
 * The number that adding and multiplying see: the longest number at the beginning of the text. Text knows no -0, so
 * that becomes 0.
 */
export function toSummand(value: unknown): number {
  return typeof value === 'number' ? value + 0 : Number.parseFloat(String(toPrimitive(value)))
}

/** True when `list` holds exactly `value`, or the text `list` contains it. */
export function contains(list: unknown, value: unknown): boolean {
  if (typeof list === 'string') return list !== '' && list.includes(String(toPrimitive(value)))
  return Array.isArray(list) && list.includes(value) && value === value
}
