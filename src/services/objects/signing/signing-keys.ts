/** Derives the signing keys, one per bucket and set of rights, from a secret of the host (OBJECT-7). */
import { createHmac } from 'node:crypto'
import type { BucketRight } from '../contract.ts'

export interface SigningKey {
  /** id used in credentials: `<tenant>.<alias>_<rights>` */
  readonly id: string
  readonly secret: string
}

export interface KeyScope {
  readonly tenant: string
  readonly bucket: string
  readonly rights: readonly BucketRight[]
}

const RIGHTS = ['read', 'write', 'delete'] as const satisfies readonly BucketRight[]
const ID = /^(.{1,64})\.([a-z-]{1,32})_((?:read)?(?:write)?(?:delete)?)$/

export class SigningKeys {
  readonly #master: Uint8Array

  /** `master`: at least 32 bytes. */
  constructor(master: Uint8Array) {
    this.#master = master
  }

  of({ tenant, bucket, rights }: KeyScope): SigningKey {
    const id = `${tenant}.${bucket}_${RIGHTS.filter((right) => rights.includes(right)).join('')}`
    return { id, secret: this.#secretOf(id) }
  }

  read(id: string): (KeyScope & { readonly secret: string }) | undefined {
    const [, tenant = '', bucket = '', rights = ''] = ID.exec(id) ?? []
    if (rights === '') return undefined
    return { tenant, bucket, rights: RIGHTS.filter((right) => rights.includes(right)), secret: this.#secretOf(id) }
  }

  #secretOf(id: string): string {
    return createHmac('sha256', this.#master).update(`objects ${id}`).digest('base64url')
  }
}
