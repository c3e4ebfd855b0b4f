/** Collections, logs and series for all media: checks the input, then lets the medium read or write. */
import { isPlainObject } from '#kernel'
import { checkCountField, type CheckedQuery, checkIds, checkQuery, checkWhere, isId } from './check-query.ts'
import {
  checkApplied,
  checkBuckets,
  type CheckedMessages,
  type CheckedNames,
  type CheckedRange,
  type CheckedRemoval,
  checkLatest,
  checkMessages,
  checkNames,
  checkNow,
  checkRange,
  checkRemoval,
  prepareBatch,
  type PreparedBatch,
} from './check-series.ts'
import { checkName, checkWhole } from './check-text.ts'
import type {
  Collection,
  CollectionSpec,
  Committed,
  Condition,
  Document,
  Expectation,
  ExpectedDocument,
  Log,
  LogBody,
  LogEntry,
  Stored,
  Write,
} from './contract.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from './limits.ts'
import { Problems } from './problems.ts'
import type { Bucket, BucketQuery, Sample, SampleColumns, Series, SeriesName, StoredMessage } from './series.ts'
import type { KnownField, KnownSpec } from './spec.ts'

export interface Access {
  /** Runs a call while the medium is open, otherwise rejects. Runs synchronously up to the call's first await. */
  run<R>(work: () => Promise<R>): Promise<R>
  commit(writes: readonly Write[]): Promise<Committed>
}

/** How a medium reads a collection; its input is already checked. */
export interface DocumentsMedium<D extends Document> {
  get(id: string): Promise<Stored<D> | undefined>
  getMany(ids: readonly string[]): Promise<readonly Stored<D>[]>
  find(query: CheckedQuery): Promise<readonly Stored<D>[]>
  ids(query: CheckedQuery): Promise<readonly string[]>
  count(where: readonly Condition[]): Promise<number>
  countBy(field: KnownField, where: readonly Condition[]): Promise<ReadonlyMap<string, number>>
}

export function checkedCollection<D extends Document>(
  spec: CollectionSpec<D>,
  known: KnownSpec,
  access: Access,
  medium: DocumentsMedium<D>,
): Collection<D> {
  const { run } = access
  const putting = (id: string, value: D, expect?: ExpectedDocument): Write => {
    return { kind: 'put', collection: spec, id, value, expect: expectationOf(expect) }
  }
  const deleting = (id: string, expect?: ExpectedDocument): Write => {
    return { kind: 'delete', collection: spec, id, expect: expectationOf(expect) }
  }
  return {
    spec,
    get: (id) => run(async () => (isId(id) ? medium.get(id) : undefined)),
    getMany: (ids) =>
      run(async () => {
        const possible = checkIds(ids)
        return possible.length === 0 ? [] : medium.getMany(possible)
      }),
    find: (query) => run(async () => medium.find(checkQuery(known, query))),
    ids: (query) => run(async () => medium.ids(checkQuery(known, query))),
    count: (where) => run(async () => medium.count(checkWhere(known, where))),
    countBy: (field, where) => run(async () => medium.countBy(checkCountField(known, field), checkWhere(known, where))),
    put: (id, value, expect) => resultOf(access, putting(id, value, expect)),
    delete: async (id, expect) => (await resultOf(access, deleting(id, expect))) === 1,
    putting,
    deleting,
    expecting: (id, version) => ({ kind: 'expect', collection: spec, id, expect: version }),
  }
}

/** Whether an expectation is a document as it was read. */
export function isStored(expect: ExpectedDocument | undefined): expect is Stored<Document> {
  return isPlainObject(expect)
}

function expectationOf(expect: ExpectedDocument = 'any'): Expectation {
  return isStored(expect) ? expect.version : expect
}

export interface LogMedium {
  read(after: number, limit: number): Promise<readonly LogEntry[]>
  bounds(): Promise<{ readonly first: number; readonly last: number }>
  trim(upTo: number): Promise<void>
}

export function checkedLog(name: string, access: Access, medium: LogMedium): Log {
  checkLogName(name)
  const { run } = access
  const appending = (bodies: readonly LogBody[]): Write => ({ kind: 'append', log: name, bodies })
  return {
    name,
    appending,
    append: (bodies) => resultOf(access, appending(bodies)),
    read: (after, limit) => run(async () => medium.read(after, checkLogQuestion(name, after, limit))),
    bounds: () => run(() => medium.bounds()),
    trim: (upTo) =>
      run(async () => {
        checkLogQuestion(name, upTo)
        await medium.trim(upTo)
      }),
  }
}

async function resultOf({ commit }: Access, write: Write): Promise<number> {
  const { results } = await commit([write])
  return results[0] ?? 0
}

/** How a medium stores series of one tenant. `now`: epoch ms, after which expired data counts as absent. */
export interface SeriesMedium {
  append(batch: PreparedBatch): Promise<void>
  applied(log: string): Promise<number>
  range(query: CheckedRange, now: number): Promise<readonly Sample[]>
  columns(query: CheckedRange, now: number): Promise<SampleColumns>
  buckets(query: BucketQuery, now: number): Promise<readonly Bucket[]>
  latest(resource: string, metric: string | undefined, now: number): Promise<readonly Sample[]>
  messages(query: CheckedMessages, now: number): Promise<readonly StoredMessage[]>
  names(query: CheckedNames): Promise<readonly SeriesName[]>
  remove(what: CheckedRemoval): Promise<void>
  expire(now: number): Promise<number>
}

export function checkedSeries({ run }: Pick<Access, 'run'>, clock: () => number, medium: SeriesMedium): Series {
  return {
    append: (batch) =>
      run(async () => {
        const prepared = prepareBatch(batch)
        const { samples, messages, applies } = prepared
        if (samples.length + messages.length > 0 || applies !== undefined) await medium.append(prepared)
      }),
    applied: (log) =>
      run(async () => {
        checkApplied(log)
        return medium.applied(log)
      }),
    range: (query) => run(async () => medium.range(checkRange(query), clock())),
    columns: (query) => run(async () => medium.columns(checkRange(query), clock())),
    buckets: (query) =>
      run(async () => {
        const checked = checkBuckets(query)
        return checked === undefined ? [] : medium.buckets(checked, clock())
      }),
    latest: (resource, metric) =>
      run(async () => {
        checkLatest(resource, metric)
        return medium.latest(resource, metric, clock())
      }),
    messages: (query) => run(async () => medium.messages(checkMessages(query), clock())),
    names: (query) => run(async () => medium.names(checkNames(query))),
    remove: (what) => run(async () => medium.remove(checkRemoval(what))),
    expire: (now) =>
      run(async () => {
        checkNow(now)
        return medium.expire(now)
      }),
  }
}

const POSITION = { min: 0, max: Number.MAX_SAFE_INTEGER }

/** Checks queries of a log. All checks throw `VALIDATION` or `TOO_LARGE`. */
function checkLogName(name: string): void {
  const problems = new Problems()
  checkName(name, '/name', 'a log', problems)
  problems.throwIfAny('The log')
}

/** `after`: the position to read after, or to trim up to. Returns the effective limit. */
function checkLogQuestion(log: string, after = 0, limit = DEFAULT_LIMIT): number {
  const problems = new Problems()
  checkWhole(after, '/position', POSITION, problems)
  checkWhole(limit, '/limit', { min: 1, max: MAX_LIMIT }, problems)
  problems.throwIfAny(`The question to the log ${log}`)
  return limit
}
