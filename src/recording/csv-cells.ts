/** What the cells of a CSV mean. */
import { FORBIDDEN_KEYS } from '../kernel/json.ts'

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/**
 * The value of a cell: a number, true or false, NaN, or the text as it stands; undefined when it is empty.
 */
export function cellValue(cell: string): unknown {
  const number = plainNumber(cell)
  if (number !== undefined) return number
  const text = cell.trim()
  if (text === '') return undefined
  if (NUMBER.test(text)) {
    const number = Number(text)
    return Number.isFinite(number) ? number : cell
  }
  switch (text.toLowerCase()) {
    case 'true':
      return true
    case 'false':
      return false
    case 'nan':
      return Number.NaN
    default:
      return cell
  }
}

/** Most cells are numbers, and most of those end here. */
function plainNumber(cell: string): number | undefined {
  const first = cell.charCodeAt(0)
  if (!isDigit(first) && first !== MINUS) return undefined
  // what JavaScript reads besides, such as 0x10
  if (first === ZERO && cell.length > 1 && !isDigit(cell.charCodeAt(1)) && cell.charCodeAt(1) !== POINT)
    return undefined
  const number = Number(cell)
  return Number.isFinite(number) ? number : undefined
}

const [ZERO, NINE, MINUS, POINT] = [48, 57, 45, 46]

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** Whether a row of the long form may name a metric so; empty is not asked here. */
export function isMetricName(name: string): boolean {
  return !FORBIDDEN_KEYS.has(name) && name !== 'resource' && name !== 'timestamp'
}
