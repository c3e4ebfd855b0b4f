/** Converts CSV cells to values. */
import { FORBIDDEN_KEYS, isLongInteger, longIntegersOf, shownDigits } from '#kernel'
import type { ValueType } from './value-types.ts'

/** Number syntax that `--types name=number` accepts. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const PLAIN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const BOOLEAN = /^(?:true|false)$/i
/** number of significant digits that a JavaScript number represents exactly */
const EXACT_DIGITS = 15
const MAX_SHOWN = 60

export class CellFault {
  readonly message: string
  readonly suggestion: string

  constructor(message: string, suggestion: string) {
    this.message = message
    this.suggestion = suggestion
  }
}

export type CellKind = 'none' | 'number' | 'boolean' | 'text'

/** `none`: blank or NaN. A number must be a plain decimal that JavaScript represents exactly. */
export function kindOf(cell: string): CellKind {
  if (PLAIN.test(cell)) return keepsDigits(cell) ? 'number' : 'text'
  const text = cell.trim()
  if (text === '' || isNan(text)) return 'none'
  return BOOLEAN.test(cell) ? 'boolean' : 'text'
}

export function looksNumeric(cell: string): boolean {
  return NUMBER.test(cell.trim())
}

function keepsDigits(plain: string): boolean {
  return plain.replace(/^-?0*\.?0*|\./g, '').length <= EXACT_DIGITS || String(Number(plain)) === plain
}

function isNan(text: string): boolean {
  return text.toLowerCase() === 'nan'
}

export function cellValue(cell: string, type: ValueType, metric: string): unknown {
  if (type === 'text') return cell === '' ? undefined : cell
  const text = cell.trim()
  if (text === '') return undefined
  switch (type) {
    case 'number':
      return numberOf(text, metric)
    case 'boolean':
      if (BOOLEAN.test(text)) return text.toLowerCase() === 'true'
      return new CellFault(
        `${metric} is ${shown(text)}, not true or false`,
        `use --types ${metric}=text to read it unchanged`,
      )
    case 'json':
      return jsonOf(text, metric)
  }
}

function numberOf(text: string, metric: string): unknown {
  if (isNan(text)) return Number.NaN
  const asText = `use --types ${metric}=text to read it unchanged`
  if (isLongInteger(text)) {
    return new CellFault(`${metric} is ${shownDigits(text)}, which has more digits than a number can hold`, asText)
  }
  if (!NUMBER.test(text)) return new CellFault(`${metric} is ${shown(text)}, which is not a number`, asText)
  const number = Number(text)
  return Number.isFinite(number) ? number : new CellFault(`${metric} is beyond 1.8e308`, 'use an empty cell')
}

function jsonOf(text: string, metric: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new CellFault(`${metric} is ${shown(text)}, which is not JSON`, 'use quotes around a text, such as ""on""')
  }
  const [long] = longIntegersOf(text)
  if (long === undefined) return value
  return new CellFault(
    `${metric} has ${shownDigits(long.digits)}, which has more digits than a number can hold`,
    'use a text',
  )
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text)
}

/** Returns whether a name is valid for a metric in the long form; does not check for emptiness. */
export function isMetricName(name: string): boolean {
  return !FORBIDDEN_KEYS.has(name) && name !== 'resource' && name !== 'timestamp'
}
