/** Keeps the samples, messages and applied log positions of one tenant. Its input is already checked. */
import { parseWritten } from '#kernel'
import type {
  CheckedMessages,
  CheckedNames,
  CheckedRange,
  CheckedRemoval,
  PreparedBatch,
  PreparedMessage,
} from '../check-series.ts'
import { compareText } from '../order.ts'
import type { Bucket, BucketQuery, Sample, SeriesName, StoredMessage } from '../series.ts'

export class SeriesData {
  /** by resource and then by metric, each list in order of time */
  readonly #samples = new Map<string, Map<string, Sample[]>>()
  /** by resource and then by stream, each list in order of time and arrival */
  readonly #messages = new Map<string, Map<string, PreparedMessage[]>>()
  readonly #applied = new Map<string, number>()

  append({ samples, messages, applies }: PreparedBatch): void {
    if (applies !== undefined) {
      if (applies.rewinds !== true && applies.position <= this.applied(applies.log)) return
      this.#applied.set(applies.log, applies.position)
    }
    for (const sample of samples) addSample(listAt(this.#samples, sample.resource, sample.metric), sample)
    for (const message of messages) addMessage(listAt(this.#messages, message.resource, message.stream), message)
  }

  applied(log: string): number {
    return this.#applied.get(log) ?? 0
  }

  range(query: CheckedRange, now: number): readonly Sample[] {
    const { resources, metric, descending, limit } = query
    const found = resources.flatMap((resource) => {
      const seen = within(this.#samples.get(resource)?.get(metric) ?? [], query).filter((sample) => isSeen(sample, now))
      // the first `limit` of all resources contain at most `limit` samples of each resource
      return descending ? seen.slice(-limit) : seen.slice(0, limit)
    })
    if (resources.length > 1) found.sort((a, b) => a.time - b.time || compareText(a.resource, b.resource))
    if (descending) found.reverse()
    return found.slice(0, limit).map((sample) => ({ ...sample }))
  }

  buckets(query: BucketQuery, now: number): readonly Bucket[] {
    const { resources, metric, from, until, width } = query
    const samples = this.range({ resources, metric, from, until: until - 1, descending: false, limit: Infinity }, now)
    return bucketsOf(samples, from, width)
  }

  latest(resource: string, metric: string | undefined, now: number): readonly Sample[] {
    const newest: Sample[] = []
    for (const [name, samples] of this.#samples.get(resource) ?? []) {
      if (metric !== undefined && name !== metric) continue
      const last = samples.findLast((sample) => isSeen(sample, now))
      if (last !== undefined) newest.push({ ...last })
    }
    return newest.sort((a, b) => compareText(a.metric, b.metric))
  }

  messages(query: CheckedMessages, now: number): readonly StoredMessage[] {
    const { resource, stream, descending, limit } = query
    const seen = within(this.#messages.get(resource)?.get(stream) ?? [], query).filter((one) => isSeen(one, now))
    const page = descending ? seen.reverse() : seen
    return page.slice(0, limit).map(({ text, ...message }) => ({
      ...message,
      body: parseWritten(text) as StoredMessage['body'],
    }))
  }

  names({ of, resource, name, limit }: CheckedNames): readonly SeriesName[] {
    const lists: ReadonlyMap<string, ReadonlyMap<string, unknown>> = of === 'samples' ? this.#samples : this.#messages
    const all = [...lists].flatMap(([owner, inner]) => [...inner.keys()].map((one) => ({ resource: owner, name: one })))
    return all
      .filter((one) => compareNames(one, { resource, name }) > 0)
      .sort(compareNames)
      .slice(0, limit)
  }

  remove({ resource, metrics, stream, keep: most, samples, messages, ...span }: CheckedRemoval): void {
    if (samples) {
      const meant = metrics && new Set(metrics)
      keep(this.#samples, resource, (one, metric) => !isWithin(one, span) || meant?.has(metric) === false)
    }
    if (!messages) return
    const newest = new Set(
      most === 0
        ? []
        : this.#messages
            .get(resource)
            ?.get(stream ?? '')
            ?.slice(-most),
    )
    const stays = (one: PreparedMessage, of: string) => (stream !== undefined && of !== stream) || newest.has(one)
    keep(this.#messages, resource, (one, of) => stays(one, of) || !isWithin(one, span))
  }

  expire(now: number): number {
    let gone = 0
    const stays = (one: { readonly expires?: number }) => {
      const seen = isSeen(one, now)
      if (!seen) gone += 1
      return seen
    }
    for (const resource of this.#samples.keys()) keep(this.#samples, resource, stays)
    for (const resource of this.#messages.keys()) keep(this.#messages, resource, stays)
    return gone
  }
}

function compareNames(a: SeriesName, b: SeriesName): number {
  return compareText(a.resource, b.resource) || compareText(a.name, b.name)
}

function addSample(samples: Sample[], sample: Sample): void {
  const at = firstAt(samples, sample.time)
  samples.splice(at, samples[at]?.time === sample.time ? 1 : 0, sample)
}

function addMessage(messages: PreparedMessage[], message: PreparedMessage): void {
  let at = firstAt(messages, message.time)
  for (; messages[at]?.time === message.time; at += 1) {
    if (messages[at]?.text === message.text) return
  }
  messages.splice(at, 0, message)
}

function isWithin(one: { readonly time: number }, span: { readonly from: number; readonly until: number }): boolean {
  return one.time >= span.from && one.time <= span.until
}

function listAt<T>(lists: Map<string, Map<string, T[]>>, resource: string, name: string): T[] {
  let inner = lists.get(resource)
  if (inner === undefined) {
    inner = new Map()
    lists.set(resource, inner)
  }
  let list = inner.get(name)
  if (list === undefined) {
    list = []
    inner.set(name, list)
  }
  return list
}

/** Keeps those entries of a resource for which `stays` returns true, and drops lists that become empty. */
function keep<T>(
  lists: Map<string, Map<string, T[]>>,
  resource: string,
  stays: (one: T, name: string) => boolean,
): void {
  const inner = lists.get(resource)
  if (inner === undefined) return
  for (const [name, list] of inner) {
    const kept = list.filter((one) => stays(one, name))
    if (kept.length === 0) inner.delete(name)
    else if (kept.length < list.length) inner.set(name, kept)
  }
  if (inner.size === 0) lists.delete(resource)
}

/** No sample may be before `from`. */
function bucketsOf(samples: readonly Sample[], from: number, width: number): readonly Bucket[] {
  const buckets: Bucket[] = []
  let start = 0
  while (start < samples.length) {
    const first = samples[start] as Sample // start is below the length
    const since = first.time - from
    // the remainder is exact, whereas a quotient might round up into the next bucket
    const begin = from + since - (since % width)
    let end = start + 1
    while (end < samples.length && (samples[end] as Sample).time < begin + width) end += 1 // end is below length
    buckets.push(bucketOf(begin, samples.slice(start, end)))
    start = end
  }
  return buckets
}

function bucketOf(start: number, samples: readonly Sample[]): Bucket {
  const numbers = samples.map((sample) => sample.value).filter((value) => typeof value === 'number')
  const some = numbers.length > 0
  let [sum, sumOfSquares, min, max] = [0, 0, Infinity, -Infinity]
  for (const value of numbers) {
    sum += value
    sumOfSquares += value * value
    if (value < min) min = value
    if (value > max) max = value
  }
  return {
    start,
    count: samples.length,
    numeric: numbers.length,
    sum: some ? sum : null,
    min: some ? min : null,
    max: some ? max : null,
    sumOfSquares: some ? sumOfSquares : null,
    first: (samples[0] as Sample).value, // a bucket has at least one sample
    last: (samples.at(-1) as Sample).value, // a bucket has at least one sample
  }
}

interface Timed {
  readonly time: number
}

/** Returns the index of the first entry that is not before a time. */
function firstAt(list: readonly Timed[], time: number): number {
  // most entries arrive in order
  const last = list.at(-1)
  if (last === undefined || last.time < time) return list.length
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] as Timed).time < time)
      low = middle + 1 // middle is below length
    else high = middle
  }
  return low
}

/** Copies the entries of a range, both ends included. */
function within<T extends Timed>(list: readonly T[], span: { readonly from: number; readonly until: number }): T[] {
  return list.slice(firstAt(list, span.from), firstAt(list, span.until + 1))
}

function isSeen(one: { readonly expires?: number }, now: number): boolean {
  return one.expires === undefined || one.expires > now
}
