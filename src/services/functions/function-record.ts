/** Defines how versions of functions are stored. */
import { AppError, type Caller, type Rights } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { FunctionType } from './function-type.ts'
import type { Manifest } from './manifest-schema.ts'

export type FunctionStatus =
  'registered' | 'pending' | 'deployed' | 'running' | 'unhealthy' | 'failed' | 'undeploying' | 'undeployed'

export type FunctionId = Pick<FunctionRecord, 'type' | 'name' | 'version'>

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
  /** ids of jobs, parent first */
  readonly jobs?: readonly string[]
}

export interface AssetRecord {
  readonly path: string
  readonly size: number
  /** digest in hex, which is also the name of the blob */
  readonly sha256: string
}

export interface FunctionRecord {
  readonly type: FunctionType
  readonly name: string
  readonly version: string
  readonly status: FunctionStatus
  readonly draft: boolean
  readonly deprecated: boolean
  readonly manifest: Omit<Manifest, 'tags'>
  readonly tags: readonly string[]
  readonly runtimeVersion: string
  readonly assets: readonly AssetRecord[]
  /** digest of the assets: 64 hex digits */
  readonly revision: string
  readonly createdBy: string
  /** user who may change a draft and read a protected version; default: the creator */
  readonly owner?: string
  /** rights of the user whose code it is; absent: all rights, as for versions that are older than scopes */
  readonly rights?: Rights
  /** secret that authorizes calls of a webscript */
  readonly secret?: string
  /** epoch ms, like all times in the record */
  readonly createdAt: number
  readonly updatedBy: string
  readonly updatedAt: number
  readonly updates: readonly FunctionUpdate[]
  /** the last build, with its installed packages as `name==version`, with a digest if known */
  readonly build?: { readonly digest: string; readonly revision: string; readonly lock?: readonly string[] }
  /** the revision that was last verified */
  readonly verified?: string
  readonly failures?: { readonly count: number; readonly at: number } | undefined
  /** overrides the deployment settings in the manifest */
  readonly overrides?: Manifest['deploy'] | undefined
  readonly failure?: { readonly reason: string; readonly log: readonly string[] }
}

export const FUNCTIONS: CollectionSpec<FunctionRecord> = {
  name: 'functions',
  version: 2,
  audited: true,
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

export function refuseProtected(record: FunctionRecord, who: Caller): void {
  const { manifest, name, version } = record
  if (manifest.protected === true && ownerOf(record) !== who.user)
    throw new AppError('FORBIDDEN', `'${name}@${version}' is protected: only ${ownerOf(record)} can read its assets`)
}

export function isRunning({
  verified,
  revision,
  status,
}: Pick<FunctionRecord, 'verified' | 'revision' | 'status'>): boolean {
  return verified === revision && !['undeploying', 'undeployed', 'registered'].includes(status)
}

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

export function lockOf({ build, revision }: Pick<FunctionRecord, 'build' | 'revision'>): readonly string[] | undefined {
  return build?.revision === revision ? build.lock : undefined
}
