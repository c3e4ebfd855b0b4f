/** A resource in words. */
import { NO_UNITS, type Units } from './units.ts'
import { countText, quantityText } from './numbers.ts'
import { lengthText } from './times.ts'

export interface ResourceFacts {
  readonly id: string
  readonly latest: readonly { readonly metric: string; readonly value: unknown; readonly time: number }[]
  readonly alarms: number
  readonly units?: Units
  readonly now: number
}

/** Returns how a resource is: its newest values, then its alarms. */
export function resourceAnswer({ id, latest, alarms, now, units = NO_UNITS }: ResourceFacts): string {
  const newest = Math.max(...latest.map(({ time }) => time))
  const numbers = latest.filter(({ value, time }) => typeof value === 'number' && time === newest).slice(0, 2)
  const values = numbers.map(({ metric, value }) => `${metric} ${quantityText(value, units.get(metric))}`).join(' and ')
  const and = alarms === 0 ? '' : `, and has ${countText(alarms, 'active alarm')}`
  if (latest.length === 0) return `${id} has sent nothing${and}`
  const age = now - newest
  if (age > 15 * 60_000) return `${id} has been silent for ${lengthText(age)}${and}`
  return `${id} sends ${values === '' ? 'readings' : values}${and}`
}

/** Returns the levels of a type name: each prefix of `plant/heating/boiler`. */
export function resourcesAnswer(total: number, silent: number, filter: string): string {
  if (total === 0) return filter === '' ? 'No resource is known yet' : 'No resource matches the filter'
  return silent === 0
    ? countText(total, 'resource')
    : `${countText(total, 'resource')}, ${silent} of those shown silent for 15 minutes`
}

interface InTree {
  readonly id: string
  readonly [attribute: string]: unknown
}

/** Returns resources with each below its parent, as far as the parent is among them, and their depths. */
export function treeOf<R extends InTree>(all: readonly R[]): readonly { readonly one: R; readonly depth: number }[] {
  const ids = new Set(all.map(({ id }) => id))
  const parts = new Map<unknown, R[]>()
  for (const one of all) {
    const { parentId } = one
    const parent = typeof parentId === 'string' && ids.has(parentId) ? parentId : undefined
    parts.set(parent, [...(parts.get(parent) ?? []), one])
  }
  const rows: { one: R; depth: number }[] = []
  const open = (parts.get(undefined) ?? []).map((one) => ({ one, depth: 0 })).toReversed()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { one, depth } = next
    rows.push(next)
    open.push(...(parts.get(one.id) ?? []).map((part) => ({ one: part, depth: depth + 1 })).toReversed())
  }
  return rows
}
