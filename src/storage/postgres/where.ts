/** Translates valid conditions to SQL over the columns of a collection's table. */
import type { Condition } from '../contract.ts'
import { foldCase } from '../order.ts'
import type { KnownSpec } from '../spec.ts'
import { columnNames } from './columns.ts'
import type { Bindings } from './sql-text.ts'

type OnField = Extract<Condition, { readonly field: string }>

const COMPARISONS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

export function allOf(where: readonly Condition[], spec: KnownSpec, bindings: Bindings): string {
  if (where.length === 0) return 'true'
  return where.map((condition) => one(condition, spec, bindings)).join(' and ')
}

function one(condition: Condition, spec: KnownSpec, bindings: Bindings): string {
  if ('any' in condition) {
    const lists = condition.any.map((list) => `(${allOf(list, spec, bindings)})`)
    return lists.length === 0 ? 'false' : `(${lists.join(' or ')})`
  }
  const field = spec.byName.get(condition.field)
  if (field === undefined) return onId(condition, bindings)
  const [column, second] = columnNames(field)
  switch (field.type) {
    case 'text':
      return onText(condition, column, second, bindings)
    case 'number':
      return onNumber(condition, column, bindings)
    case 'texts':
      return onTexts(condition, column, bindings)
    case 'place':
      return onPlace(condition, column, second, bindings)
  }
}

function onId(condition: OnField, bindings: Bindings): string {
  if (condition.op === 'exists') return String(condition.value)
  return onText(condition, 'id', 'folded_id', bindings)
}

/** `folded`: the column with the folded text, null where equal to the text. */
function onText(condition: OnField, column: string, folded: string, bindings: Bindings): string {
  const text = (value: string | number) => bindings.add(value, 'text')
  switch (condition.op) {
    case 'eq':
      return `${column} = ${text(condition.value)}`
    case 'ne':
      return `${column} is distinct from ${text(condition.value)}`
    case 'in':
      return `${column} = any(${bindings.add(condition.values, 'text[]')})`
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return `${column} ${COMPARISONS[condition.op]} ${text(condition.value)}`
    case 'exists':
      return existence(column, condition.value)
    case 'contains':
      return `strpos(coalesce(${folded}, ${column}), ${text(foldCase(condition.value))}) > 0`
    case 'startsWith':
      return `${column} ^@ ${text(condition.value)}`
    case 'like':
      return `${column} like ${text(condition.pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%'))}`
    case 'box':
      return 'false'
  }
}

function onNumber(condition: OnField, column: string, bindings: Bindings): string {
  const number = (value: string | number) => bindings.add(value, 'double precision')
  switch (condition.op) {
    case 'eq':
      return `${column} = ${number(condition.value)}`
    case 'ne':
      return `${column} is distinct from ${number(condition.value)}`
    case 'in':
      return `${column} = any(${bindings.add(condition.values, 'double precision[]')})`
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return `${column} ${COMPARISONS[condition.op]} ${number(condition.value)}`
    case 'exists':
      return existence(column, condition.value)
    default:
      return 'false'
  }
}

function onTexts(condition: OnField, column: string, bindings: Bindings): string {
  switch (condition.op) {
    case 'eq':
      return `${column} && ${bindings.add([condition.value], 'text[]')}`
    case 'in':
      return `${column} && ${bindings.add(condition.values, 'text[]')}`
    case 'exists':
      return existence(column, condition.value)
    default:
      return 'false'
  }
}

function onPlace(condition: OnField, lat: string, lng: string, bindings: Bindings): string {
  if (condition.op === 'exists') return existence(lat, condition.value)
  if (condition.op !== 'box') return 'false'
  const { south, west, north, east } = condition
  const degrees = (value: number) => bindings.add(value, 'double precision')
  const high = `${lat} between ${degrees(south)} and ${degrees(north)}`
  const wide =
    west <= east
      ? `${lng} between ${degrees(west)} and ${degrees(east)}`
      : `(${lng} >= ${degrees(west)} or ${lng} <= ${degrees(east)})`
  return `(${high} and ${wide})`
}

function existence(column: string, exists: boolean): string {
  return `${column} is ${exists ? 'not null' : 'null'}`
}
