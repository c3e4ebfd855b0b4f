/** Checks and copies batches and queries of series. All checks throw `VALIDATION` or `TOO_LARGE`. */
import { isPlainObject, kindOf } from '#kernel'
import { checkName, checkText, checkWhole, isStorable } from './check-text.ts'
import {
  DEFAULT_LIMIT,
  DEFAULT_MESSAGES,
  DEFAULT_SAMPLES,
  MAX_BATCH,
  MAX_BUCKETS,
  MAX_JSON_BYTES,
  MAX_LIMIT,
  MAX_NAME_BYTES,
  MAX_RESOURCES,
  MAX_SAMPLE_BYTES,
  MAX_SAMPLES,
  MAX_TIME,
} from './limits.ts'
import { jsonText } from './prepare-writes.ts'
import { Problems } from './problems.ts'
import type {
  BucketQuery,
  NamesQuery,
  NewMessage,
  RangeQuery,
  Sample,
  Series,
  StoredMessage,
  TimeRange,
} from './series.ts'

type Batch = Parameters<Series['append']>[0]

export interface PreparedMessage extends Omit<StoredMessage, 'body'> {
  /** the body as JSON; the same text, resource, stream and time make the same message */
  readonly text: string
}

export interface PreparedBatch {
  readonly samples: readonly Sample[]
  readonly messages: readonly PreparedMessage[]
  readonly applies: Batch['applies']
  readonly synced: boolean
}

/** A range of times, both ends included. */
export interface Span {
  readonly from: number
  readonly until: number
}

export interface CheckedRange extends Span {
  /** the resources, without duplicates */
  readonly resources: readonly string[]
  readonly metric: string
  readonly descending: boolean
  readonly limit: number
}

export interface CheckedMessages extends Span {
  readonly resource: string
  readonly stream: string
  readonly descending: boolean
  readonly limit: number
}

export interface CheckedRemoval extends Span {
  readonly resource: string
  /** metrics to remove; undefined: all */
  readonly metrics: readonly string[] | undefined
  /** stream to remove from; undefined: all */
  readonly stream: string | undefined
  /** number of the newest messages of a stream that are kept */
  readonly keep: number
  readonly samples: boolean
  readonly messages: boolean
  readonly synced: boolean
}

export function prepareBatch(batch: Batch): PreparedBatch {
  const problems = new Problems()
  const { samples = [], messages = [], applies } = batch
  for (const [name, list] of [
    ['samples', samples],
    ['messages', messages],
  ] as const) {
    if (list.length > MAX_BATCH)
      problems.tooLarge(`/${name}`, `are ${list.length}`, `append at most ${MAX_BATCH} at once`)
  }
  problems.throwIfAny('The batch')
  const names = new Names()
  const prepared = {
    samples: samples.map((sample, i) => {
      return plainSample(sample, names) ?? prepareSample(sample, `/samples/${i}`, problems)
    }),
    messages: messages.map((message, i) => {
      return plainMessage(message, names) ?? prepareMessage(message, `/messages/${i}`, problems)
    }),
    applies: applies && { ...applies },
    synced: batch.synced === true,
  }
  if (applies !== undefined) {
    checkName(applies.log, '/applies/log', 'a log', problems)
    checkWhole(
      applies.position,
      '/applies/position',
      { min: applies.rewinds ? 0 : 1, max: Number.MAX_SAFE_INTEGER },
      problems,
    )
  }
  problems.throwIfAny('The batch')
  return prepared
}

/** Remembers the valid names of one batch, so that each name is checked only once. */
class Names {
  readonly #good = new Set<string>()

