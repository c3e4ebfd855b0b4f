/**
 * Stores sessions of browsers, and one-time links that open them. Only hashes of their tokens are stored.
 *
 * SESSION-1 a session ends when it expires, is deleted, or the secret of the key or the token that opened it ends
 * SESSION-2 a link opens one session, within 15 minutes
 */
import { hash, randomBytes } from 'node:crypto'
import { AppError, type Rights } from '#kernel'
import type { Collection, CollectionSpec } from '#storage'
import type { ApiKeys } from './api-keys.ts'
import type { CheckedCaller, SessionCaller } from './caller.ts'
import type { KeyChanges } from './key-changes.ts'
import { REMEMBERED_MS } from './remembered-checks.ts'

export const SESSION_MS = 12 * 3_600_000
export const LINK_MS = 15 * 60_000
/** Maximum number of expired records removed when one is added */
const SWEPT = 100

interface Opened {
  readonly tenant: string
  readonly user: string
  readonly rights: Rights
  /** The secret of a key that opened it */
  readonly by?: { readonly key: string; readonly secretId: string }
  /** Epoch ms */
  readonly expires: number
  /** Time at which the credentials that opened it end, in epoch ms */
  readonly ends?: number
}

interface SessionRecord extends Opened {
  readonly createTime: string
}

const FIELDS = {
  tenant: { type: 'text', of: ({ tenant }: Opened) => tenant },
  expires: { type: 'number', of: ({ expires }: Opened) => expires },
} as const

export const SESSIONS: CollectionSpec<SessionRecord> = { name: 'sessions', version: 1, fields: FIELDS }
export const LINKS: CollectionSpec<Opened> = { name: 'session_links', version: 1, fields: FIELDS }

/** Who a session is for. */
export type SessionOwner = Pick<CheckedCaller, 'tenant' | 'user' | 'rights' | 'secretId' | 'ends'>

export interface NewSession {
  readonly token: string
  readonly caller: SessionCaller
}

export interface SessionEntry {
  readonly id: string
  readonly user: string
  readonly scopes: Rights['scopes']
  readonly createTime: string
  readonly expires: string
}

export interface SessionsDependencies {
  readonly sessions: Collection<SessionRecord>
  readonly links: Collection<Opened>
  readonly keys: Pick<ApiKeys, 'again'>
  readonly changes: KeyChanges
  /** Returns epoch ms */
  readonly now: () => number
}

export class Sessions {
  readonly #dependencies: SessionsDependencies

  constructor(dependencies: SessionsDependencies) {
    this.#dependencies = dependencies
  }

  open(owner: SessionOwner): Promise<NewSession> {
    return this.#open(openedFor(owner, this.#dependencies.now() + SESSION_MS))
  }

  /** Returns the code of a new link, and when it expires in epoch ms. */
  async link(owner: SessionOwner): Promise<{ readonly code: string; readonly expires: number }> {
    const { links, now } = this.#dependencies
    const code = newToken()
    const link = openedFor(owner, now() + LINK_MS)
    await this.#sweep(links)
    await links.put(idOf(code), link)
    return { code, expires: link.expires }
  }

  /** Throws `UNAUTHORIZED` for a code that is unknown, used or expired. */
  async openByLink(code: string): Promise<NewSession> {
    const { links, now } = this.#dependencies
    const id = idOf(code)
    const link = (await links.get(id))?.value
    // of two concurrent requests, only one deletes it
    const isFirst = link !== undefined && (await links.delete(id))
    const end = link && (await this.#endOf(link))
    if (!isFirst || end === undefined) {
      throw new AppError(
        'UNAUTHORIZED',
        'The link was used before or has expired; create another one with reflexarc login',
      )
    }
    return this.#open({ ...link, expires: Math.min(now() + SESSION_MS, link.ends ?? Infinity) })
  }

  /** Throws `UNAUTHORIZED` unless the token is that of a session. */
  async check(token: string): Promise<SessionCaller> {
    const caller = await this.#find(idOf(token), token)
    if (caller === undefined) throw new AppError('UNAUTHORIZED', 'The session has ended; log in again')
    return caller
  }

  /** Returns the sessions of a tenant, at most 1,000. */
  async list(tenant: string): Promise<readonly SessionEntry[]> {
    const { sessions, now } = this.#dependencies
    const found = await sessions.find({
      where: [
        { field: 'tenant', op: 'eq', value: tenant },
        { field: 'expires', op: 'gt', value: now() },
      ],
    })
    return found.map(({ id, value: { user, rights, createTime, expires } }) => ({
      id,
      user,
      scopes: rights.scopes,
      createTime,
      expires: new Date(expires).toISOString(),
    }))
  }

  /** Returns false for an unknown session of the tenant. */
  async remove(tenant: string, id: string): Promise<boolean> {
    const { sessions, changes } = this.#dependencies
    if ((await sessions.get(id))?.value.tenant !== tenant) return false
    const isRemoved = await sessions.delete(id)
    await changes.announce()
    return isRemoved
  }

  async #open(opened: Opened): Promise<NewSession> {
    const { sessions, now } = this.#dependencies
    await this.#sweep(sessions)
    const token = newToken()
    await sessions.put(idOf(token), { ...opened, createTime: new Date(now()).toISOString() })
    return { token, caller: await this.check(token) }
  }

  async #find(id: string, token: string): Promise<SessionCaller | undefined> {
    const { sessions, changes, now } = this.#dependencies
    const moment = changes.now()
    const record = (await sessions.get(id))?.value
    const ends = record && (await this.#endOf(record))
    if (record === undefined || ends === undefined) return undefined
    const { tenant, user, rights, by } = record
    return {
      tenant,
      user,
      rights,
      ends,
      until: Math.min(ends, now() + REMEMBERED_MS),
      isCurrent: () => changes.areNoneSince(moment),
      again: () => this.#find(id, token),
      session: { id, csrf: hash('sha256', `csrf ${token}`, 'base64url') },
      ...(by && { secretId: by.secretId }),
    }
  }

  /** Returns the time at which it ends; undefined: it has ended. */
  async #endOf({ expires, by }: Opened): Promise<number | undefined> {
    const { keys, now } = this.#dependencies
    const key = by && (await keys.again({ user: by.key, secretId: by.secretId }))
    const ends = Math.min(expires, key?.ends ?? Infinity)
    return (by !== undefined && key === undefined) || ends <= now() ? undefined : ends
  }

  async #sweep<Record extends Opened>(records: Collection<Record>): Promise<void> {
    const { now } = this.#dependencies
    for (const id of await records.ids({ where: [{ field: 'expires', op: 'lte', value: now() }], limit: SWEPT })) {
      await records.delete(id)
    }
  }
}

function openedFor({ tenant, user, rights, secretId, ends = Infinity }: SessionOwner, expires: number): Opened {
  return {
    tenant,
    user,
    rights,
    expires: Math.min(expires, ends),
    ...(ends < Infinity && { ends }),
    ...(secretId !== undefined && { by: { key: user, secretId } }),
  }
}

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

function idOf(token: string): string {
  return hash('sha256', token, 'hex')
}
