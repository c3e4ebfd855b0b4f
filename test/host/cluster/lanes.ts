/** Messages that stream in at hosts of a cluster, each resource's one after the other, and what its task has seen of them. */
import { scheduler } from 'node:timers/promises'
import type { ClusterProcesses, MemberProcess } from './cluster-processes.ts'

export interface Lane {
  readonly tenant: string
  readonly resource: string
  readonly task: string
  /** messages that were acknowledged: all that were sent */
  sent: number
}

/** Sends a message until somebody acknowledges it, always under the same key. */
export async function post(hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>, lane: Lane): Promise<void> {
  const headers = {
    ...hosts.headersOf(lane.tenant),
    'content-type': 'application/json',
    'idempotency-key': `${lane.resource} ${lane.sent}`,
  }
  const body = JSON.stringify({ n: lane.sent })
  for (let attempt = lane.sent; ; attempt += 1) {
    const host = [...asked][attempt % asked.size]
    const answer = await fetch(`${host?.url ?? ''}/resources/${lane.resource}/events`, {
      method: 'POST',
      headers,
      body,
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      // it was killed
      .catch(() => ({ status: 503, text: '' }))
    if (answer.status < 300) return
    if (answer.status !== 503) throw new Error(`${lane.resource} was answered ${answer.status} ${answer.text}`)
    await scheduler.wait(20)
  }
}

/** How many messages its task has taken. */
export async function seen(hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>, lane: Lane): Promise<number> {
  for (let attempt = 0; ; attempt += 1) {
    const host = [...asked][attempt % asked.size]
    try {
      const { inspection } = hosts.clientOf(host?.url ?? '', lane.tenant).rules
      const { rawData } = await inspection.node(lane.task, 'seen')
      return (rawData as { count?: number } | undefined)?.count ?? 0
    } catch (error) {
      if (attempt > 500) throw error
      await scheduler.wait(20)
    }
  }
}

/** Messages of all lanes, which stream in at all that are asked. */
export class Senders {
  readonly #over = new AbortController()
  readonly #sending: Promise<unknown>
  #acknowledged = 0
  readonly #waiting = new Set<() => void>()

  constructor(hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>, lanes: readonly Lane[]) {
    this.#sending = Promise.all(
      lanes.map(async (lane) => {
        while (!this.#over.signal.aborted) {
          await post(hosts, asked, lane)
          lane.sent += 1
          this.#acknowledged += 1
          for (const look of this.#waiting) look()
        }
      }),
    )
    // told to whoever waits
    this.#sending.catch(() => undefined)
  }

  /** Resolves when so many more were acknowledged, or when nobody waits any more; rejects when a message was refused. */
  async more(count: number, enough?: AbortSignal): Promise<void> {
    const wanted = this.#acknowledged + count
    let look: () => void = () => undefined
    const acknowledged = new Promise<void>((resolve) => {
      look = () => void (this.#acknowledged >= wanted && resolve())
      this.#waiting.add(look)
      enough?.addEventListener('abort', () => resolve())
    })
    await Promise.race([acknowledged, this.#sending])
    this.#waiting.delete(look)
  }

  /** What was sent is acknowledged. */
  async end(): Promise<void> {
    this.#over.abort()
    await this.#sending
  }
}
