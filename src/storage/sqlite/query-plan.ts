/**
 * Which index a query walks. SQLite keeps no figures that would tell a state that half of the documents have from one that
 * three have, so it is asked: how many rows each condition leaves, counted up to a bound in the condition's own index.
 * Few: they are fetched. Many: what leads through them in the order that is asked for is walked until the page is full, or
 * all fields are scanned. Fields that are asked about together have an index in which nothing need be asked: it leads to what
 * is sought, in order; and one that has all fields of a question answers it without a look at any row.
 */
import type { Condition } from '../contract.ts'
import {
  fieldsTable,
  idsIndexOf,
  indexOf,
  textsTable,
  togetherIndexOf,
  wideTable,
  type CollectionForm,
  type FormField,
} from './collection-form.ts'
import { allSql, conditionSql, entriesSql, fieldOf, type Sql } from './condition-sql.ts'
import type { Database } from './database.ts'

/** Rows that are fetched and sorted rather than met on a walk: 2 to 3 ms. */
const FEW = 5_000
/** Rows that are looked up to be counted, at most: some 6 ms, what it takes to scan five times as many. */
const MOST_LOOKED_UP = 20_000
/** Pages that reach further are sorted out of a scan: on the way there the index of the order leads to too many rows. */
const DEEP = 2_000
/** Conditions that are asked about; the others only filter. */
const MOST_ASKED = 6

/** What comes after FROM. */
export interface Source {
  readonly from: string
  readonly where: Sql
  /** what stands for the first field of the order */
  readonly first?: string
}

interface Driver {
  readonly from: string
  /** what the index answers */
  readonly part: Sql
  /** the places of the conditions that `part` stands for, and the text that replaces them, when another drives better */
  readonly places: ReadonlySet<number>
  /** rows that can be counted in place of its own; at least as many */
  readonly counted?: { readonly from: string; readonly where: Sql }
  /** its rows come in the order of the collection's rank */
  readonly ranked?: boolean
  /** nothing says where in its index to begin */
  readonly endless?: boolean
}

export interface Planned {
  readonly db: Database
  readonly form: CollectionForm
  readonly tenant: string
  readonly where: readonly Condition[]
  /** a column `w` of what is wide is read too, by a condition or beside them */
  readonly wide: boolean
}

export type FirstOrder = { readonly field: string; readonly descending: boolean } | undefined

/** `first`: what the order begins with, when it is not by id. `depth`: how far into the order the page reaches. */
export function sourceOfPage(planned: Planned, first: FirstOrder, depth: number): Source {
  const { form, where } = planned
  const straight = togetherDriversOf(planned, 1).find(
    ({ places, next }) => places.size === where.length && next !== undefined && next === first?.field,
  )
  if (straight !== undefined) return driven(planned, straight)
  const isRanked = first?.descending === true && first.field === form.rank?.name
  const ranked = ({ ranked: follows = false }: Driver): Partial<Source> =>
    isRanked && follows ? { first: 't.rank' } : {}
  const covering = first === undefined ? undefined : coveringOf(planned, first.field)
  const drivers = driversOf(planned)
  const driver = fewest(
    planned,
    covering === undefined ? drivers : drivers.filter(({ endless }) => endless !== true),
    FEW,
  )
  if (driver !== undefined) return { ...driven(planned, driver), ...ranked(driver) }
  if (where.length > 0 && depth > DEEP) return scanned(planned)
  const walked = drivers.find(({ ranked: follows = false }) => isRanked && follows)
  if (walked !== undefined) return { ...driven(planned, walked), ...ranked(walked) }
  const index = covering ?? orderIndexOf(form, first)
  return index === undefined ? scanned(planned) : walkedIn(planned, index)
}

