/** Translates conditions to SQL over a row `f` of a field table and its row `w` of wide values; input is bound. */
import type { Condition } from '../contract.ts'
import { foldCase } from '../order.ts'
import { textsTable, type CollectionForm, type FormField } from './collection-form.ts'
import type { SqlValue } from './database.ts'

export interface Sql {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export type FieldCondition = Exclude<Condition, { readonly any: unknown }>
type OfField = { readonly field: FormField | 'id'; readonly column: string; readonly lower: string }

const NOTHING: Sql = { text: 'FALSE', values: [] }
const EVERYTHING: Sql = { text: 'TRUE', values: [] }

export function allSql(form: CollectionForm, conditions: readonly Condition[]): Sql {
  return joined(
    conditions.map((condition) => conditionSql(form, condition)),
    ' AND ',
    EVERYTHING,
  )
}

export function conditionSql(form: CollectionForm, condition: Condition): Sql {
  if ('any' in condition) {
    return joined(
      condition.any.map((list) => allSql(form, list)),
      ' OR ',
      NOTHING,
    )
  }
  const of = fieldOf(form, condition.field)
  if (of.field !== 'id' && of.field.type === 'texts') return textsSql(form, of.field, condition)
  const { column } = of
  switch (condition.op) {
    case 'eq':
      return { text: `${column} = ?`, values: [condition.value] }
    case 'ne':
      return { text: `${column} IS NOT ?`, values: [condition.value] }
    case 'in':
      return inSql(column, condition.values)
    case 'gt':
      return { text: `${column} > ?`, values: [condition.value] }
    case 'gte':
      return { text: `${column} >= ?`, values: [condition.value] }
    case 'lt':
      return { text: `${column} < ?`, values: [condition.value] }
    case 'lte':
      return { text: `${column} <= ?`, values: [condition.value] }
    case 'exists':
      return { text: `${column} IS ${condition.value ? 'NOT ' : ''}NULL`, values: [] }
    case 'contains':
      return { text: `instr(${of.lower}, ?) > 0`, values: [foldCase(condition.value)] }
    case 'startsWith':
      return prefixSql(column, condition.value)
    case 'like':
      return likeSql(column, condition.pattern)
    case 'box':
      return boxSql(of, condition)
  }
}

/** Undefined for conditions that are not on a list. `single`: at most one entry per document matches. */
export function entriesSql(
  form: CollectionForm,
  tenant: string,
  condition: Condition,
): (Sql & { readonly single: boolean }) | undefined {
  const values = 'any' in condition ? undefined : valuesOfTexts(form, condition)
  if ('any' in condition || values === undefined) return undefined
  const list = inSql('t.value', values)
  return {
    text: `t.tenant = ? AND t.field = ? AND ${list.text}`,
    values: [tenant, condition.field, ...list.values],
    single: values.length === 1,
  }
}

export function fieldOf(form: CollectionForm, name: string): OfField {
  if (name === 'id') return { field: 'id', column: 'f.id', lower: 'coalesce(f.low, f.id)' }
  const field = form.fields.find((one) => one.name === name)
  if (field === undefined) throw new Error(`the collection ${form.name} does not have a field ${name}`)
  const { column, second } = field
  const row = field.unindexed ? 'w' : 'f'
  return { field, column: `${row}.${column}`, lower: `coalesce(${row}.${second}, ${row}.${column})` }
}

/** Entries of texts are not wide values. */
export function isWide(form: CollectionForm, condition: Condition): boolean {
  if ('any' in condition) return condition.any.some((list) => list.some((one) => isWide(form, one)))
  return isWideField(form, condition.field) && valuesOfTexts(form, condition) === undefined
}

export function isWideField(form: CollectionForm, name: string): boolean {
  const { field } = fieldOf(form, name)
  return field !== 'id' && field.unindexed
}

function valuesOfTexts(form: CollectionForm, condition: FieldCondition): readonly (string | number)[] | undefined {
  const { field } = fieldOf(form, condition.field)
  return field !== 'id' && field.type === 'texts' ? valuesOf(condition) : undefined
}

function valuesOf(condition: FieldCondition): readonly (string | number)[] | undefined {
  if (condition.op === 'eq') return [condition.value]
  return condition.op === 'in' ? condition.values : undefined
}

function textsSql(form: CollectionForm, field: FormField, condition: FieldCondition): Sql {
  if (condition.op === 'exists') {
    const { column } = fieldOf(form, field.name)
    return { text: `${column} IS ${condition.value ? 'NOT ' : ''}NULL`, values: [] }
  }
  const list = inSql('t.value', valuesOf(condition) ?? [])
  // `CollectionTables` stores an absent rank as minus infinity
  const rank = form.rank === undefined ? '0' : `coalesce(f.${form.rank.column}, -9e999)`
  return {
    text: `EXISTS (
      SELECT 1 FROM ${textsTable(form)} AS t
      WHERE t.tenant = f.tenant AND t.field = ? AND ${list.text} AND t.rank = ${rank} AND t.key = f.key)`,
    values: [field.name, ...list.values],
  }
}

/** A longer list is bound as one JSON array, since statements have a limited number of parameters. */
const MAX_PLACES = 16

/** A list is padded with its last value to a power of two, so that few different statements are prepared. */
function inSql(column: string, values: readonly (string | number)[]): Sql {
  const last = values.at(-1)
  if (last === undefined) return NOTHING
  if (values.length === 1) return { text: `${column} = ?`, values }
  if (values.length > MAX_PLACES) {
    // SQLite would read a number beyond 2^53 without a point as an inexact integer
    const value = typeof last === 'number' ? 'CAST(value AS REAL)' : 'value'
    return { text: `${column} IN (SELECT ${value} FROM json_each(?))`, values: [JSON.stringify(values)] }
  }
  const length = 2 ** Math.ceil(Math.log2(values.length))
  const filled = [...values, ...Array.from({ length: length - values.length }, () => last)]
  return { text: `${column} IN (${filled.map(() => '?').join(', ')})`, values: filled }
}

function prefixSql(column: string, prefix: string): Sql {
  const above = nextPrefix(prefix)
  return above === undefined
    ? { text: `${column} >= ?`, values: [prefix] }
    : { text: `${column} >= ? AND ${column} < ?`, values: [prefix, above] }
}

/** Returns the first text, by code point, after all texts with a prefix; undefined when no such text exists. */
export function nextPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // skips surrogates, which are not characters
    const next = last === 0xd7ff ? 0xe000 : last + 1
    return String.fromCodePoint(...points, next)
  }
  return undefined
}

