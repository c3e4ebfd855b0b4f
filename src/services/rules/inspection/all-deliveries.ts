/** Lists the deliveries of all tasks of a tenant, newest first, in pages. */
import { makeIssue, refuse } from '#kernel'
import type { DeliveryPlace, KeyedDelivery } from '../runner.ts'
import type { TenantRules } from '../tenant-rules.ts'
import type { AllDeliveries, DeliveryQuery } from './inspection-schema.ts'

export async function allDeliveries({ options }: TenantRules, query: DeliveryQuery): Promise<AllDeliveries> {
  const { nodes } = options.runner
  const { status, limit } = query
  const after = query.after === undefined ? undefined : placeOf(query.after)
  // stored ones last, so that a delivery that is stored in between is read twice rather than never
  const unstored = await nodes.unstoredDeliveries()
  const stored = await nodes.storedDeliveries({ limit: limit + 1, ...(status && { status }) }, after)
  const known = new Set(stored.map(({ id }) => id))
  const waiting = unstored
    .filter((one) => !known.has(one.id) && (status === undefined || one.status === status))
    .filter((one) => after === undefined || isAfter(one, after))
  const all = [...waiting, ...stored].toSorted((a, b) => (isAfter(a, { time: b.createTime, key: b.key }) ? 1 : -1))
  const values = all.slice(0, limit)
  const last = values.at(-1)
  return {
    values: values.map(({ key: _key, ...delivery }) => delivery),
    ...(last !== undefined && all.length > limit && { next: `${last.createTime}~${last.key}` }),
  }
}

function isAfter({ createTime, key }: KeyedDelivery, place: DeliveryPlace): boolean {
  return createTime < place.time || (createTime === place.time && key > place.key)
}

function placeOf(text: string): DeliveryPlace {
  const [, time, key] = /^(\d{1,15}(?:\.\d+)?)~(.+)$/.exec(text) ?? []
  if (time === undefined || key === undefined) {
    const message = `${JSON.stringify(text)} is not a place in this list`
    throw refuse('the query', [makeIssue('QUERY', '/after', message, 'use the `next` of a page')])
  }
  return { time: Number(time), key }
}