export function sourceOfCount(planned: Planned): Source {
  const { db, form, where } = planned
  const drivers = driversOf(planned)
  // What one index answers whole is counted in it, without a look at any row.
  const whole = drivers.find(({ places }) => places.size === where.length)
  if (whole !== undefined) return driven(planned, whole)
  const covering = coveringOf(planned)
  if (covering !== undefined) {
    const asked = drivers.filter(({ endless }) => endless !== true)
    const driver = fewest(planned, asked, FEW)
    return driver === undefined ? walkedIn(planned, covering) : driven(planned, driver)
  }
  const [rows = 0] = db.row<[number | null]>(`SELECT max(key) FROM ${fieldsTable(form)}`) ?? []
  const bound = Math.min(Math.max(FEW, (rows ?? 0) / 5), MOST_LOOKED_UP)
  const driver = fewest(planned, drivers, bound) ?? drivers.find(({ counted }) => counted !== undefined)
  return driver === undefined ? scanned(planned) : driven(planned, driver)
}

function indexed(form: CollectionForm, index: string | undefined): string {
  return `${fieldsTable(form)} AS f ${index === undefined ? 'NOT INDEXED' : `INDEXED BY ${index}`}`
}

/** With what is wide of each row, where that is asked for. */
function joined({ form, wide }: Planned, from: string): string {
  return wide ? `${from} CROSS JOIN ${wideTable(form)} AS w ON w.key = f.key` : from
}

function walkedIn(planned: Planned, index: string): Source {
  const { form, where } = planned
  return { from: joined(planned, indexed(form, index)), where: allSql(form, where) }
}

/** All rows of a tenant: as they lie when there is no other tenant, else in the index that leads to them most straightly. */
function scanned(planned: Planned): Source {
  const { db, form, where, wide } = planned
  const [tenants = 0] = db.row<[number]>('SELECT count(*) FROM (SELECT 1 FROM tenants LIMIT 2)') ?? []
  if (tenants > 1) return walkedIn(planned, form.rank === undefined ? idsIndexOf(form) : indexOf(form, form.rank))
  const from = indexed(form, undefined)
  // What is wide is looked through first: it mostly leaves the least.
  const all = wide ? `${wideTable(form)} AS w CROSS JOIN ${from} ON f.key = w.key` : from
  return { from: all, where: allSql(form, where) }
}

function orderIndexOf(form: CollectionForm, first: FirstOrder): string | undefined {
  const field = first === undefined ? 'id' : fieldOf(form, first.field).field
  if (field === 'id') return idsIndexOf(form)
  return field.unindexed ? undefined : indexOf(form, field)
}

/** An index that has all fields that are asked about: of several the one in whose first field something is sought. */
function coveringOf({ form, where }: Planned, begins?: string): string | undefined {
  const asked = new Set(where.map((condition) => ('any' in condition ? undefined : condition.field)))
  const fits = (list: readonly FormField[]): boolean =>
    [...asked].every((name) => list.some((field) => field.name === name)) &&
    (begins === undefined || list[0]?.name === begins)
  const places = form.together.flatMap((list, place) => (fits(list) ? [place] : []))
  const place = places.find((one) => asked.has(form.together[one]?.[0]?.name)) ?? places[0]
  return place === undefined ? undefined : togetherIndexOf(form, place)
}

function driven(planned: Planned, { from, part, places }: Driver): Source {
  const { form, where } = planned
  const others = allSql(
    form,
    where.filter((_, place) => !places.has(place)),
  )
  return {
    from: joined(planned, from),
    where: { text: `${part.text} AND ${others.text}`, values: [...part.values, ...others.values] },
  }
}

interface TogetherDriver extends Driver {
  /** the field in whose order the index has what is left */
  readonly next: string | undefined
}

