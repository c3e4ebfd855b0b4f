/**
 * Works bulk operations off: in the order given, deletions one after the other, in parts of which each is stored when it is
 * done, one operation of a tenant at a time. After a crash the open part is done again; what was done already counts.
 */
import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../../../kernel/caller.ts'
import { AppError, messageOf } from '../../../kernel/errors.ts'
import { issuesText } from '../../../kernel/refusal.ts'
import type { Json } from '../../../kernel/json.ts'
import { Lanes } from '../../../kernel/lanes.ts'
import type { Storage, Store } from '../../../storage/contract.ts'
import type { ResourcesApi } from '../contract.ts'
import type { UpkeepLogger } from '../upkeep/surroundings.ts'
import {
  OPERATION_PARTS,
  OPERATIONS,
  partId,
  type ListOperation,
  type OperationEntry,
  type OperationPart,
} from './operation-record.ts'
import type { ReadOperation } from './read-operation.ts'

export interface WorkerParts {
  readonly storage: Pick<Storage, 'tenant' | 'tenants'>
  /** what the caller may do, as over HTTP */
  as(caller: Caller): Pick<ResourcesApi, 'resources' | 'types'>
  /** epoch ms */
  readonly now: () => number
  readonly logger?: UpkeepLogger | undefined
}

const PART = 100
const PARTS_AT_ONCE = 20
const KEPT_MS = 7 * 86_400_000
/** resources that are written at a time */
const SIDE_BY_SIDE = 20
/** things between two breaths of the loop */
const BREATH = 10
const DONE: OperationEntry = { statusCode: 204 }
const UNKNOWN: OperationEntry = { statusCode: 500, error: 'the result is not stored' }

export class OperationWorker {
  readonly #parts: WorkerParts
  readonly #lanes = new Lanes()
  #open = 0
  #isStopped = false

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  /** operations that are not finished */
  get open(): number {
    return this.#open
  }

  /** Goes on with what was under way. */
  async start(): Promise<void> {
    for (const tenant of await this.#parts.storage.tenants()) {
      const open = await this.#store(tenant)
        .collection(OPERATIONS)
        .find({ where: [{ field: 'state', op: 'eq', value: 'open-list' }], sort: [{ field: 'queueTime' }] })
      for (const { value } of open) if (value.kind === 'list') this.#enqueue(tenant, value, true)
    }
  }

  /** What is under way is done as far as the next thing, the rest is left for the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.idle()
  }

  /** Resolves when everything that was asked so far is done, or left for later. */
  idle(): Promise<void> {
    return this.#lanes.idle()
  }

