/** Converts values to JSON text. */
import { Collection } from './collections.ts'
import { JavaMap } from './map.ts'
import { doubleOf, isNumber } from './numbers.ts'
import { shownText } from './text.ts'
import type { Environment, Value } from './value.ts'

/** Converts NaN and infinities to null, and other values without a JSON form to their text. */
export function jsonText(value: Value, environment: Environment): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return String(value)
  if (isNumber(value)) return Number.isFinite(doubleOf(value)) ? shownText(value, environment) : 'null'
  if (!(value instanceof Collection) && !(value instanceof JavaMap))
    return JSON.stringify(shownText(value, environment))
  const { budget } = environment
  budget.enter()
  const text = value instanceof Collection ? listText(value, environment) : mapText(value, environment)
  budget.leave()
  budget.make(text.length)
  return text
}

function listText(list: Collection, environment: Environment): string {
  return `[${list
    .items(environment)
    .map((item) => jsonText(item, environment))
    .join(',')}]`
}

function mapText(map: JavaMap, environment: Environment): string {
  const members = map.entries(environment).map(({ key, value }) => {
    return `${JSON.stringify(shownText(key, environment))}:${jsonText(value, environment)}`
  })
  return `{${members.join(',')}}`
}
