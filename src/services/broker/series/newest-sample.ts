/**
 * The newest sample of a metric, where the newest by its own time is ahead of the clock: a reading is no newer than when it
 * came, so that one wrong clock does not hide what comes after it. The messages that are kept say when each of them came.
 */
import { ownValue } from '#kernel'
import { SampleReader } from '#services/shared'
import type { Sample, Series, StoredMessage } from '#storage'
import { isSample } from '../posting/log-entry.ts'
import { messageOf } from '../recent-messages.ts'

/** messages of a resource that are looked through */
const MAX_LOOKED = 100

export async function newestSamples(
  series: Series,
  resource: string,
  newest: readonly Sample[],
  now: number,
): Promise<readonly Sample[]> {
  if (newest.every(({ time }) => time <= now)) return newest
  const messages = await series.messages({ resource, stream: 'events', limit: MAX_LOOKED })
  return Promise.all(
    newest.map(async (sample) => (sample.time <= now ? sample : await counted(series, sample, messages, now))),
  )
}

async function counted(
  series: Series,
  sample: Sample,
  messages: readonly StoredMessage[],
  now: number,
): Promise<Sample> {
  const { resource, metric } = sample
  const span = { resources: [resource], metric, from: undefined, until: now }
  const [past] = await new SampleReader(series).first(span, true, 1)
  const message = messages.find(({ body }) => isSample(ownValue(body, metric)))
  const value = ownValue(message?.body, metric)
  if (message === undefined || !isSample(value) || (past !== undefined && past.time > message.time))
    return past ?? sample
  return { resource, metric, time: messageOf(message).timestamp, value }
}
