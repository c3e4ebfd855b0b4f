/** Answers reads of stored data as of the time of a rehearsed input, so that later data is invisible. */
import type { DataPort } from '#core'
import type { PlainObject } from '#core/spi'
import { isoInstant } from '#kernel'

/** number of messages that a host keeps of a resource */
const KEPT_MESSAGES = 100

export function pastData(data: DataPort): DataPort {
  return {
    ...data,
    latest: async (resource, now = Infinity) => {
      const newest = await data.latest(resource, now)
      const past = await Promise.all(
        newest.map(async (sample) => {
          if (sample.time <= now) return [sample]
          const { metric } = sample
          const query = { metric, resources: [resource], until: now, order: 'descending', limit: 1 }
          const { series } = await data.series(query, now)
          const rows = (Array.isArray(series) ? series : []) as readonly (readonly [time: number, value: unknown])[]
          return rows.map(([time, value]) => ({ metric, time, value }))
        }),
      )
      return past.flat()
    },
    series: (query, now = Infinity) => data.series({ ...query, until: earlier(query['until'], now) }, now),
    messages: async (resource, limit, now = Infinity) => {
      const kept = await data.messages(resource, KEPT_MESSAGES, now)
      return kept.filter((message) => timeOf(message) <= now).slice(0, limit)
    },
  }
}

function earlier(until: unknown, now: number): unknown {
  const time = typeof until === 'string' ? isoInstant(until) : until
  return typeof time === 'number' && time <= now ? until : now
}

function timeOf({ timestamp }: PlainObject): number {
  return typeof timestamp === 'string' ? isoInstant(timestamp) : Number(timestamp)
}
