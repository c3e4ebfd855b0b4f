/**
 * Calls other partitions of a tenant: in process if both are on this host, otherwise over HTTP, signed with the
 * cluster's secret.
 *
 * PARTCALLS-1 a question is repeated only when it is known to be unprocessed; the call of a plug, which carries the id
 *   of its effect, also when that is unknown
 * PARTCALLS-2 a question is rejected unless a host of the cluster signed it with its body
 * PARTCALLS-3 questions to a host that is gone fail at once
 * PARTCALLS-4 a partition being handed over does not wait for a partition without an owner, since several partitions
 *   handed over together would wait for each other. Only calls of plugs wait, because tasks need their outcomes
 */
import type { FastifyInstance } from 'fastify'
import { partitionName, type TenantLocation } from '#cluster'
import { AppError, type ErrorCode, ERRORS, type Issue, messageOf } from '#kernel'
import type { Timers } from '../timers.ts'
import type { Hops } from './hop.ts'
import { isPartitionQuestion, type PartitionQuestion } from './partition-questions.ts'
import { addQuestionRoute, askHost, isUnasked } from './question-route.ts'

const PATH = '/cluster/partitions'
/** How long a question waits for the partition to have an owner, in ms */
const WAIT_MS = 10_000
const PAUSE_MS = 50

interface OpenedPartition {
  answer(question: PartitionQuestion): Promise<unknown>
}

export interface PartitionCallsOptions {
  readonly place: (name: string) => TenantLocation
  readonly opened: (name: string) => Promise<OpenedPartition>
  readonly hops: Hops
  readonly timers: Timers
  /** Deadline of an answer in ms */
  readonly requestMs: number
}

type Answer =
  | { readonly value?: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly issues: readonly Issue[] } }
  | { readonly isElsewhere: true }

export class PartitionCalls {
  readonly #options: PartitionCallsOptions
  readonly #asked = new Map<string, Set<AbortController>>()
  /** Partitions being notified of a handover; true: another handover followed meanwhile */
  readonly #telling = new Map<string, boolean>()

  constructor(options: PartitionCallsOptions) {
    this.#options = options
  }

  /** Rejects with `FENCED` when the partition has no owner or its owner is gone. */
  async ask(tenant: string, number: number, question: PartitionQuestion, ending?: AbortSignal): Promise<unknown> {
    const { place, timers, requestMs } = this.#options
    const name = partitionName(tenant, number)
    const since = timers.elapsed()
    // calls of plugs are repeated under the same id, as after a restart
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
          `partition ${number} of tenant ${tenant} is without a host at the moment; retry in a second`,
        )
      }
      await new Promise<void>((resolve) => timers.after(PAUSE_MS, resolve))
    }
  }

  /** Notifies a partition of a handover without waiting. */
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

  looked(live: ReadonlySet<string>): void {
    for (const [url, asked] of this.#asked) if (!live.has(url)) for (const one of asked) one.abort()
  }

  addTo(app: FastifyInstance): Promise<void> {
    return addQuestionRoute(app, PATH, this.#options.hops, (asked): Promise<Answer> => {
      if (typeof asked !== 'object' || asked === null || !('partition' in asked) || !('question' in asked)) {
        throw new AppError('VALIDATION', 'the question lacks its partition')
      }
      const { partition: name, question } = asked
      if (typeof name !== 'string' || !isPartitionQuestion(question))
        throw new AppError('VALIDATION', 'the question must be of rules, broker, relay, plugs or a service')
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
      return { error: wireError(error) }
    }
    try {
      return { value: await opened.answer(question) }
    } catch (error) {
      return { error: wireError(error) }
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
      throw new AppError('FENCED', `HTTP status ${answer.status}`)
    } catch (error) {
      if (isUnasked(error)) return { isElsewhere: true }
      const text = `its host, ${url}, did not respond (${messageOf(error)}): the outcome is unknown`
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

function wireError(error: unknown): Extract<Answer, { error: unknown }>['error'] {
  if (error instanceof AppError && Object.hasOwn(ERRORS, error.code)) {
    return { code: error.code, message: error.message, issues: error.issues }
  }
  return { code: 'INTERNAL', message: messageOf(error), issues: [] }
}
