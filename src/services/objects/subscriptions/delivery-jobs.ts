/** Carries deliveries out: each attempt is noted, and after the last one the delivery ends with its error. */
import { AppError, messageOf } from '#kernel'
import type { JobContext, JobHandler, JobOutcome } from '#jobs'
import type { DeliveryRecord } from './delivery-record.ts'
import { DELIVERY_JOB, type DeliveryEnd, type Outbox } from './outbox.ts'
import { SUBSCRIPTIONS, type SubscriptionRecord } from './subscription-record.ts'

export interface DeliveryJobsOptions {
  /** asked when a job runs */
  readonly outbox: () => Outbox
  /** those that the host has by itself, by key */
  readonly system: ReadonlyMap<string, SubscriptionRecord>
  /** Rejects when the target did not take it. `id`: the same whenever it is tried again. */
  readonly deliver: (id: string, of: DeliveryOf, signal: AbortSignal) => Promise<void>
  readonly ended: (state: DeliveryEnd['state']) => void
  /** epoch ms */
  readonly now: () => number
}

export interface DeliveryOf {
  readonly subscription: SubscriptionRecord
  readonly change: DeliveryRecord['change']
}

/** How often a delivery is tried: with the pauses between them some four minutes. */
export const DELIVERY_ATTEMPTS = 10
/** The job itself is never given up: the delivery ends, and the job with it. */
const JOB_ATTEMPTS = 1_000_000
const CONCURRENCY = 32
/** ms for which a job is kept: what became of it stands in the delivery */
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

/** An answer of a target that is no success. */
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
  // it ended, and the host died before its job did
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
    // the host stops: that is no attempt
    if (signal.aborted) throw error
    const message = messageOf(error).slice(0, MAX_MESSAGE)
    const status = error instanceof Refused && { status: error.answered }
    const lastError = { time: options.now(), message, ...status }
    if (attempts >= DELIVERY_ATTEMPTS) return end({ state: 'failed', attempts, lastError })
    const failed = outbox.deliveries.putting(id, { ...stored.value, attempts, lastError }, stored.version)
    await context.progress({ done: 0, total: 1 }, [failed])
    throw error
  }
  return end({ state: 'delivered', attempts })
}
