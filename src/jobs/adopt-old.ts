/**
 * Operations that older versions stored, each service in collections of its own, become jobs: those that were not finished
 * go on, the others can still be asked for. A crash in between loses none, and two hosts may do it at once.
 */
import { AppError, type Json } from '#kernel'
import { type Collection, type CollectionSpec, portionsOfIds, type Store, type Stored, walk } from '#storage'
import type { ItemOutcome, Job, Progress } from './contract.ts'
import { batchId, JOB_BATCHES, JOBS, type JobBatch } from './job-record.ts'

/** Times are epoch ms. */
export interface OldHead {
  readonly id: string
  readonly user: string
  readonly queueTime: number
  readonly finishedTime?: number
  readonly parts: number
  /** parts that are done */
  readonly done: number
}

/** Its id is the operation's and its number. */
export interface OldPart {
  readonly ids: readonly string[]
  /** instead of ids, while they are not done */
  readonly bodies?: readonly Json[]
  readonly results?: readonly ItemOutcome[]
}

/** Where a service kept the heads of its operations. */
export function oldHeads<Head extends OldHead>(name: string): CollectionSpec<Head> {
  return {
    name,
    version: 1,
    fields: {
      state: { type: 'text', of: ({ finishedTime }) => (finishedTime === undefined ? 'open' : 'finished') },
      queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
      finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
    },
  }
}

export interface OldOperations<Document extends object> {
  readonly heads: CollectionSpec<Document>
  readonly parts: CollectionSpec<OldPart>
  /** of the jobs that they become */
  readonly type: string
  /** ids of one part */
  readonly batchSize: number
  readonly keepMs: number
  /** With what its handler needs. Undefined: it is something else, and stays. */
  headOf(stored: Document): (OldHead & { readonly data: object }) | undefined
}

const HEADS_AT_ONCE = 100
const PARTS_AT_ONCE = 20

/** Call it before jobs are carried out. */
export async function adoptOld<Document extends object>(store: Store, old: OldOperations<Document>): Promise<void> {
  const heads = store.collection(old.heads)
  for await (const stored of walk(heads, [], HEADS_AT_ONCE)) await adopt(store, old, stored)
  await removeParts(store.collection(old.parts), heads)
}

async function adopt<Document extends object>(
  store: Store,
  old: OldOperations<Document>,
  { version, value }: Stored<Document>,
): Promise<void> {
  const head = old.headOf(value)
  if (head === undefined) return
  const { id, user, queueTime, finishedTime, parts, data } = head
  const progress = await adoptParts(store, old.parts, head)
  const isDone = finishedTime !== undefined
  const job: Job = {
    id,
    type: old.type,
    state: isDone ? 'completed' : 'waiting',
    data,
    user,
    ancestors: [],
    childrenLeft: 0,
    priority: 0,
    order: queueTime * 1_000,
    queueTime,
    // one that is not finished may have been begun, by a host that died
    attemptsStarted: 1,
    attemptsMade: isDone ? 1 : 0,
    stalls: 0,
    progress,
    items: { batches: parts, batchSize: old.batchSize },
    ...(isDone && { finishedTime, removeTime: finishedTime + old.keepMs }),
  }
  await unlessConflict(
    store.commit([
      store.collection(JOBS).putting(id, job, 'absent'),
      store.collection(old.heads).deleting(id, version),
    ]),
  )
}

/** Copies what is not there yet: another host may carry it out already. */
async function adoptParts(
  store: Store,
  spec: CollectionSpec<OldPart>,
  { id, parts, done }: OldHead,
): Promise<Progress> {
  const [from, to] = [store.collection(spec), store.collection(JOB_BATCHES)]
  const progress = { done: 0, total: 0, ended: {} as Record<string, number> }
  for (let first = 0; first < parts; first += PARTS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, parts - first) }, (_, i) => first + i)
    const batches = new Map<string, JobBatch>()
    for (const number of numbers) {
      const part = (await from.get(batchId(id, number)))?.value
      if (part === undefined) continue
      const { ids, bodies, results } = part
      progress.total += ids.length
      if (number < done) progress.done += ids.length
      for (const { statusCode } of results ?? []) progress.ended[statusCode] = (progress.ended[statusCode] ?? 0) + 1
      batches.set(batchId(id, number), results ? { items: ids, outcomes: results } : { items: bodies ?? ids })
    }
    for (let isMissing = true; isMissing;) {
      const there = new Set((await to.getMany([...batches.keys()])).map((one) => one.id))
      const missing = [...batches].filter(([key]) => !there.has(key))
      isMissing = missing.length > 0
      await unlessConflict(store.commit(missing.map(([key, batch]) => to.putting(key, batch, 'absent'))))
    }
  }
  return progress
}

/** Those of operations that are jobs now. */
async function removeParts(parts: Collection<OldPart>, heads: Pick<Collection<object>, 'getMany'>): Promise<void> {
  for await (const ids of portionsOfIds(parts, [], HEADS_AT_ONCE)) {
    const owners = [...new Set(ids.map(ownerOf))]
    const there = new Set((await heads.getMany(owners)).map((one) => one.id))
    await Promise.all(ids.filter((id) => !there.has(ownerOf(id))).map((id) => parts.delete(id)))
  }
}

function ownerOf(part: string): string {
  return part.slice(0, part.lastIndexOf('/'))
}

async function unlessConflict(commit: Promise<unknown>): Promise<void> {
  try {
    await commit
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
  }
}
