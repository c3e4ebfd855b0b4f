/** Handles jobs that consist of items; a crash loses at most one batch. */
import type { Json } from '#kernel'
import type { ItemOutcome, Job, JobContext, JobHandler, JobOutcome, Progress } from './contract.ts'
import { batchId, JOB_BATCHES } from './job-record.ts'

export interface ItemHandler<Item extends Json> extends Omit<JobHandler, 'run'> {
  /** number of concurrent items; 1 when their order matters */
  readonly slice: number | ((job: Job) => number)
  /** returns the key of an outcome; default: the item itself, which must then be a text */
  readonly keyOf?: (item: Item) => string
  /** `isRepeat`: the item may already be done. Throwing fails the attempt; the next one continues the batch. */
  item(item: Item, context: JobContext, isRepeat: boolean): Promise<ItemOutcome>
}

export function itemHandler<Item extends Json>(handler: ItemHandler<Item>): JobHandler {
  return { ...handler, run: (context) => run(handler, context) }
}

async function run<Item extends Json>(handler: ItemHandler<Item>, context: JobContext): Promise<JobOutcome> {
  const { job, store } = context
  const { batches = 0, batchSize = 1 } = job.items ?? {}
  let progress: Progress = job.progress ?? { done: 0, total: 0 }
  const first = Math.floor(progress.done / batchSize)
  const collection = store.collection(JOB_BATCHES)
  for (let number = first; number < batches; number++) {
    const id = batchId(job.id, number)
    const batch = await collection.get(id)
    if (batch === undefined) return { kind: 'failed', reason: `batch ${number} of its items is missing in the store` }
    // batches store the items of the added job, whose type is `Item`
    const items = batch.value.items as readonly Item[]
    const outcomes = await carryOut(handler, context, items, context.isRepeat && number === first)
    if (outcomes === undefined) return { kind: 'released' }
    const keys = handler.keyOf === undefined ? items : items.map(handler.keyOf)
    const writes = [collection.putting(id, { items: keys, outcomes }, batch.version)]
    progress = after(progress, outcomes)
    if (number === batches - 1) return { kind: 'completed', progress, writes }
    await context.progress(progress, writes)
  }
  return { kind: 'completed' }
}

async function carryOut<Item extends Json>(
  { slice, item }: ItemHandler<Item>,
  context: JobContext,
  items: readonly Item[],
  isRepeat: boolean,
): Promise<readonly ItemOutcome[] | undefined> {
  const size = typeof slice === 'number' ? slice : slice(context.job)
  const outcomes: ItemOutcome[] = []
  for (let from = 0; from < items.length; from += size) {
    if (context.signal.aborted) return undefined
    const some = items.slice(from, from + size)
    outcomes.push(...(await Promise.all(some.map((one) => item(one, context, isRepeat)))))
    await context.breathe()
  }
  return outcomes
}

function after({ done, total, ended = {} }: Progress, outcomes: readonly ItemOutcome[]): Progress {
  const counts: Record<string, number> = { ...ended }
  for (const { statusCode } of outcomes) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return { done: done + outcomes.length, total, ended: counts }
}