  isGood(name: string): boolean {
    if (this.#good.has(name)) return true
    if (!isStorable(name, MAX_NAME_BYTES)) return false
    this.#good.add(name)
    return true
  }
}

/** Fast path for a valid sample, as nearly all are; needs no path for errors. */
function plainSample({ resource, metric, time, value, expires }: Sample, names: Names): Sample | undefined {
  const isPlain = names.isGood(resource) && names.isGood(metric) && areTimes(time, expires) && isPlainValue(value)
  if (!isPlain) return undefined
  const kept = typeof value === 'number' ? value + 0 : value
  if (expires === undefined) return { resource, metric, time: time + 0, value: kept }
  return { resource, metric, time: time + 0, value: kept, expires }
}

/** Fast path for a valid message that has a text. */
function plainMessage(
  { resource, stream, time, text, expires }: NewMessage,
  names: Names,
): PreparedMessage | undefined {
  if (text === undefined || text.length * 3 > MAX_JSON_BYTES) return undefined
  if (!names.isGood(resource) || !names.isGood(stream) || !areTimes(time, expires)) return undefined
  return expires === undefined
    ? { resource, stream, time: time + 0, text }
    : { resource, stream, time: time + 0, text, expires }
}

function areTimes(time: number, expires: number | undefined): boolean {
  return isTime(time) && (expires === undefined || isTime(expires))
}

function isPlainValue(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'boolean' || value === '' || isStorable(value, MAX_SAMPLE_BYTES)
}

function prepareSample(sample: Sample, path: string, problems: Problems): Sample {
  const { resource, metric, time, value, expires } = sample
  checkLabel(resource, `${path}/resource`, 'the name of a resource', problems)
  checkLabel(metric, `${path}/metric`, 'the name of a metric', problems)
  checkTimes(time, expires, path, problems)
  if (typeof value === 'string') {
    checkText(value, `${path}/value`, 'a sample', { max: MAX_SAMPLE_BYTES, empty: true }, problems)
  } else if (typeof value !== 'boolean' && !Number.isFinite(value)) {
    problems.wrong(`${path}/value`, `is ${kindOf(value)}`, 'use a finite number, a text or a truth value')
  }
  return {
    resource,
    metric,
    time: time + 0,
    value: typeof value === 'number' ? value + 0 : value,
    ...(expires !== undefined && { expires }),
  }
}

function prepareMessage(message: StoredMessage, path: string, problems: Problems): PreparedMessage {
  const { resource, stream, time, body, expires } = message
  checkLabel(resource, `${path}/resource`, 'the name of a resource', problems)
  checkLabel(stream, `${path}/stream`, 'the name of a stream', problems)
  checkTimes(time, expires, path, problems)
  let text: string | undefined
  if (isPlainObject(body)) text = jsonText(body, `${path}/body`, problems)
  else problems.wrong(`${path}/body`, `is ${kindOf(body)}`, 'use a plain object')
  return { resource, stream, time: time + 0, text: text ?? '', ...(expires !== undefined && { expires }) }
}

export function checkRange(query: RangeQuery): CheckedRange {
  const problems = new Problems()
  const { descending = false, limit = DEFAULT_SAMPLES } = query
  const pool = checkPool(query, problems)
  const span = checkSpan(query, problems)
  checkWhole(limit, '/limit', { min: 1, max: MAX_SAMPLES }, problems)
  problems.throwIfAny('The question for a range of samples')
  return { ...pool, ...span, descending, limit }
}

/** Checks a query and removes duplicate resources. Returns undefined when the query cannot match any bucket. */
export function checkBuckets(query: BucketQuery): BucketQuery | undefined {
  const problems = new Problems()
  const { from, until, width } = query
  const pool = checkPool(query, problems)
  checkTime(from, '/from', problems)
  checkTime(until, '/until', problems)
  checkWhole(width, '/width', { min: 1, max: 2 * MAX_TIME }, problems)
  const buckets = Math.ceil((until - from) / width)
  if (buckets > MAX_BUCKETS)
    problems.tooLarge('/width', `results in ${buckets} buckets`, `request at most ${MAX_BUCKETS}`)
  problems.throwIfAny('The question for buckets')
  return from < until ? { ...pool, from, until, width } : undefined
}

export function checkLatest(resource: string, metric: string | undefined): void {
  const problems = new Problems()
  checkLabel(resource, '/resource', 'the name of a resource', problems)
  if (metric !== undefined) checkLabel(metric, '/metric', 'the name of a metric', problems)
  problems.throwIfAny('The question for the latest samples')
}

export function checkMessages(query: Parameters<Series['messages']>[0]): CheckedMessages {
  const problems = new Problems()
  const { resource, stream, descending = true, limit = DEFAULT_MESSAGES } = query
  checkLabel(resource, '/resource', 'the name of a resource', problems)
  checkLabel(stream, '/stream', 'the name of a stream', problems)
  const span = checkSpan(query, problems)
  checkWhole(limit, '/limit', { min: 1, max: MAX_LIMIT }, problems)
  problems.throwIfAny('The question for messages')
  return { resource, stream, ...span, descending, limit }
}

export function checkRemoval(what: Parameters<Series['remove']>[0]): CheckedRemoval {
  const problems = new Problems()
  const { resource, metrics, stream, keep, only } = what
  checkLabel(resource, '/resource', 'the name of a resource', problems)
  const span = checkSpan(what, problems)
  for (const [i, metric] of (metrics ?? []).entries())
    checkLabel(metric, `/metrics/${i}`, 'the name of a metric', problems)
  if (metrics !== undefined && only === 'messages') {
    problems.wrong('/metrics', 'messages have no metrics', 'omit metrics, or remove samples')
  }
  if (stream !== undefined) checkLabel(stream, '/stream', 'the name of a stream', problems)
  if (stream !== undefined && only !== 'messages') {
    problems.wrong('/stream', 'samples have no stream', 'omit stream, or remove only messages')
  }
  if (keep !== undefined) checkWhole(keep, '/keep', { min: 0, max: MAX_LIMIT }, problems)
  if (keep !== undefined && stream === undefined) {
    problems.wrong('/keep', 'is only supported for one stream', 'name the stream')
  }
  problems.throwIfAny('The removal')
  return {
    resource,
    metrics: metrics && [...new Set(metrics)],
    stream,
    keep: keep ?? 0,
    ...span,
    samples: only !== 'messages',
    messages: only !== 'samples',
    synced: what.synced === true,
  }
}

export interface CheckedNames {
  readonly of: 'samples' | 'messages'
  /** the pair after which the list begins; empty texts: none */
  readonly resource: string
  readonly name: string
  readonly limit: number
}

export function checkNames({ of, after, limit = DEFAULT_LIMIT }: NamesQuery): CheckedNames {
  const problems = new Problems()
  if (after !== undefined) {
    checkLabel(after.resource, '/after/resource', 'the name of a resource', problems)
    checkLabel(after.name, '/after/name', 'the name of a metric or stream', problems)
  }
  checkWhole(limit, '/limit', { min: 1, max: MAX_LIMIT }, problems)
  problems.throwIfAny('The question for names')
  return { of, resource: after?.resource ?? '', name: after?.name ?? '', limit }
}

export function checkApplied(log: string): void {
  const problems = new Problems()
  checkName(log, '/log', 'a log', problems)
  problems.throwIfAny('The question for progress')
}

export function checkNow(now: number): void {
  const problems = new Problems()
  checkTime(now, '/now', problems)
  problems.throwIfAny('The expiry')
}

function checkPool(
  query: { readonly resources: readonly string[]; readonly metric: string },
  problems: Problems,
): { readonly resources: readonly string[]; readonly metric: string } {
  const { resources, metric } = query
  checkLabel(metric, '/metric', 'the name of a metric', problems)
  if (resources.length === 0) problems.wrong('/resources', 'are none', 'name at least one resource')
  if (resources.length > MAX_RESOURCES) {
    problems.tooLarge('/resources', `are ${resources.length}`, `request at most ${MAX_RESOURCES} at once`)
  }
  for (const [i, name] of resources.slice(0, MAX_RESOURCES).entries()) {
    checkLabel(name, `/resources/${i}`, 'the name of a resource', problems)
  }
  return { resources: [...new Set(resources)], metric }
}

function checkSpan(range: TimeRange, problems: Problems): Span {
  const { from = -MAX_TIME, until = MAX_TIME } = range
  checkTime(from, '/from', problems)
  checkTime(until, '/until', problems)
  return { from, until }
}

function checkTimes(time: number, expires: number | undefined, path: string, problems: Problems): void {
  checkTime(time, `${path}/time`, problems)
  if (expires !== undefined) checkTime(expires, `${path}/expires`, problems)
}

function isTime(time: unknown): boolean {
  return typeof time === 'number' && Number.isInteger(time) && Math.abs(time) <= MAX_TIME
}

function checkTime(time: unknown, path: string, problems: Problems): void {
  if (isTime(time)) return
  const shown = typeof time === 'number' ? String(time) : kindOf(time)
  problems.wrong(path, `${shown} is not a valid time`, 'use whole ms since 1970')
}

function checkLabel(value: unknown, path: string, what: string, problems: Problems): void {
  checkText(value, path, what, { max: MAX_NAME_BYTES }, problems)
}
