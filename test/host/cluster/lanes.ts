/**
 * Sends messages to hosts of a cluster, for each resource one after another, and checks what the resource's task has
 * received.
 */
import { scheduler } from 'node:timers/promises'
import type { ClusterProcesses, MemberProcess } from './cluster-processes.ts'

export interface Lane {
  readonly tenant: string
  readonly resource: string
  readonly task: string
  /** Number of acknowledged messages; all sent messages are acknowledged */
  sent: number
}

/** Sends a message, always with the same key, until a host acknowledges it. */
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
      // the host was killed
      .catch(() => ({ status: 503, text: '' }))
    if (answer.status < 300) return
    if (answer.status !== 503) throw new Error(`${lane.resource} was answered ${answer.status} ${answer.text}`)
    await scheduler.wait(20)
  }
}

/** Returns how many messages the lane's task has processed. */
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

/** Sends messages of all lanes to all available hosts. */
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
    // `more` and `end` report the error
    this.#sending.catch(() => undefined)
  }

  /**
   * Resolves when `count` more messages were acknowledged, or when `enough` aborts; rejects when a message was
   * rejected.
   */
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

  /** Stops sending, and waits until all sent messages are acknowledged. */
  async end(): Promise<void> {
    this.#over.abort()
    await this.#sending
  }
}
