/** A version of a function as it is stored. */
import { AppError, type Caller } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { FunctionType } from './function-type.ts'
import type { Manifest } from './manifest-schema.ts'

export type FunctionStatus =
  'registered' | 'pending' | 'deployed' | 'running' | 'unhealthy' | 'failed' | 'undeploying' | 'undeployed'

/** What tells a version from all others of its tenant. */
export type FunctionId = Pick<FunctionRecord, 'type' | 'name' | 'version'>

/** Something that somebody asked of a version. */
export interface FunctionUpdate {
  readonly operation:
    | 'create'
    | 'metadata-update'
    | 'assets-update'
    | 'rebuild'
    | 'verify'
    | 'publish'
    | 'deprecate'
    | 'undeploy'
    | 'protect'
    | 'unprotect'
  /** epoch ms */
  readonly at: number
  readonly by: string
  readonly comment?: string
  /** parent first */
  readonly jobs?: readonly string[]
}

export interface AssetRecord {
  readonly path: string
  /** bytes */
  readonly size: number
  /** SHA-256 in hex: its blob is called so */
  readonly sha256: string
}

export interface FunctionRecord {
  readonly type: FunctionType
  readonly name: string
  readonly version: string
  readonly status: FunctionStatus
  readonly draft: boolean
  readonly deprecated: boolean
  /** without its tags, which stand beside it */
  readonly manifest: Omit<Manifest, 'tags'>
  /** names */
  readonly tags: readonly string[]
  readonly runtimeVersion: string
  /** by path */
  readonly assets: readonly AssetRecord[]
  /** of the assets: 64 hex digits */
  readonly revision: string
  readonly createdBy: string
  /** who may change a draft and read what is protected; default: who made it */
  readonly owner?: string
  /** of a webscript that may be called with one */
  readonly secret?: string
  /** epoch ms, as all times here */
  readonly createdAt: number
  readonly updatedBy: string
  readonly updatedAt: number
  /** newest first */
  readonly updates: readonly FunctionUpdate[]
  /** what the last build made, and the packages that it installed: `name==version`, with a digest where there is one */
  readonly build?: { readonly digest: string; readonly revision: string; readonly lock?: readonly string[] }
  /** the revision of the assets that have answered well once */
  readonly verified?: string
  /** how often it failed since it last answered, and when it did last */
  readonly failures?: { readonly count: number; readonly at: number } | undefined
  /** in place of what the manifest says about its deployment */
  readonly overrides?: Manifest['deploy'] | undefined
  readonly failure?: { readonly reason: string; readonly log: readonly string[] }
}

export const FUNCTIONS: CollectionSpec<FunctionRecord> = {
  name: 'functions',
  version: 2,
  fields: {
    type: { type: 'text', of: ({ type }) => type },
    name: { type: 'text', of: ({ name }) => name },
    status: { type: 'text', of: ({ status }) => status },
  },
}

const MAX_UPDATES = 50

export function recordId({ type, name, version }: FunctionId): string {
  return `${type}/${name}@${version}`
}

export function ownerOf({ owner, createdBy }: FunctionRecord): string {
  return owner ?? createdBy
}

/** Its owner alone sees what a protected version is made of. */
export function refuseProtected(record: FunctionRecord, who: Caller): void {
  const { manifest, name, version } = record
  if (manifest.protected === true && ownerOf(record) !== who.user)
    throw new AppError('FORBIDDEN', `'${name}@${version}' is protected: ${ownerOf(record)} alone reads its assets`)
}

/** It has answered with the assets that it has, and is not being taken away. */
export function isRunning({
  verified,
  revision,
  status,
}: Pick<FunctionRecord, 'verified' | 'revision' | 'status'>): boolean {
  return verified === revision && !['undeploying', 'undeployed', 'registered'].includes(status)
}

/** With one more update or several, the newest first. */
export function updated(
  record: FunctionRecord,
  update: FunctionUpdate | readonly FunctionUpdate[],
  change: Partial<FunctionRecord> = {},
): FunctionRecord {
  const [latest, ...others] = 'operation' in update ? [update] : update
  return {
    ...record,
    ...change,
    ...(latest && { updatedBy: latest.by, updatedAt: latest.at }),
    updates: [...(latest ? [latest] : []), ...others, ...record.updates].slice(0, MAX_UPDATES),
  }
}

/** The packages that an earlier build of the same assets installed. */
export function lockOf({ build, revision }: Pick<FunctionRecord, 'build' | 'revision'>): readonly string[] | undefined {
  return build?.revision === revision ? build.lock : undefined
}
