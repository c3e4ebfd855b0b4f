/** What the cells of a CSV mean. */
import { FORBIDDEN_KEYS, isLongInteger, longIntegersOf, shownDigits } from '#kernel'
import type { ValueType } from './value-types.ts'

/** As `--types name=number` reads them. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const PLAIN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const BOOLEAN = /^(?:true|false)$/i
/** significant digits of which a number keeps each */
const EXACT_DIGITS = 15
const MAX_SHOWN = 60

/** A cell that is not what its column is. */
export class CellFault {
  readonly message: string
  readonly suggestion: string

  constructor(message: string, suggestion: string) {
    this.message = message
    this.suggestion = suggestion
  }
}

/** What a column is as far as one of its cells says. */
export type CellKind = 'none' | 'number' | 'boolean' | 'text'

/** `none`: it says nothing, because it is blank or NaN. A number is a plain decimal that a number keeps digit by digit. */
export function kindOf(cell: string): CellKind {
  if (PLAIN.test(cell)) return keepsDigits(cell) ? 'number' : 'text'
  const text = cell.trim()
  if (text === '' || isNan(text)) return 'none'
  return BOOLEAN.test(cell) ? 'boolean' : 'text'
}

/** Whether somebody may have meant a number by a cell. */
export function looksNumeric(cell: string): boolean {
  return NUMBER.test(cell.trim())
}

function keepsDigits(plain: string): boolean {
  return plain.replace(/^-?0*\.?0*|\./g, '').length <= EXACT_DIGITS || String(Number(plain)) === plain
}

function isNan(text: string): boolean {
  return text.toLowerCase() === 'nan'
}

/** The value of a cell, or what is wrong with it; undefined when the cell has none. */
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
        `read it as it stands: --types ${metric}=text`,
      )
    case 'json':
      return jsonOf(text, metric)
  }
}

function numberOf(text: string, metric: string): unknown {
  if (isNan(text)) return Number.NaN
  const asText = `read it as it stands: --types ${metric}=text`
  if (isLongInteger(text)) {
    return new CellFault(`${metric} is ${shownDigits(text)}, which has more digits than a number keeps`, asText)
  }
  if (!NUMBER.test(text)) return new CellFault(`${metric} is ${shown(text)}, which is not a number`, asText)
  const number = Number(text)
  return Number.isFinite(number) ? number : new CellFault(`${metric} is beyond 1.8e308`, 'leave it empty')
}

function jsonOf(text: string, metric: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new CellFault(`${metric} is ${shown(text)}, which is not JSON`, 'a text stands in quotes, such as ""on""')
  }
  const [long] = longIntegersOf(text)
  if (long === undefined) return value
  return new CellFault(
    `${metric} has ${shownDigits(long.digits)}, which has more digits than a number keeps`,
    'write it as a text',
  )
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text)
}

/** Whether a row of the long form may name a metric so; empty is not asked here. */
export function isMetricName(name: string): boolean {
  return !FORBIDDEN_KEYS.has(name) && name !== 'resource' && name !== 'timestamp'
}
