/** Lists the access paths of a query: indexes that find rows, and which conditions each index covers. */
import type { Condition } from '../contract.ts'
import {
  fieldsTable,
  idsIndexOf,
  indexOf,
  textsTable,
  togetherIndexOf,
  type CollectionForm,
} from './collection-form.ts'
import { conditionSql, entriesSql, fieldOf, type Sql } from './condition-sql.ts'
import type { Database } from './database.ts'

/** Most conditions for which indexes are considered; further conditions only filter. */
const MAX_ASKED = 6

export interface Planned {
  readonly db: Database
  readonly form: CollectionForm
  readonly tenant: string
  readonly where: readonly Condition[]
  /** true when wide values are read, for a condition or for the result */
  readonly wide: boolean
}

export interface Driver {
  readonly from: string
  /** SQL for the conditions that the index covers */
  readonly part: Sql
  /** indexes of the conditions that `part` replaces; when another path drives the query, their usual text is used */
  readonly indexes: ReadonlySet<number>
  /** a condition that is cheaper to count, and matches at least as many rows */
  readonly counted?: { readonly from: string; readonly where: Sql }
  /** an alternative that looks up each row, which is less work for very many scattered rows */
  readonly rows?: Pick<Driver, 'from' | 'part'>
  /** true when the rows come in the order of the collection's rank */
  readonly ranked?: boolean
  /** true when the index is read from its beginning */
  readonly endless?: boolean
}

export function indexed(form: CollectionForm, index: string | undefined): string {
  return `${fieldsTable(form)} AS f ${index === undefined ? 'NOT INDEXED' : `INDEXED BY ${index}`}`
}

interface TogetherDriver extends Driver {
  /** the field by which the rest of the index is sorted */
  readonly next: string | undefined
}

/** At least `least` fields have an `eq` condition; longest match first. */
export function togetherDriversOf({ form, where }: Planned, least: number): readonly TogetherDriver[] {
  const indexOf = new Map<string, number>()
  for (const [index, condition] of where.entries()) {
    if (!('any' in condition) && condition.op === 'eq') indexOf.set(condition.field, index)
  }
  const drivers = form.together.flatMap((list, at): readonly TogetherDriver[] => {
    const missing = list.findIndex(({ name }) => !indexOf.has(name))
    const covered = missing < 0 ? list : list.slice(0, missing)
    if (covered.length < least) return []
    const indexes = covered.flatMap(({ name }) => indexOf.get(name) ?? [])
    const parts = indexes.flatMap((index) => where[index] ?? []).map((condition) => conditionSql(form, condition))
    const part = {
      text: parts.map(({ text }) => text).join(' AND '),
      values: parts.flatMap(({ values }) => values),
    }
    const from = indexed(form, togetherIndexOf(form, at))
    return [{ from, part, indexes: new Set(indexes), next: list[covered.length]?.name }]
  })
  return drivers.sort((a, b) => b.indexes.size - a.indexes.size)
}

export function driversOf(planned: Planned): readonly Driver[] {
  const { form, tenant, where } = planned
  const byField = new Map<string, { readonly conditions: Condition[]; readonly indexes: Set<number> }>()
  const drivers: Driver[] = []
  for (const [index, condition] of where.entries()) {
    if ('any' in condition || !ANSWERED.has(condition.op)) continue
    const entries = entriesSql(form, tenant, condition)
    if (entries !== undefined) {
      drivers.push(entriesDriver(planned, index, entries))
      continue
    }
    const known = byField.get(condition.field)
    if (known === undefined) byField.set(condition.field, { conditions: [condition], indexes: new Set([index]) })
    else {
      known.conditions.push(condition)
      known.indexes.add(index)
    }
  }
  for (const [name, { conditions, indexes }] of byField) {
    const { field } = fieldOf(form, name)
    if (field !== 'id' && field.unindexed) continue
    const index = field === 'id' ? idsIndexOf(form) : indexOf(form, field)
    const parts = conditions.map((condition) => conditionSql(form, condition))
    const part = {
      text: parts.map(({ text }) => `(${text})`).join(' AND '),
      values: parts.flatMap((one) => one.values),
    }
    drivers.push({ from: indexed(form, index), part, indexes, endless: conditions.every(isEndless) })
  }
  // a single field has an index of its own
  return [...togetherDriversOf(planned, 2), ...drivers].slice(0, MAX_ASKED)
}

/** Finds rows through the entries of a text. With several texts, a row may have several matching entries. */
function entriesDriver(planned: Planned, index: number, { text, values, single }: Sql & { single: boolean }): Driver {
  const { form } = planned
  const table = `${textsTable(form)} AS t`
  const common = { indexes: new Set([index]), counted: { from: table, where: { text, values } } }
  if (single) {
    const part = { text: `${text} AND f.key = t.key`, values }
    const rows = { from: `${table} CROSS JOIN ${indexed(form, undefined)}`, part }
    const beside = besideOf(planned)
    if (beside === undefined) return { ...common, ...rows, ranked: true }
    const from = `${table} CROSS JOIN ${indexed(form, beside)}`
    const same = `${part.text} AND f.${form.rank?.column} IS nullif(t.rank, -9e999)`
    return { ...common, from, part: { text: same, values }, rows, ranked: true }
  }
  const keys = { text: `f.key IN (SELECT t.key FROM ${table} WHERE ${text})`, values }
  return { ...common, from: indexed(form, undefined), part: keys }
}

/** Such an index is compact, whereas the rows are scattered over the file. */
function besideOf({ form, where }: Planned): string | undefined {
  const equal = new Set(where.map((one) => ('any' in one || one.op !== 'eq' ? undefined : one.field)))
  let best = -1
  for (const [index, list] of form.together.entries()) {
    const fits = list.at(-1)?.name === form.rank?.name && list.slice(0, -1).every(({ name }) => equal.has(name))
    if (fits && list.length > (form.together[best]?.length ?? 0)) best = index
  }
  return best < 0 ? undefined : togetherIndexOf(form, best)
}

export const ANSWERED: ReadonlySet<string> = new Set([
  'eq',
  'in',
  'gt',
  'gte',
  'lt',
  'lte',
  'startsWith',
  'like',
  'box',
])

function isEndless(condition: Condition): boolean {
  return 'op' in condition && condition.op === 'like' && condition.pattern.startsWith('*')
}
