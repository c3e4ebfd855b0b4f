/**
 * The keys that addresses are signed with: one for each bucket and what may be done in it. They are made of one secret of
 * the host, so that nothing is stored, and a key of one tenant says nothing about those of another (OBJECT-7).
 */
import { createHmac } from 'node:crypto'
import type { BucketRight } from '../contract.ts'

export interface SigningKey {
  /** as credentials name it: `<tenant>.<alias>_<rights>` */
  readonly id: string
  readonly secret: string
}

/** What a key is for. */
export interface KeyScope {
  readonly tenant: string
  /** alias of the bucket */
  readonly bucket: string
  readonly rights: readonly BucketRight[]
}

const RIGHTS = ['read', 'write', 'delete'] as const satisfies readonly BucketRight[]
const ID = /^(.{1,64})\.([a-z-]{1,32})_((?:read)?(?:write)?(?:delete)?)$/

export class SigningKeys {
  readonly #master: Uint8Array

  /** `master`: at least 32 secret bytes. */
  constructor(master: Uint8Array) {
    this.#master = master
  }

  of({ tenant, bucket, rights }: KeyScope): SigningKey {
    const id = `${tenant}.${bucket}_${RIGHTS.filter((right) => rights.includes(right)).join('')}`
    return { id, secret: this.#secretOf(id) }
  }

  /** What an id stands for, and the secret that it must have been used with; undefined for what is none. */
  read(id: string): (KeyScope & { readonly secret: string }) | undefined {
    const [, tenant = '', bucket = '', rights = ''] = ID.exec(id) ?? []
    if (rights === '') return undefined
    return { tenant, bucket, rights: RIGHTS.filter((right) => rights.includes(right)), secret: this.#secretOf(id) }
  }

  #secretOf(id: string): string {
    return createHmac('sha256', this.#master).update(`objects ${id}`).digest('base64url')
  }
}
