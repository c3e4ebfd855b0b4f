/**
 * Partitions of a tenant ask each other: in this process where both are here, else over HTTP, signed with what only the
 * hosts know.
 *
 * PARTCALLS-1 a question is asked again only when it is known that nobody has begun to answer it; the call of a plug, which
 *   has the id of its effect, also when that is not known
 * PARTCALLS-2 no question is taken from whoever is no host of the cluster, nor with another body than it was signed for
 * PARTCALLS-3 nobody waits for the answer of a host that is gone
 * PARTCALLS-4 a partition that is given away waits for no other that no host has: several that are given away at once
 *   would wait for each other. Only calls of plugs do, whose outcomes are those of tasks
 */
import type { FastifyInstance } from 'fastify'
import { partitionName, type Place } from '#cluster'
import { AppError, type ErrorCode, ERRORS, type Issue, messageOf } from '#kernel'
import type { Timers } from '../timers.ts'
import type { Hops } from './hop.ts'
import { isPartitionQuestion, type PartitionQuestion } from './partition-questions.ts'
import { addQuestionRoute, askHost, isUnasked } from './question-route.ts'

const PATH = '/cluster/partitions'
/** ms for which a partition that no host has is waited for */
const WAIT_MS = 10_000
const PAUSE_MS = 50

/** What is open of a partition. */
interface OpenedPartition {
  answer(question: PartitionQuestion): Promise<unknown>
}

export interface PartitionCallsOptions {
  readonly place: (name: string) => Place
  /** Opened now when it is not yet. `FENCED` when it is not here. */
  readonly opened: (name: string) => Promise<OpenedPartition>
  readonly hops: Hops
  readonly timers: Timers
  /** ms until an answer must be there */
  readonly requestMs: number
}

type Answer =
  | { readonly value?: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly issues: readonly Issue[] } }
  /** nobody has begun with it */
  | { readonly isElsewhere: true }

export class PartitionCalls {
  readonly #options: PartitionCallsOptions
  /** by address of a host: what ends each question that is asked there */
  readonly #asked = new Map<string, Set<AbortController>>()
  /** partitions that are being told that something was handed to them; true: more was meanwhile */
  readonly #telling = new Map<string, boolean>()

  constructor(options: PartitionCallsOptions) {
    this.#options = options
  }

  /**
   * What it gives there. Rejects as it does there; `FENCED` when no host has the partition, or the one that has it is
   * gone. `ending`: whoever asks is given away.
   */
  async ask(tenant: string, number: number, question: PartitionQuestion, ending?: AbortSignal): Promise<unknown> {
    const { place, timers, requestMs } = this.#options
    const name = partitionName(tenant, number)
    const since = timers.elapsed()
    // made again under the same id, as after a restart
    const mayRepeat = question.of === 'plugs'
    const patience = mayRepeat ? Math.max(WAIT_MS, requestMs) : WAIT_MS
    for (;;) {
      const at = place(name)
      let answer: Answer = { isElsewhere: true }
      if (at.kind === 'here') answer = await this.#askHere(name, question)
      else if (at.kind === 'elsewhere') answer = await this.#askAt(at.url, name, at.term, question)
      const isOver = timers.elapsed() - since > patience || (ending?.aborted === true && !isCallOfPlug(question))
      if ('error' in answer) {
        const { code, message, issues } = answer.error
        if (isOver || !mayRepeat || code !== 'FENCED') throw new AppError(code, message, { issues })
      } else if (!('isElsewhere' in answer)) return answer.value
      else if (isOver) {
        throw new AppError(
          'FENCED',
          `partition ${number} of tenant ${tenant} is at no host at the moment; ask again in a second`,
        )
      }
      await new Promise<void>((resolve) => timers.after(PAUSE_MS, resolve))
    }
  }

  /** Something was handed to a partition. Never waits: who opens it looks by itself, and so it does now and then. */
  handed(tenant: string, number: number): void {
    const name = partitionName(tenant, number)
    if (this.#telling.has(name)) return void this.#telling.set(name, true)
    this.#telling.set(name, false)
    void this.ask(tenant, number, { of: 'relay' })
      .catch(() => undefined)
      .then(() => {
        const isMore = this.#telling.get(name) === true
        this.#telling.delete(name)
        if (isMore) this.handed(tenant, number)
      })
  }

  /** After each look: what waits for hosts that are gone has no answer. */
  looked(live: ReadonlySet<string>): void {
    for (const [url, asked] of this.#asked) if (!live.has(url)) for (const one of asked) one.abort()
  }

  /** Hosts ask here. */
  addTo(app: FastifyInstance): Promise<void> {
    return addQuestionRoute(app, PATH, this.#options.hops, (asked): Promise<Answer> => {
      if (typeof asked !== 'object' || asked === null || !('partition' in asked) || !('question' in asked)) {
        throw new AppError('VALIDATION', 'a question names its partition')
      }
      const { partition: name, question } = asked
      if (typeof name !== 'string' || !isPartitionQuestion(question))
        throw new AppError('VALIDATION', 'a question is of rules, broker, relay, plugs or a service')
      return this.#askHere(name, question)
    })
  }

  async #askHere(name: string, question: PartitionQuestion): Promise<Answer> {
    let opened: OpenedPartition
    try {
      if (this.#options.place(name).kind !== 'here') return { isElsewhere: true }
      opened = await this.#options.opened(name)
    } catch (error) {
      if (error instanceof AppError && error.code === 'FENCED') return { isElsewhere: true }
      return { error: told(error) }
    }
    try {
      return { value: await opened.answer(question) }
    } catch (error) {
      return { error: told(error) }
    }
  }

  async #askAt(url: string, name: string, term: number, question: PartitionQuestion): Promise<Answer> {
    const late = new AbortController()
    const callOff = this.#options.timers.after(this.#options.requestMs, () => late.abort())
    const asked = this.#asked.get(url) ?? new Set()
    this.#asked.set(url, asked.add(late))
    try {
      const { hops } = this.#options
      const answer = await askHost(PATH, { partition: name, question }, hops, { url, term, signal: late.signal })
      if (answer.ok) return (await answer.json()) as Answer
      throw new AppError('FENCED', `it answered ${answer.status}`)
    } catch (error) {
      if (isUnasked(error)) return { isElsewhere: true }
      const text = `the host that has it, ${url}, did not answer (${messageOf(error)}): it is not known whether it did what was asked`
      return { error: { code: 'FENCED', message: text, issues: [] } }
    } finally {
      callOff()
      asked.delete(late)
      if (asked.size === 0 && this.#asked.get(url) === asked) this.#asked.delete(url)
    }
  }
}

function isCallOfPlug(question: PartitionQuestion): boolean {
  return question.of === 'plugs' || (question.of === 'service' && question.method === 'call')
}

function told(error: unknown): Extract<Answer, { error: unknown }>['error'] {
  if (error instanceof AppError && Object.hasOwn(ERRORS, error.code)) {
    return { code: error.code, message: error.message, issues: error.issues }
  }
  return { code: 'INTERNAL', message: messageOf(error), issues: [] }
}