/** For a pattern only the range of its prefix: matches at least as many rows, and is counted in half the time. */
export function rangeSql(form: CollectionForm, condition: FieldCondition): Sql {
  if (condition.op !== 'like') return conditionSql(form, condition)
  const [start = ''] = condition.pattern.split('*')
  return prefixSql(fieldOf(form, condition.field).column, start)
}

function likeSql(column: string, pattern: string): Sql {
  const [start = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return { text: `${column} = ?`, values: [start] }
  const range = prefixSql(column, start)
  // for a prefix followed by one star, the range is exact
  if (rest.length === 1 && rest[0] === '') return range
  const glob = pattern.replace(/[?[]/g, '[$&]')
  // the + keeps SQLite from preparing the statement for each pattern; the range before it uses the index
  return { text: `${range.text} AND +${column} GLOB ?`, values: [...range.values, glob] }
}

function boxSql({ field }: OfField, box: Extract<Condition, { readonly op: 'box' }>): Sql {
  if (field === 'id') return NOTHING
  const [lat, lng] = [`f.${field.column}`, `f.${field.second}`]
  const across = box.west > box.east
  return {
    text: `${lat} BETWEEN ? AND ? AND ${across ? `(${lng} >= ? OR ${lng} <= ?)` : `${lng} BETWEEN ? AND ?`}`,
    values: [box.south, box.north, box.west, box.east],
  }
}

function joined(parts: readonly Sql[], by: ' AND ' | ' OR ', empty: Sql): Sql {
  const [first, ...rest] = parts
  if (first === undefined) return empty
  if (rest.length === 0) return first
  return { text: `(${parts.map(({ text }) => `(${text})`).join(by)})`, values: parts.flatMap(({ values }) => values) }
}
