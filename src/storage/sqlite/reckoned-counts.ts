/** Keeps counts of one tenant's collection up to date when documents are written. */
import type { Condition } from '../contract.ts'
import type { RowFilter, SearchedRow } from '../row-filter.ts'
import type { FieldValue, KnownSpec } from '../spec.ts'

/** A changed document: its searchable values before and after the change; undefined when absent. */
export interface Change {
  readonly before: SearchedRow | undefined
  readonly after: SearchedRow | undefined
}

export interface MaintainedCount {
  readonly holds: RowFilter
  readonly equals: readonly Equal[]
  changes: number
}

/** A field, by its index, that must equal a value or contain it. */
type Equal = readonly [field: number, value: string | number]

/** maximum number of counts that a write checks: of those for one value, and of those for none */
const MAX_TOGETHER = 32
/** number of changes without a query after which a count is dropped */
const MAX_CHANGES = 1_000

export function equalsOf(known: KnownSpec, where: readonly Condition[]): readonly Equal[] {
  return where.flatMap((condition): readonly Equal[] => {
    if ('any' in condition || condition.op !== 'eq') return []
    const field = known.byName.get(condition.field)
    return field === undefined ? [] : [[field.index, condition.value]]
  })
}

export class MaintainedCounts<Kept extends MaintainedCount> {
  readonly #counts = new Map<Kept, { count: number; readonly under: Equal | undefined }>()
  readonly #byField = new Map<number, Map<string | number, Set<Kept>>>()
  /** counts that every write checks */
  readonly #always = new Set<Kept>()

  get size(): number {
    return this.#counts.size
  }

  get(kept: Kept): number | undefined {
    return this.#counts.get(kept)?.count
  }

  /** Adds a count, unless that would make writes check too many counts. */
  add(kept: Kept, count: number): void {
    const sizes = kept.equals.map((equal) => this.#among(equal)?.size ?? 0)
    const under = kept.equals[sizes.indexOf(Math.min(...sizes))]
    const among = (under === undefined ? this.#always : this.#among(under)) ?? new Set()
    if (among.size >= MAX_TOGETHER) return
    among.add(kept)
    if (under !== undefined) this.#keepUnder(under, among)
    this.#counts.set(kept, { count, under })
  }

  delete(kept: Kept): void {
    const under = this.#counts.get(kept)?.under
    const among = under === undefined ? this.#always : this.#among(under)
    among?.delete(kept)
    if (under !== undefined && among?.size === 0) this.#byField.get(under[0])?.delete(under[1])
    this.#counts.delete(kept)
  }

  clear(): void {
    this.#counts.clear()
    this.#byField.clear()
    this.#always.clear()
  }

  update({ before, after }: Change): void {
    if (this.#counts.size === 0) return
    for (const kept of this.#touched([before, after])) {
      const entry = this.#counts.get(kept)
      if (entry === undefined) continue
      kept.changes += 1
      const had = before !== undefined && kept.holds(before)
      const has = after !== undefined && kept.holds(after)
      if (kept.changes > MAX_CHANGES) this.delete(kept)
      else if (had !== has) entry.count += has ? 1 : -1
    }
  }

  #touched(rows: readonly (SearchedRow | undefined)[]): ReadonlySet<Kept> {
    const touched = new Set(this.#always)
    for (const [field, byValue] of this.#byField) {
      for (const row of rows) {
        for (const value of valuesOf(row?.fields[field])) for (const kept of byValue.get(value) ?? []) touched.add(kept)
      }
    }
    return touched
  }

  #among([field, value]: Equal): Set<Kept> | undefined {
    return this.#byField.get(field)?.get(value)
  }

  #keepUnder([field, value]: Equal, among: Set<Kept>): void {
    const byValue = this.#byField.get(field) ?? new Map<string | number, Set<Kept>>()
    this.#byField.set(field, byValue.set(value, among))
  }
}

function valuesOf(value: FieldValue): readonly (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return Array.isArray(value) ? (value as readonly string[]) : []
}
