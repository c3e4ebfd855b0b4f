/** Chooses the index for a query, by counting the rows of each condition in its own index, up to a limit. */
import {
  fieldsTable,
  idsIndexOf,
  indexOf,
  togetherIndexOf,
  wideTable,
  type CollectionForm,
  type FormField,
} from './collection-form.ts'
import { allSql, fieldOf, rangeSql, type FieldCondition, type Sql } from './condition-sql.ts'
import { ANSWERED, driversOf, indexed, togetherDriversOf, type Driver, type Planned } from './query-drivers.ts'

/** maximum number of rows that are fetched and sorted instead of scanned in order: takes 2 to 3 ms */
const FEW = 5_000
/** maximum number of rows that are looked up to count them: takes about 6 ms, like scanning five times as many */
const MAX_LOOKED_UP = 20_000
/** rows up to the end of a page, beyond which a scan and a sort replace the ordered index */
const DEEP = 2_000

/** The text after FROM, and the condition. */
export interface Source {
  readonly from: string
  readonly where: Sql
  readonly first?: string
}

export type FirstOrder = { readonly field: string; readonly descending: boolean } | undefined

/** `first`: the first field of the order, unless that is the id. `depth`: rows up to the end of the page. */
export function sourceOfPage(planned: Planned, first: FirstOrder, depth: number): Source {
  const { form, where } = planned
  const straight = togetherDriversOf(planned, 1).find(
    ({ indexes, next }) => indexes.size === where.length && next !== undefined && next === first?.field,
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
  const sifted = isRanked ? siftedOf(planned, depth) : undefined
  if (sifted !== undefined) return sifted
  if (where.length > 0 && depth > DEEP) return scanned(planned)
  const walked = drivers.find(({ ranked: follows = false }) => isRanked && follows)
  if (walked !== undefined) return { ...driven(planned, walked), ...ranked(walked) }
  const index = covering ?? orderIndexOf(form, first)
  return index === undefined ? scanned(planned) : walkedIn(planned, index)
}

export function sourceOfCount(planned: Planned): Source {
  const { db, form, where } = planned
  const drivers = driversOf(planned)
  // a count that one index covers reads no rows
  const whole = drivers.find(({ indexes }) => indexes.size === where.length)
  if (whole !== undefined) return driven(planned, whole)
  const covering = coveringOf(planned)
  if (covering !== undefined) {
    const bounded = drivers.filter(({ endless }) => endless !== true)
    const driver = fewest(planned, bounded, FEW)
    return driver === undefined ? walkedIn(planned, covering) : driven(planned, driver)
  }
  const [rows = 0] = db.row<[number | null]>(`SELECT max(key) FROM ${fieldsTable(form)}`) ?? []
  const bound = Math.min(Math.max(FEW, (rows ?? 0) / 5), MAX_LOOKED_UP)
  const driver = fewest(planned, drivers, bound)
  if (driver !== undefined) return driven(planned, driver)
  const entries = drivers.find(({ counted }) => counted !== undefined)
  return entries === undefined ? scanned(planned) : driven(planned, { ...entries, ...entries.rows })
}

function joined({ form, wide }: Planned, from: string): string {
  return wide ? `${from} CROSS JOIN ${wideTable(form)} AS w ON w.key = f.key` : from
}

function walkedIn(planned: Planned, index: string): Source {
  const { form, where } = planned
  return { from: joined(planned, indexed(form, index)), where: allSql(form, where) }
}

/** Scans all rows of a tenant: in storage order if it is the only tenant, otherwise with the cheapest index. */
function scanned(planned: Planned): Source {
  const { db, form, where, wide } = planned
  const [tenants = 0] = db.row<[number]>('SELECT count(*) FROM (SELECT 1 FROM tenants LIMIT 2)') ?? []
  if (tenants > 1) return walkedIn(planned, form.rank === undefined ? idsIndexOf(form) : indexOf(form, form.rank))
  const from = indexed(form, undefined)
  // wide conditions come first, since they usually match the fewest rows
  const all = wide ? `${wideTable(form)} AS w CROSS JOIN ${from} ON f.key = w.key` : from
  return { from: all, where: allSql(form, where) }
}

function orderIndexOf(form: CollectionForm, first: FirstOrder): string | undefined {
  const field = first === undefined ? 'id' : fieldOf(form, first.field).field
  if (field === 'id') return idsIndexOf(form)
  return field.unindexed ? undefined : indexOf(form, field)
}

/** Returns an index with all fields of the query, preferably one whose first field has a condition. */
function coveringOf({ form, where }: Planned, begins?: string): string | undefined {
  const fields = new Set(where.map((condition) => ('any' in condition ? undefined : condition.field)))
  const fits = (list: readonly FormField[]): boolean =>
    [...fields].every((name) => list.some((field) => field.name === name)) &&
    (begins === undefined || list[0]?.name === begins)
  const indexes = form.together.flatMap((list, index) => (fits(list) ? [index] : []))
  const index = indexes.find((one) => fields.has(form.together[one]?.[0]?.name)) ?? indexes[0]
  return index === undefined ? undefined : togetherIndexOf(form, index)
}

/**
 * Reads the index twice: first to find the rank at which the page ends, so that only the page is sorted and looked up.
 * The index is read from its end, because later keys of a range are often newer.
 */
function siftedOf(planned: Planned, depth: number): Source | undefined {
  const { form, tenant, where, wide } = planned
  const known = where.filter((condition): condition is FieldCondition => 'field' in condition)
  if (form.rank === undefined || wide || known.length < where.length) return undefined
  const index = form.together.findIndex(
    (list) =>
      list.at(-1)?.name === form.rank?.name &&
      known.every(({ field }) => list.some(({ name }) => name === field)) &&
      known.some((condition) => condition.field === list[0]?.name && isRange(condition)),
  )
  const [first] = form.together[index] ?? []
  if (first === undefined) return undefined
  const from = indexed(form, togetherIndexOf(form, index))
  const ranges = known.filter(({ field }) => field === first.name).map((condition) => rangeSql(form, condition))
  const range = {
    text: ranges.map(({ text }) => `(${text})`).join(' AND '),
    values: ranges.flatMap((one) => one.values),
  }
  if (fewest(planned, [{ from, part: range, indexes: new Set() }], MAX_LOOKED_UP) === undefined) return undefined
  const all = allSql(form, where)
  const rank = `coalesce(f.${form.rank.column}, -9e999)`
  const ranks = `SELECT ${rank} AS rank FROM ${from} WHERE f.tenant = ? AND ${all.text} ORDER BY f.${first.column} DESC LIMIT -1`
  const least = `SELECT rank FROM (${ranks}) ORDER BY rank DESC LIMIT 1 OFFSET ?`
  return {
    from,
    where: {
      text: `${all.text} AND ${rank} >= coalesce((${least}), -9e999)`,
      values: [...all.values, tenant, ...all.values, depth - 1],
    },
  }
}

function driven(planned: Planned, { from, part, indexes }: Driver): Source {
  const { form, where } = planned
  const others = allSql(
    form,
    where.filter((_, index) => !indexes.has(index)),
  )
  return {
    from: joined(planned, from),
    where: { text: `${part.text} AND ${others.text}`, values: [...part.values, ...others.values] },
  }
}

function isRange({ op }: FieldCondition): boolean {
  return op !== 'eq' && ANSWERED.has(op)
}

/** Returns the path with the fewest rows; undefined when every path has at least `bound` rows. */
function fewest({ db, tenant }: Planned, drivers: readonly Driver[], bound: number): Driver | undefined {
  let least = bound
  let best: Driver | undefined
  for (const driver of drivers) {
    const { from, part, counted } = driver
    const rows = counted ?? {
      from,
      where: { text: `f.tenant = ? AND ${part.text}`, values: [tenant, ...part.values] },
    }
    const sql = `SELECT count(*) FROM (SELECT 1 FROM ${rows.from} WHERE ${rows.where.text} LIMIT 0 + ?)`
    const [count = 0] = db.row<[number]>(sql, ...rows.where.values, Math.ceil(least)) ?? []
    if (count >= least) continue
    least = count
    best = driver
    if (count === 0) break
  }
  return best
}
