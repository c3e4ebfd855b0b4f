/** Keeps small documents of a tenant by name, with revisions. */
import {
  AppError,
  type ExpectedVersion,
  isTooLongForId,
  KeyedMutex,
  makeIssue,
  MAX_ID_BYTES,
  refuse,
  requireVersion,
  retryOnConflict,
  type RevisionOptions,
} from '#kernel'
import type { Collection, CollectionSpec, Store, Stored, Write } from '#storage'
import type { DocumentHead } from './document-head.ts'
import { isAddressable, NOT_ADDRESSABLE } from '../http/addressable.ts'

export interface NamedRecord<D extends object> {
  readonly document: D
  readonly user: string
  /** epoch ms */
  readonly createTime: number
  readonly updateTime: number
}

/** What the API of a service offers for one kind of document. */
export interface DocumentsApi<D extends object> {
  list(): Promise<readonly D[]>
  get(name: string): Promise<D>
  /** Creates or replaces a document. `created`: true when it is new. Throws `TOO_LARGE` when the tenant has too many. */
  put(
    name: string,
    body: unknown,
    options?: RevisionOptions,
  ): Promise<{ readonly document: D; readonly created: boolean }>
  remove(name: string, options?: RevisionOptions): Promise<void>
}

export interface NamedDocumentsOptions<D extends object> {
  readonly store: Store
  readonly spec: CollectionSpec<NamedRecord<D>>
  /** noun in messages, such as `calendar` */
  readonly one: string
  readonly most: number
  /** epoch ms */
  readonly now: () => number
  /** Returns further writes of a change, which are committed with it. `document`: undefined for a removal */
  readonly with?: (name: string, document: D | undefined, time: number) => Promise<readonly Write[]>
}

export class NamedDocuments<D extends object> {
  readonly #options: NamedDocumentsOptions<D>
  readonly #records: Collection<NamedRecord<D>>
  readonly #turns = new KeyedMutex()

  constructor(options: NamedDocumentsOptions<D>) {
    this.#options = options
    this.#records = options.store.collection(options.spec)
  }

  find(name: string): Promise<Stored<NamedRecord<D>> | undefined> {
    return isTooLongForId(name) || name === '' ? Promise.resolve(undefined) : this.#records.get(name)
  }

  /** Throws `NOT_FOUND`. */
  async get(name: string): Promise<Stored<NamedRecord<D>>> {
    const found = await this.find(name)
    if (found === undefined) throw new AppError('NOT_FOUND', `No ${this.#options.one} '${name.slice(0, 200)}'`)
    return found
  }

  all(): Promise<readonly Stored<NamedRecord<D>>[]> {
    return this.#records.find({ limit: this.#options.most })
  }

  put(
    name: string,
    document: D,
    { user, ifRevision }: { readonly user: string; readonly ifRevision?: ExpectedVersion | undefined },
  ): Promise<{ readonly stored: Stored<NamedRecord<D>>; readonly created: boolean }> {
    const { one, most, now, store } = this.#options
    requireName(one, name)
    const write = async () => {
      const former = await this.#records.get(name)
      requireVersion(`The ${one} ${name}`, former?.version, ifRevision)
      if (former === undefined && (await this.#records.count()) >= most)
        throw new AppError('TOO_LARGE', `the tenant has the maximum of ${most} ${one}s; remove one first`)
      const time = now()
      const value = { document, user, createTime: former?.value.createTime ?? time, updateTime: time }
      const writes = [
        this.#records.putting(name, value, former ?? 'absent'),
        ...((await this.#options.with?.(name, document, time)) ?? []),
      ]
      const { results } = await store.commit(writes)
      return { stored: { id: name, version: results[0] ?? 1, value }, created: former === undefined }
    }
    return this.#turns.run(name, () => retryOnConflict(write))
  }

  remove(name: string, { ifRevision }: RevisionOptions = {}): Promise<void> {
    return this.#turns.run(name, async () => {
      const { version } = await this.get(name)
      requireVersion(`The ${this.#options.one} ${name}`, version, ifRevision)
      const more = (await this.#options.with?.(name, undefined, this.#options.now())) ?? []
      await this.#options.store.commit([this.#records.deleting(name, version), ...more])
    })
  }
}

export function headOf<D extends object>({ id, version, value }: Stored<NamedRecord<D>>): DocumentHead {
  const [createTime, lastUpdateTime] = [value.createTime, value.updateTime].map((time) => new Date(time).toISOString())
  return {
    name: id,
    revision: version,
    user: value.user,
    createTime: createTime ?? '',
    lastUpdateTime: lastUpdateTime ?? '',
  }
}

const MAX_NAME = 200

/** Throws `VALIDATION` for a name that is empty, too long, or cannot be part of a path. */
export function requireName(one: string, name: string): void {
  const isLong = name.length > MAX_NAME || isTooLongForId(name)
  const message =
    name === '' || /[\p{Cc}\p{Surrogate}]/u.test(name)
      ? 'must be a text without controls'
      : isLong
        ? `is longer than ${MAX_NAME} characters or ${MAX_ID_BYTES} bytes`
        : isAddressable(name)
          ? undefined
          : NOT_ADDRESSABLE
  if (message !== undefined) throw refuse(`the ${one}`, [makeIssue('NAME', '/name', message)])
}