/** Lists of fields of which at least so many of the first are asked to be equal to something; the longest first. */
function togetherDriversOf({ form, where }: Planned, least: number): readonly TogetherDriver[] {
  const placeOf = new Map<string, number>()
  for (const [place, condition] of where.entries()) {
    if (!('any' in condition) && condition.op === 'eq') placeOf.set(condition.field, place)
  }
  const drivers = form.together.flatMap((list, at): readonly TogetherDriver[] => {
    const missing = list.findIndex(({ name }) => !placeOf.has(name))
    const asked = missing < 0 ? list : list.slice(0, missing)
    if (asked.length < least) return []
    const places = asked.flatMap(({ name }) => placeOf.get(name) ?? [])
    const parts = places.flatMap((place) => where[place] ?? []).map((condition) => conditionSql(form, condition))
    const part = {
      text: parts.map(({ text }) => text).join(' AND '),
      values: parts.flatMap(({ values }) => values),
    }
    const from = indexed(form, togetherIndexOf(form, at))
    return [{ from, part, places: new Set(places), next: list[asked.length]?.name }]
  })
  return drivers.sort((a, b) => b.places.size - a.places.size)
}

/** Conditions that an index can answer, those of one field together. */
function driversOf(planned: Planned): readonly Driver[] {
  const { form, tenant, where } = planned
  const byField = new Map<string, { readonly conditions: Condition[]; readonly places: Set<number> }>()
  const drivers: Driver[] = []
  for (const [place, condition] of where.entries()) {
    if ('any' in condition || !ANSWERED.has(condition.op)) continue
    const entries = entriesSql(form, tenant, condition)
    if (entries !== undefined) {
      drivers.push(entriesDriver(form, place, entries))
      continue
    }
    const known = byField.get(condition.field)
    if (known === undefined) byField.set(condition.field, { conditions: [condition], places: new Set([place]) })
    else {
      known.conditions.push(condition)
      known.places.add(place)
    }
  }
  for (const [name, { conditions, places }] of byField) {
    const { field } = fieldOf(form, name)
    if (field !== 'id' && field.unindexed) continue
    const index = field === 'id' ? idsIndexOf(form) : indexOf(form, field)
    const parts = conditions.map((condition) => conditionSql(form, condition))
    const part = {
      text: parts.map(({ text }) => `(${text})`).join(' AND '),
      values: parts.flatMap((one) => one.values),
    }
    drivers.push({ from: indexed(form, index), part, places, endless: conditions.every(isEndless) })
  }
  // one field alone has an index of its own
  return [...togetherDriversOf(planned, 2), ...drivers].slice(0, MOST_ASKED)
}

/** A text's entries lead to rows by their keys; with several texts a row may have more than one entry. */
function entriesDriver(
  form: CollectionForm,
  place: number,
  { text, values, single }: Sql & { single: boolean },
): Driver {
  const table = `${textsTable(form)} AS t`
  const own = { places: new Set([place]), counted: { from: table, where: { text, values } } }
  if (single) {
    const from = `${table} CROSS JOIN ${indexed(form, undefined)}`
    return { ...own, from, part: { text: `${text} AND f.key = t.key`, values }, ranked: true }
  }
  const keys = { text: `f.key IN (SELECT t.key FROM ${table} WHERE ${text})`, values }
  return { ...own, from: indexed(form, undefined), part: keys }
}

const ANSWERED: ReadonlySet<string> = new Set(['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'startsWith', 'like', 'box'])

function isEndless(condition: Condition): boolean {
  return 'op' in condition && condition.op === 'like' && condition.pattern.startsWith('*')
}

/** The driver that leaves the fewest rows; undefined when all leave `bound` or more. */
function fewest({ db, tenant }: Planned, drivers: readonly Driver[], bound: number): Driver | undefined {
  let least = bound
  let best: Driver | undefined
  for (const driver of drivers) {
    const { from, part, counted } = driver
    const rows = counted ?? {
      from,
      where: { text: `f.tenant = ? AND ${part.text}`, values: [tenant, ...part.values] },
    }
    const sql = `SELECT count(*) FROM (SELECT 1 FROM ${rows.from} WHERE ${rows.where.text} LIMIT ?)`
    const [count = 0] = db.row<[number]>(sql, ...rows.where.values, Math.ceil(least)) ?? []
    if (count >= least) continue
    least = count
    best = driver
    if (count === 0) break
  }
  return best
}