  /** Stores it and begins it when its turn comes. */
  async queue(
    tenant: string,
    head: Omit<ListOperation, 'kind' | 'parts' | 'done'>,
    { ids, bodies }: ReadOperation,
  ): Promise<void> {
    if (this.#isStopped) throw new AppError('CLOSED', 'the host is shutting down; ask again when it is back')
    await this.#forgetOld(tenant)
    const store = this.#store(tenant)
    const parts = store.collection(OPERATION_PARTS)
    const count = Math.ceil(ids.length / PART)
    for (let from = 0; from < count; from += PARTS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, count - from) }, (_, i) => from + i)
      await store.commit(
        numbers.map((number) => {
          const [first, last] = [number * PART, (number + 1) * PART]
          const part = { ids: ids.slice(first, last), ...(bodies && { bodies: bodies.slice(first, last) }) }
          return parts.putting(partId(head.id, number), part)
        }),
      )
    }
    const record: ListOperation = { ...head, kind: 'list', parts: count, done: 0 }
    await store.collection(OPERATIONS).put(head.id, record, 'absent')
    this.#enqueue(tenant, record, false)
  }

  /** What became of each, in order. */
  async results(tenant: string, { id, parts }: ListOperation): Promise<readonly (readonly [string, OperationEntry])[]> {
    const stored = this.#store(tenant).collection(OPERATION_PARTS)
    const found: (readonly [string, OperationEntry])[] = []
    for (let number = 0; number < parts; number++) {
      const part = (await stored.get(partId(id, number)))?.value
      part?.ids.forEach((one, i) => found.push([one, part.results?.[i] ?? UNKNOWN]))
    }
    return found
  }

  #enqueue(tenant: string, record: ListOperation, isResumed: boolean): void {
    this.#open++
    const work = this.#lanes.run(tenant, () => this.#work(tenant, record, isResumed))
    work
      .catch((error: unknown) => {
        this.#parts.logger?.error(
          `bulk operation ${record.id} stopped: ${messageOf(error)}; it goes on at the next start`,
        )
      })
      .finally(() => this.#open--)
      .catch(() => undefined)
  }

  async #work(tenant: string, record: ListOperation, isResumed: boolean): Promise<void> {
    // the answer to the request comes first
    await setImmediate()
    const store = this.#store(tenant)
    const parts = store.collection(OPERATION_PARTS)
    for (let number = record.done; number < record.parts; number++) {
      const id = partId(record.id, number)
      const part = (await parts.get(id))?.value
      if (part === undefined) throw new AppError('INTERNAL', `part ${number} of a bulk operation is not stored`)
      const results = await this.#workOff(tenant, record, part, isResumed && number === record.done)
      if (results === undefined) return
      const done = number + 1
      const isOver = done === record.parts
      await store.commit([
        parts.putting(id, { ids: part.ids, results }),
        store
          .collection(OPERATIONS)
          .putting(record.id, { ...record, done, ...(isOver && { finishedTime: this.#parts.now() }) }),
      ])
    }
  }

  /** Undefined when the host stops before all are done. */
  async #workOff(
    tenant: string,
    record: ListOperation,
    { ids, bodies }: OperationPart,
    isAgain: boolean,
  ): Promise<readonly OperationEntry[] | undefined> {
    const api = this.#parts.as({ tenant, user: record.user })
    const results: OperationEntry[] = []
    // the order counts for deletions alone: children go before their parents
    const atOnce = record.what.action === 'patchOrInsert' ? SIDE_BY_SIDE : 1
    for (let from = 0; from < ids.length; from += atOnce) {
      if (this.#isStopped) return undefined
      const some = ids.slice(from, from + atOnce)
      const acts = some.map((id, i) => this.#act(api, record, id, bodies?.[from + i] ?? null, isAgain))
      results.push(...(await Promise.all(acts)))
      if (from % BREATH === 0) await setImmediate()
    }
    return results
  }

  async #act(
    api: Pick<ResourcesApi, 'resources' | 'types'>,
    record: ListOperation,
    id: string,
    body: Json,
    isAgain: boolean,
  ): Promise<OperationEntry> {
    const { what } = record
    try {
      if (what.action === 'patchOrInsert') await api.resources.patch(id, body)
      else if (what.entity === 'resourcetype') await api.types.remove(id)
      else await api.resources.remove(id, what.cascade === undefined ? {} : { cascade: what.cascade })
      return DONE
    } catch (error) {
      if (!(error instanceof AppError)) {
        this.#parts.logger?.error(`bulk operation ${record.id}, ${what.entity} ${id}: ${messageOf(error)}`)
        return { statusCode: 500, error: 'a mistake of the host; its log has it' }
      }
      if (error.code === 'CLOSED' || error.code === 'STORE') throw error
      if (isAgain && error.code === 'NOT_FOUND' && (await wasDeleted(api, record, id))) return DONE
      return { statusCode: error.status, error: textOf(error) }
    }
  }

  async #forgetOld(tenant: string): Promise<void> {
    const store = this.#store(tenant)
    const old = await store.collection(OPERATIONS).find({
      where: [{ field: 'finishedTime', op: 'lt', value: this.#parts.now() - KEPT_MS }],
      limit: 10,
    })
    for (const { id, value } of old) {
      const numbers = Array.from({ length: value.kind === 'list' ? value.parts : 0 }, (_, i) => i)
      const parts = store.collection(OPERATION_PARTS)
      await store.commit([
        ...numbers.map((number) => parts.deleting(partId(id, number))),
        store.collection(OPERATIONS).deleting(id),
      ])
    }
  }

  #store(tenant: string): Store {
    return this.#parts.storage.tenant(tenant)
  }
}

/** Whether this very operation deleted it before the crash: its history says so. */
async function wasDeleted(
  api: Pick<ResourcesApi, 'resources' | 'types'>,
  { what, user, queueTime }: ListOperation,
  id: string,
): Promise<boolean> {
  const changes = what.entity === 'resource' ? api.resources : api.types
  try {
    const [last] = (await changes.changes(id, { limit: 1 })).values
    return last?.change === 'deleted' && last.userId === user && Date.parse(last.time) >= queueTime
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

/** The text of a single request's answer. */
function textOf(error: AppError): string {
  return error.issues.length > 0 ? issuesText(error.issues) : error.message
}
