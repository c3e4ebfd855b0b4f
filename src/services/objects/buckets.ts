/** Defines the buckets that every tenant has. */
import { AppError } from '#kernel'
import type { BucketRight, ObjectBucket, ObjectStore } from './contract.ts'

interface BucketKind {
  readonly alias: string
  readonly rights: readonly BucketRight[]
  readonly isPublic: boolean
  readonly hasSubscriptions: boolean
}

const ALL_RIGHTS: readonly BucketRight[] = ['read', 'write', 'delete']

const BUCKETS: readonly BucketKind[] = [
  { alias: 'assets', rights: ALL_RIGHTS, isPublic: false, hasSubscriptions: true },
  { alias: 'etl-export', rights: ['read'], isPublic: false, hasSubscriptions: false },
  { alias: 'etl-import', rights: ALL_RIGHTS, isPublic: false, hasSubscriptions: true },
  { alias: 'public', rights: ALL_RIGHTS, isPublic: true, hasSubscriptions: true },
]

/** Prefix of bucket names, and therefore of signed addresses; other routes must not begin with this prefix. */
export const NAME_PREFIX = 'reflexarc-ws-'

export function bucketsOf(tenant: string, store: ObjectStore, isInside: boolean): readonly ObjectBucket[] {
  return BUCKETS.map((kind) => ({
    ...kind,
    name: `${NAME_PREFIX}${kind.alias}-${tenant}`,
    store,
    rights: isInside ? ALL_RIGHTS : kind.rights,
  }))
}

/** Splits a bucket name into alias and tenant; undefined for an unknown bucket. */
export function readBucketName(name: string): { readonly alias: string; readonly tenant: string } | undefined {
  for (const { alias } of BUCKETS) {
    const start = `${NAME_PREFIX}${alias}-`
    if (name.startsWith(start) && name.length > start.length) return { alias, tenant: name.slice(start.length) }
  }
  return undefined
}

export function requireRight({ alias, rights }: ObjectBucket, right: BucketRight): void {
  if (rights.includes(right)) return
  throw new AppError(
    'FORBIDDEN',
    `The bucket ${alias} does not permit ${right}, only ${rights.join(' and ') || 'nothing'}`,
  )
}
