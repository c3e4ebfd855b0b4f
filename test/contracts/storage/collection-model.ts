/** A collection as simply as it can be said: a map, filters that read documents as they are, and a stable sort. */
import type { Condition, Expectation, Query, Stored } from '../../../src/storage/contract.ts'
import type { Thing } from './things.ts'

export class CollectionModel {
  readonly rows = new Map<string, { version: number; value: Thing }>()
  /** the highest version that an id ever had */
  readonly highest = new Map<string, number>()

  fits(id: string, expect: Expectation): boolean {
    if (expect === 'any') return true
    const version = this.rows.get(id)?.version
    return expect === 'absent' ? version === undefined : version === expect
  }

  /** `version`: what the medium gave; the model only asks that it is new, and the next one where nothing was deleted. */
  put(id: string, value: Thing, version: number): string | undefined {
    const before = this.rows.get(id)
    const highest = this.highest.get(id) ?? 0
    this.rows.set(id, { version, value })
    this.highest.set(id, version)
    if (version <= highest) return `version ${version} of ${id} came again`
    if ((before !== undefined || highest === 0) && version !== highest + 1) return `${id} skipped to version ${version}`
    return undefined
  }

  delete(id: string): boolean {
    return this.rows.delete(id)
  }

  find(query: Query): Stored<Thing>[] {
    const rows = [...this.rows].map(([id, row]) => ({ id, ...row })).filter((row) => all(row, query.where ?? []))
    const afterId = query.afterId ?? ''
    const walked = rows.filter((row) => compare(row.id, afterId) > 0)
    walked.sort((a, b) => {
      for (const { field, descending } of query.sort ?? []) {
        const [x, y] = [read(a, field), read(b, field)]
        if (x === undefined && y === undefined) continue
        if (x === undefined || y === undefined) return x === undefined ? 1 : -1
        const order = compare(x as string | number, y as string | number)
        if (order !== 0) return descending === true ? -order : order
      }
      return compare(a.id, b.id)
    })
    const offset = query.offset ?? 0
    return walked.slice(offset, offset + (query.limit ?? 1_000))
  }

  countBy(field: 'name' | 'status'): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { value } of this.rows.values()) {
      const text = value[field]
      if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    return counts
  }
}

type Row = Stored<Thing>

export function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

function read(row: Row, field: string): unknown {
  if (field === 'id') return row.id
  const value = row.value[field as keyof Thing]
  return Array.isArray(value) && value.length === 0 ? undefined : value
}

function all(row: Row, where: readonly Condition[]): boolean {
  return where.every((condition) => holds(row, condition))
}

function holds(row: Row, condition: Condition): boolean {
  if ('any' in condition) return condition.any.some((list) => all(row, list))
  const value = read(row, condition.field)
  if (condition.op === 'exists') return (value !== undefined) === condition.value
  if (condition.op === 'ne') return value !== condition.value
  if (value === undefined) return false
  const text = value as string
  switch (condition.op) {
    case 'eq':
      return Array.isArray(value) ? value.includes(condition.value) : value === condition.value
    case 'in':
      return Array.isArray(value)
        ? value.some((one) => condition.values.includes(one as string))
        : condition.values.includes(text)
    case 'gt':
      return compare(text, condition.value) > 0
    case 'gte':
      return compare(text, condition.value) >= 0
    case 'lt':
      return compare(text, condition.value) < 0
    case 'lte':
      return compare(text, condition.value) <= 0
    case 'contains':
      return text.toLowerCase().includes(condition.value.toLowerCase())
    case 'startsWith':
      return text.startsWith(condition.value)
    case 'like':
      return new RegExp(`^${condition.pattern.split('*').map(escaped).join('[^]*')}$`, 'u').test(text)
    case 'box': {
      const { lat, lng } = value as { lat: number; lng: number }
      const { south, west, north, east } = condition
      return lat >= south && lat <= north && (west <= east ? lng >= west && lng <= east : lng >= west || lng <= east)
    }
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
}
