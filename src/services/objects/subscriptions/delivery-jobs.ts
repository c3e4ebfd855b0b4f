/** Jobs that execute deliveries. The attempts and the last error are stored with the delivery. */
import { AppError, isFinalStatus, messageOf } from '#kernel'
import type { JobContext, JobHandler, JobOutcome } from '#jobs'
import { DELIVERY_JOB, type DeliveryEnd, type DeliveryRecord, type Outbox } from './outbox.ts'
import { SUBSCRIPTIONS, type SubscriptionRecord } from './subscription-record.ts'

export interface DeliveryJobsOptions {
  readonly outbox: () => Outbox
  readonly system: ReadonlyMap<string, SubscriptionRecord>
  /** Resolves when the target accepts the delivery, otherwise rejects. `id`: the same for all attempts. */
  readonly deliver: (id: string, of: DeliveryOf, signal: AbortSignal) => Promise<void>
  readonly ended: (state: DeliveryEnd['state']) => void
  readonly now: () => number
}

export interface DeliveryOf {
  readonly subscription: SubscriptionRecord
  readonly change: DeliveryRecord['change']
}

/** one call and five retries; with the pauses in between about half a minute */
const DELIVERY_ATTEMPTS = 6
/** Practically unlimited, since the delivery counts its own attempts and ends the job. */
const JOB_ATTEMPTS = 1_000_000
const CONCURRENCY = 32
/** ms for which a finished job is kept; the delivery keeps the result */
const KEPT_MS = 60_000
const MAX_MESSAGE = 2_000

export function deliveryHandler(options: DeliveryJobsOptions): JobHandler {
  return {
    type: DELIVERY_JOB,
    attempts: JOB_ATTEMPTS,
    concurrency: CONCURRENCY,
    keepMs: KEPT_MS,
    run: (context) => run(options, context),
  }
}

export class Refused extends AppError {
  readonly answered: number

  constructor(answered: number, message: string) {
    super('FORWARDING', message)
    this.answered = answered
  }
}

async function run(options: DeliveryJobsOptions, context: JobContext): Promise<JobOutcome> {
  const { store, job, signal } = context
  const outbox = options.outbox()
  const { delivery: id } = job.data as { readonly delivery: string }
  const stored = await outbox.deliveries.get(id)
  // the delivery ended, and a crash followed
  if (stored === undefined || stored.value.state !== 'active') return { kind: 'completed' }
  const end = async (how: DeliveryEnd): Promise<JobOutcome> => {
    await outbox.end(stored, how, (writes) => context.progress({ done: 1, total: 1 }, writes))
    options.ended(how.state)
    return { kind: 'completed' }
  }
  const attempts = stored.value.attempts + 1
  try {
    const { subscription: key, change } = stored.value
    const subscription = options.system.get(key) ?? (await store.collection(SUBSCRIPTIONS).get(key))?.value
    if (subscription === undefined) {
      const lastError = { time: options.now(), message: 'its subscription was removed' }
      return await end({ state: 'failed', attempts: attempts - 1, lastError })
    }
    await options.deliver(id, { subscription, change }, signal)
  } catch (error) {
    // an attempt aborted by stopping does not count
    if (signal.aborted) throw error
    const message = messageOf(error).slice(0, MAX_MESSAGE)
    const status = error instanceof Refused && { status: error.answered }
    const lastError = { time: options.now(), message, ...status }
    const isFinal = error instanceof Refused && isFinalStatus(error.answered)
    if (isFinal || attempts >= DELIVERY_ATTEMPTS) return end({ state: 'failed', attempts, lastError })
    const failed = outbox.deliveries.putting(id, { ...stored.value, attempts, lastError }, stored.version)
    await context.progress({ done: 0, total: 1 }, [failed])
    throw error
  }
  return end({ state: 'delivered', attempts })
}
