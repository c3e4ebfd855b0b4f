/** Reads and converts values of expressions without calling their methods; work is charged. */
import { FORBIDDEN_KEYS, isEqual, isKnown, numberOfText, ofData, ordered, ownValue } from '#kernel'
import { missing, noNumber, spend, unfit, unknown, type Run } from './run.ts'

/** Characters that one step pays for: texts are compared and copied in blocks, so only long ones count. */
const CHARACTERS_PER_STEP = 64

/** Throws `BINDING` for a field of a missing value, and for reserved names. */
export function member(value: unknown, key: unknown, label: string): unknown {
  if (typeof value === 'object' && value !== null && typeof key === 'string') {
    if (FORBIDDEN_KEYS.has(key)) throw reserved(label, key)
    return ofData(ownValue(value, key))
  }
  if (value === undefined) throw missing(label)
  if (value === null) throw unfit(label, `is null and has no fields; write ?. if it may be null`)
  const name = keyOf(key, label)
  if (typeof value === 'object') return ofData(ownValue(value, name))
  if (typeof value !== 'string') return undefined
  if (name === 'length') return value.length
  return /^(?:0|[1-9]\d{0,8})$/.test(name) ? value[Number(name)] : undefined
}

export function keyOf(key: unknown, label: string): string {
  if (typeof key !== 'string' && typeof key !== 'number') throw unfit(label, 'needs a text or a number as its field')
  const name = String(key)
  if (FORBIDDEN_KEYS.has(name)) throw reserved(label, name)
  return name
}

export function textOf(run: Run, value: unknown, label: string): string {
  if (typeof value === 'string') return value
  if (value === undefined) throw missing(label)
  if (typeof value === 'object' && value !== null) return listText(run, value, label)
  return scalarText(value)
}

function scalarText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'null'
}

/** Returns the text of a value in `"${path}"`: a text unchanged, any other value as JSON. */
export function insertedText(run: Run, value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? jsonOf(run, value) : scalarText(value)
}

/** Returns the JSON of a value. Throws `TOO_LARGE` before a small value would expand to a huge text. */
export function jsonOf(run: Run, value: unknown, indent = 0): string {
  measure(run, value)
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  spend(run, text.length)
  return text
}

/** Charges one step for each part of a value, as often as the part occurs. */
export function measure(run: Run, value: unknown): void {
  spend(run, typeof value === 'string' ? 1 + value.length / CHARACTERS_PER_STEP : 1)
  if (typeof value !== 'object' || value === null) return
  for (const item of Object.values(value)) measure(run, item)
}

/** A finite number, or a text that is a plain decimal. Throws `BINDING` for any other value. */
export function numberOf(value: unknown, label: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const number = numberOfText(value)
  if (number !== undefined) return number
  if (typeof value === 'object' && value !== null) throw compound(label, value)
  throw noNumber(label, value)
}

export function truthOf(value: unknown, label: string): boolean {
  if (typeof value === 'boolean') return value
  if (!isKnown(value)) throw unknown(label, value)
  return Boolean(value)
}

/** To numbers if one is a number, otherwise to texts. Throws `BINDING`. */
export function orderOf(
  run: Run,
  a: unknown,
  b: unknown,
  label: string,
  otherLabel: string,
): { readonly values: readonly [number, number] | readonly [string, string] } {
  const order = ordered(a, b)
  switch (order.by) {
    case 'number':
      return { values: [order.a, order.b] }
    case 'text':
      spend(run, order.a.length / CHARACTERS_PER_STEP)
      return { values: [order.a, order.b] }
    case 'decimals':
      throw unfit(
        label,
        `and "${otherLabel}" are both texts of numbers; write number(${label}) and number(${otherLabel})`,
      )
    case 'nothing':
      throw order.side === 'left' ? wrongSide(label, a) : wrongSide(otherLabel, b)
  }
}

function wrongSide(label: string, value: unknown): Error {
  if (!isKnown(value)) return unknown(label, value)
  if (typeof value === 'object') return compound(label, value)
  return noNumber(label, value)
}

function compound(label: string, value: unknown): Error {
  const kind = Array.isArray(value) ? 'a list' : 'an object'
  return unfit(label, `is ${kind}; compare or calculate with one of its fields`)
}

export function sameValue(run: Run, a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string' && a.length > CHARACTERS_PER_STEP) {
    spend(run, a.length / CHARACTERS_PER_STEP)
  }
  return a === b
}

/** Whether a value is an item of a list, or an own key of an object. Throws `BINDING` for other containers. */
export function isAmong(run: Run, wanted: unknown, all: unknown, label: string, allLabel: string): boolean {
  if (Array.isArray(all)) {
    spend(run, 1 + all.length / 4)
    return all.some((item) => (typeof item === typeof wanted ? sameValue(run, item, wanted) : isEqual(item, wanted)))
  }
  if (typeof all === 'string') throw unfit(allLabel, `is a text; write contains(${allLabel}, ${label})`)
  if (typeof all !== 'object' || all === null) {
    throw unfit(allLabel, 'is neither a list nor an object; write x in [1, 2], or compare with ==')
  }
  if (typeof wanted !== 'string' && typeof wanted !== 'number') throw unfit(label, 'must be a text to be a key')
  const key = String(wanted)
  return !FORBIDDEN_KEYS.has(key) && Object.hasOwn(all, key)
}

export function indexIn(run: Run, list: readonly unknown[], wanted: unknown): number {
  spend(run, 1 + list.length / 4)
  if (Number.isNaN(wanted)) return list.findIndex(Number.isNaN)
  return list.findIndex((item) => sameValue(run, item, wanted))
}

function listText(run: Run, value: object, label: string): string {
  if (!Array.isArray(value))
    throw unfit(label, 'is an object, which cannot be converted to text; use JSON.stringify(...)')
  spend(run, value.length)
  const text = value
    .map((item: unknown) => (item === null || item === undefined ? '' : textOf(run, item, label)))
    .join(',')
  spend(run, text.length)
  return text
}

function reserved(label: string, name: string): Error {
  return unfit(label, `reads the reserved name "${name}"; use a field of the data itself`)
}
