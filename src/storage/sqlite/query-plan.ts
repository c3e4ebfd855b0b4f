/**
 * Which index a query walks. SQLite keeps no figures that would tell a state that half of the documents have from one that
 * three have, so it is asked: how many rows each condition leaves, counted up to a bound in the condition's own index.
 * Few: they are fetched. Many: the index of the order is walked until the page is full, or all fields are scanned. Fields
 * that are asked about together have an index in which nothing need be asked: it leads to what is sought, in order.
 */
import type { Condition } from '../contract.ts'
import { fieldsTable, indexOf, togetherIndexOf, type CollectionForm } from './collection-form.ts'
import { allSql, conditionSql, fieldOf, textsDriverSql, textsIdsSql, type Sql } from './condition-sql.ts'
import type { Database } from './database.ts'

/** How far a condition's rows are counted: some 0.2 ms in its index. Above, looking each up costs more than a scan. */
const FEW = 5_000
/** Pages that reach further are sorted out of a scan: on the way there the index of the order leads to too many rows. */
const DEEP = 2_000
/** Conditions that are asked about; the others only filter. */
const MOST_ASKED = 6

/** What comes after FROM. */
export interface Source {
  readonly from: string
  readonly where: Sql
}

interface Driver {
  readonly from: string
  /** what the index answers */
  readonly part: Sql
  /** the places of the conditions that `part` stands for, and the text that replaces them, when another drives better */
  readonly places: ReadonlySet<number>
  /** rows that can be counted in place of its own; at least as many */
  readonly counted?: Sql
}

export interface Planned {
  readonly db: Database
  readonly form: CollectionForm
  readonly tenant: string
  readonly where: readonly Condition[]
}

/** `sortedBy`: the first field of the order, when it is not by id. `depth`: how far into the order the page reaches. */
export function sourceOfPage(planned: Planned, sortedBy: string | undefined, depth: number): Source {
  const { form, where } = planned
  const straight = togetherDriversOf(planned, 1).find(
    ({ places, next }) => places.size === where.length && next !== undefined && next === sortedBy,
  )
  if (straight !== undefined) return driven(planned, straight)
  const driver = fewest(planned, driversOf(planned))
  if (driver !== undefined) return driven(planned, driver)
  const field = sortedBy === undefined || (where.length > 0 && depth > DEEP) ? 'id' : fieldOf(form, sortedBy).field
  return { from: indexed(form, field === 'id' ? undefined : indexOf(form, field)), where: allSql(form, where) }
}

export function sourceOfCount(planned: Planned): Source {
  const { form, where } = planned
  const drivers = driversOf(planned)
  // What one index answers whole is counted in it, without a look at any row.
  const whole = drivers.find(({ places }) => places.size === where.length)
  if (whole !== undefined) return driven(planned, whole)
  const driver = fewest(planned, drivers)
  return driver === undefined ? { from: indexed(form, undefined), where: allSql(form, where) } : driven(planned, driver)
}

function indexed(form: CollectionForm, index: string | undefined): string {
  return `${fieldsTable(form)} AS f ${index === undefined ? 'NOT INDEXED' : `INDEXED BY ${index}`}`
}

function driven({ form, where }: Planned, { from, part, places }: Driver): Source {
  const others = allSql(
    form,
    where.filter((_, place) => !places.has(place)),
  )
  return { from, where: { text: `${part.text} AND ${others.text}`, values: [...part.values, ...others.values] } }
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
    const texts = textsDriverSql(form, tenant, condition)
    if (texts !== undefined) {
      // looked up among the fields, every one of its rows would be read to count the first few
      const counted = textsIdsSql(form, tenant, condition)
      drivers.push({
        from: indexed(form, undefined),
        part: texts,
        places: new Set([place]),
        ...(counted && { counted }),
      })
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
    if (field !== 'id' && field.type === 'texts') continue
    const index = field === 'id' ? undefined : indexOf(form, field)
    const parts = conditions.map((condition) => conditionSql(form, condition))
    const part = {
      text: parts.map(({ text }) => `(${text})`).join(' AND '),
      values: parts.flatMap((one) => one.values),
    }
    drivers.push({ from: indexed(form, index), part, places })
  }
  // one field alone has an index of its own
  return [...togetherDriversOf(planned, 2), ...drivers].slice(0, MOST_ASKED)
}

const ANSWERED: ReadonlySet<string> = new Set(['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'startsWith', 'like', 'box'])

/** The driver that leaves the fewest rows; undefined when all leave many. */
function fewest({ db, tenant }: Planned, drivers: readonly Driver[]): Driver | undefined {
  let least = FEW
  let best: Driver | undefined
  for (const driver of drivers) {
    const { from, part, counted } = driver
    const rows = counted ?? {
      text: `SELECT 1 FROM ${from} WHERE f.tenant = ? AND ${part.text}`,
      values: [tenant, ...part.values],
    }
    const [count = 0] = db.row<[number]>(`SELECT count(*) FROM (${rows.text} LIMIT ?)`, ...rows.values, least) ?? []
    if (count >= least) continue
    least = count
    best = driver
    if (count === 0) break
  }
  return best
}
